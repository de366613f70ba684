// Python bindings of threads/pool.hpp, packing/packing.hpp, packing/copier.hpp and packing/device_scores.hpp. The
// caller keeps the arrays of a copy until it has waited for it.
#include <deque>
#include <limits>
#include <stdexcept>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "packing/copier.hpp"
#include "packing/device_scores.hpp"
#include "packing/packing.hpp"
#include "threads/pool.hpp"

namespace {

using pairhmm::Packer;
using pairhmm::ThreadPool;
using TierNumbers = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>;
using Sizes = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;

// Arrays of equal length with their weights, the offset, and the bytes of a number (packing/digits.hpp).
using DigitArrays = std::tuple<std::vector<Array<uint8_t>>, std::vector<uint16_t>, uint16_t, int64_t>;
using PartArrays = std::vector<std::variant<Array<uint8_t>, Array<int64_t>, DigitArrays>>;

// (places of the arrays in the buffer, sizes, columns)
using Trees = TupleOf<TupleOf<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>, Sizes, Owned<uint32_t>>;
using SendBytes = nb::typed<nb::callable, void(int64_t, int64_t)>;
using TellTiles = nb::typed<nb::callable, nb::object(ListOf<TierNumbers>, std::optional<Trees>)>;

class Parts {
public:
    // Parts that lie in a buffer of so many bytes.
    Parts(const std::vector<int64_t>& at, const PartArrays& arrays, const Output<uint8_t>& buffer) {
        checks::require(at.size() == arrays.size(), "at", "a place for each array");
        for (size_t i = 0; i < arrays.size(); ++i) {
            if (const auto* digits = std::get_if<DigitArrays>(&arrays[i])) {
                add_digits(at[i], *digits);
            } else if (const auto* offsets = std::get_if<Array<int64_t>>(&arrays[i])) {
                parts_.push_back({at[i], offsets->data(), checks::size_of(*offsets), true});
            } else {
                const auto& bytes = std::get<Array<uint8_t>>(arrays[i]);
                parts_.push_back({at[i], bytes.data(), checks::size_of(bytes), false});
            }
        }
        for (const pairhmm::Part& part : parts_)
            checks::require(part.at >= 0 && part.at + part.size * part.bytes_each() <= checks::size_of(buffer), "at",
                            "an array that ends behind the buffer");
    }
    const std::vector<pairhmm::Part>& all() const { return parts_; }

private:
    void add_digits(int64_t at, const DigitArrays& given) {
        const auto& [arrays, weights, offset, bytes] = given;
        if (arrays.size() < pairhmm::kLeastDigits || arrays.size() > pairhmm::kMostDigits ||
            arrays.size() != weights.size()) {
            throw nb::value_error("digits: two to five arrays, with a weight each");
        }
        for (const auto& values : arrays) checks::has(values, checks::size_of(arrays[0]), "digits");
        pairhmm::Digits& digits = digits_.emplace_back();
        for (const auto& values : arrays) digits.from.push_back(values.data());
        digits.weight = weights, digits.offset = offset, digits.bytes = bytes;
        parts_.push_back({at, nullptr, static_cast<int64_t>(arrays[0].shape(0)), false, &digits});
    }

    std::vector<pairhmm::Part> parts_;
    std::deque<pairhmm::Digits> digits_;  // which stay where they are
};

pairhmm::Send calling(const nb::callable& send) {
    return [&send](int64_t first, int64_t end) {
        const nb::gil_scoped_acquire acquire;
        send(first, end);
    };
}

pairhmm::Tell telling(const nb::callable& tell) {
    return [&tell](const pairhmm::Packed& packed) {
        const nb::gil_scoped_acquire acquire;
        std::vector<TierNumbers> tiers;
        for (const auto& tier : *packed.tiers) {
            tiers.emplace_back(tier.shape, tier.item, tier.items, tier.haplotypes_each, tier.last, tier.pairs,
                               tier.cells, tier.longest);
        }
        if (!packed.trees) {
            tell(tiers, nb::none());
            return;
        }
        const auto& [open_branches, left_leaves, right_leaves, joins, nodes] = packed.trees->sizes();
        const auto places = std::apply([](auto... at) { return std::make_tuple(at...); }, packed.tree_at);
        tell(tiers, std::make_tuple(places, Sizes{open_branches, left_leaves, right_leaves, joins, nodes},
                                    nb::cast(to_array(std::vector<uint32_t>(packed.trees->columns())))));
    };
}

}  // namespace

void bind_packing(nb::module_& module) {
    nb::class_<ThreadPool>(module, "ThreadPool", "Threads that stay, for work that comes in short pieces.")
        .def(nb::init<int>(), "threads"_a)
        .def("rouse", &ThreadPool::rouse, nb::call_guard<nb::gil_scoped_release>(),
             "Wake the threads, which then look out for work for a short time.");

    module.def(
        "copy_scores",
        [](ThreadPool& pool, Array<double> log10, Array<uint8_t> precision, uint8_t unscored, Output<double> to_log10,
           Output<uint8_t> to_precision) {
            const int64_t pairs = checks::size_of(log10);
            checks::has(precision, pairs, "precision");
            checks::has(to_log10, pairs, "to_log10");
            checks::has(to_precision, pairs, "to_precision");
            nb::gil_scoped_release release;
            return pairhmm::copy_scores(log10.data(), precision.data(), pairs, unscored, pool, to_log10.data(),
                                        to_precision.data());
        },
        "pool"_a, "log10"_a, "precision"_a, "unscored"_a, "to_log10"_a, "to_precision"_a,
        "Copy scores and their precision. Returns whether any of them is unscored, by the highest code of a precision.");

    module.def(
        "touch",
        [](ThreadPool& pool, Output<uint8_t> memory) {
            nb::gil_scoped_release release;
            pairhmm::touch(memory.data(), static_cast<int64_t>(memory.shape(0)), pool);
        },
        "pool"_a, "memory"_a, "Make the pages of new memory. Its bytes stay as they are, and others may write to it.");

    module.def(
        "write_all",
        [](ThreadPool& pool, Output<uint8_t> buffer, const std::vector<int64_t>& at, const PartArrays& arrays,
           const SendBytes& send) {
            const Parts parts(at, arrays, buffer);
            nb::gil_scoped_release release;
            pairhmm::write_all(parts.all(), buffer.data(), pool, calling(send));
        },
        "pool"_a, "buffer"_a, "at"_a, "arrays"_a, "send"_a,
        "Copy arrays of bytes to their places in one buffer, offsets (int64), which become uint32 there, and digits. "
        "Call send(first, end) for each run of bytes that is written.");

    nb::class_<Packer>(module, "Packer", "Packs batches for a device, one after the other, in memory that stays.")
        .def(nb::init<ThreadPool&>(), "pool"_a, nb::keep_alive<1, 2>())
        .def(
            "pack",
            [](Packer& packer, Output<uint8_t> buffer, Output<uint8_t> behind, const std::vector<int64_t>& at,
               const PartArrays& arrays, const SendBytes& send, Array<int64_t> group_read,
               Array<int64_t> group_haplotype, Array<int64_t> read_offset, Array<int64_t> haplotype_offset,
               Array<uint8_t> letters, Array<uint8_t> skip_read, Array<uint8_t> shape_of_length,
               Array<int64_t> reads_of_shape, Array<int64_t> rows_of_shape, Array<uint8_t> family_of_shape,
               int64_t tier_cells, std::tuple<int64_t, int64_t, int64_t> item_sizes, Array<int64_t> haplotypes_each,
               std::tuple<int64_t, int64_t, int64_t> places, int64_t most_haplotypes, int64_t columns_of_sum,
               int64_t lead, int64_t tail, const TellTiles& tell) {
                const int64_t reads = checks::size_of(read_offset) - 1;
                const int64_t haplotypes =
                    checks::parts_of(haplotype_offset, checks::size_of(letters), "haplotype_offset");
                const int64_t groups = checks::parts_of(group_read, reads, "group_read");
                checks::require(group_read.data()[0] == 0, "group_read", "begins behind the first read");
                checks::has_parts(group_haplotype, groups, haplotypes, "group_haplotype");
                checks::parts_of(read_offset, std::numeric_limits<uint32_t>::max(), "read_offset");
                checks::has(skip_read, reads, "skip_read");
                const int64_t known = checks::size_of(reads_of_shape);
                checks::has(shape_of_length, 1, "shape_of_length");
                checks::lie_below(shape_of_length, known, "shape_of_length");
                checks::lie_in(reads_of_shape.data(), known, 1, std::numeric_limits<int64_t>::max(), "reads_of_shape");
                checks::has(rows_of_shape, known, "rows_of_shape");
                checks::lie_in(rows_of_shape.data(), known, 1, std::numeric_limits<int64_t>::max(), "rows_of_shape");
                checks::has(family_of_shape, known, "family_of_shape");
                checks::has(haplotypes_each, known, "haplotypes_each");
                const pairhmm::TileBatch batch{groups,
                                               group_read.data(),
                                               group_haplotype.data(),
                                               read_offset.data(),
                                               haplotype_offset.data(),
                                               skip_read.data(),
                                               nullptr};
                const pairhmm::Shapes shapes{known,
                                             static_cast<int64_t>(shape_of_length.shape(0)) - 1,
                                             shape_of_length.data(),
                                             reads_of_shape.data(),
                                             rows_of_shape.data(),
                                             family_of_shape.data(),
                                             tier_cells,
                                             haplotypes_each.data()};
                const auto [items, shortest, longest] = item_sizes;
                checks::require(items > 0 && shortest > 0 && shortest <= longest, "item_sizes", "of nothing");
                for (int64_t i = 0; i < haplotypes; ++i)
                    checks::require(haplotype_offset.data()[i] < haplotype_offset.data()[i + 1], "haplotype_offset",
                                    "a haplotype without letters");
                const auto [read_group_at, order_at, items_at] = places;
                const Parts parts(at, arrays, buffer);
                nb::gil_scoped_release release;
                packer.pack(parts.all(), batch, letters.data(), shapes, {items, shortest, longest},
                            {most_haplotypes, columns_of_sum, lead, tail}, {read_group_at, order_at, items_at},
                            buffer.data(), behind.data(), calling(send), telling(tell));
            },
            "buffer"_a, "behind"_a, "at"_a, "arrays"_a, "send"_a, "group_read"_a, "group_haplotype"_a, "read_offset"_a,
            "haplotype_offset"_a, "letters"_a, "skip_read"_a, "shape_of_length"_a, "reads_of_shape"_a,
            "rows_of_shape"_a, "family_of_shape"_a, "tier_cells"_a, "item_sizes"_a, "haplotypes_each"_a, "places"_a,
            "most_haplotypes"_a, "columns_of_sum"_a, "lead"_a, "tail"_a, "tell"_a,
            "Write a batch's arrays, tiles and trees to a buffer, and send them. Before the last bytes are sent, tell is "
            "called with tiers (shape, item, items, haplotypes_each, last, pairs, cells, longest), and of trees with the "
            "places of their arrays, their sizes, and the columns of each group, or None.");
}

void bind_copier(nb::module_& module) {
    nb::class_<pairhmm::Copier>(module, "Copier", "Copies arrays on threads of its own.")
        .def(nb::init<int>(), "threads"_a)
        .def(
            "begin",
            [](pairhmm::Copier& copier, Array<uint8_t> values, Output<uint8_t> target, bool packed) {
                const size_t count = values.shape(0), needed = packed ? (count + 7) / 8 * 4 : count;
                if (target.shape(0) < needed) throw std::invalid_argument("the target is too small");
                return copier.begin(values.data(), target.data(), static_cast<int64_t>(count), packed);
            },
            "values"_a, "target"_a, "packed"_a,
            "Begin to copy bytes, or to pack letters eight to a word of 32 bits, N behind the last; a number to wait for.")
        .def("wait", &pairhmm::Copier::wait, "number"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Until all copies up to that number are made.");
}

void bind_device_scores(nb::module_& module) {
    module.def(
        "device_scores",
        [](Array<int64_t> group_read, Array<int64_t> group_haplotype, Array<int64_t> group_pair, Array<uint32_t> sums,
           Array<double> kept_log10, Array<uint32_t> kept_added, int coarse_bits, double fine_unit,
           std::tuple<int32_t, uint8_t, uint8_t, uint8_t> codes, pairhmm::ThreadPool& pool, Output<double> log10,
           Output<uint8_t> precision) {
            const checks::Groups groups(group_read, group_haplotype, group_pair);
            checks::has(sums, 2 * groups.pairs, "sums");
            checks::require(kept_log10.size() == 0 || checks::size_of(kept_log10) >= groups.reads, "kept_log10",
                            "one a read, or none");
            checks::has(kept_added, 2 * groups.reads, "kept_added");
            checks::has(log10, groups.pairs, "log10");
            checks::has(precision, groups.pairs, "precision");
            nb::gil_scoped_release release;
            const auto [started_at, fast, scaled, unscored] = codes;
            return pairhmm::device_scores(
                {groups.count, group_read.data(), group_haplotype.data(), group_pair.data(), sums.data()},
                {kept_log10.size() ? kept_log10.data() : nullptr, kept_added.data(), coarse_bits, fine_unit},
                {started_at, fast, scaled, unscored}, pool, log10.data(), precision.data());
        },
        "group_read"_a, "group_haplotype"_a, "group_pair"_a, "sums"_a, "kept_log10"_a, "kept_added"_a, "coarse_bits"_a,
        "fine_unit"_a, "codes"_a, "pool"_a, "log10"_a, "precision"_a,
        "log10 and precision of each pair, from a float32 (its bits, 0 for none) and its exponent of 2, and for each read "
        "from what that is relative to: log10 (nothing where it is 0), and coarse and fine units; codes (started_at, fast, "
        "scaled, unscored). "
        "Returns whether no pair is unscored.");
}
