// Python bindings of packing/pair_tasks.hpp and packing/pair_tasks.hpp.
#include <limits>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "packing/pair_tasks.hpp"
#include "threads/pool.hpp"

namespace {

using pairhmm::PackedSequences;
using pairhmm::PairClasses;
using pairhmm::PairTasks;
using pairhmm::ThreadPool;
using IndexedSequences = std::tuple<Array<int64_t>, Array<int32_t>, int64_t>;

PackedSequences sequences_of(const IndexedSequences& given, const std::optional<Array<uint32_t>>& unknown,
                             int64_t pairs) {
    const auto& [offset, index, base] = given;
    checks::has(index, pairs, "index");
    checks::lie_below(index, checks::parts_of(offset, std::numeric_limits<int64_t>::max(), "offset"), "index");
    return {offset.data(), index.data(), base, unknown ? unknown->data() : nullptr};
}

}  // namespace

void bind_pair_tasks(nb::module_& module) {
    module.def(
        "pack_two_bits",
        [](ThreadPool& pool, Array<uint8_t> codes, Output<uint32_t> words, Output<uint32_t> unknown) {
            const auto count = static_cast<int64_t>(codes.shape(0));
            checks::require(static_cast<int64_t>(words.shape(0)) >= (count + 15) / 16, "words",
                            "a word for 16 letters");
            checks::require(static_cast<int64_t>(unknown.shape(0)) >= (count + 31) / 32, "unknown",
                            "a word for 32 letters");
            nb::gil_scoped_release release;
            return pairhmm::pack_two_bits(codes.data(), count, words.data(), unknown.data(), pool);
        },
        "pool"_a, "codes"_a, "words"_a, "unknown"_a,
        "Letter i to bits 2 * (i % 16) of word i / 16, N as 0, and bit i % 32 of word i / 32 of `unknown` set for N. "
        "Returns whether there is any N; without any, `unknown` is not written.");

    module.def(
        "pack_four_bits",
        [](ThreadPool& pool, Array<uint8_t> codes, Output<uint32_t> words) {
            const auto count = static_cast<int64_t>(codes.shape(0));
            checks::require(static_cast<int64_t>(words.shape(0)) >= (count + 7) / 8, "words", "a word for 8 letters");
            nb::gil_scoped_release release;
            pairhmm::pack_four_bits(codes.data(), count, words.data(), pool);
        },
        "pool"_a, "codes"_a, "words"_a, "Letter i to bits 4 * (i % 8) of word i / 8.");

    nb::class_<PairTasks>(module, "PairTasks", "Pairs of sequences in the order in which a device aligns them.")
        .def(
            "__init__",
            [](PairTasks* self, ThreadPool& pool, const IndexedSequences& queries, const IndexedSequences& targets,
               std::optional<Array<uint32_t>> unknown, std::vector<int64_t> rows, std::vector<int64_t> pairs_of_task,
               int rows_are, std::tuple<int64_t, int64_t, int64_t> fits) {
                checks::require(!rows.empty() && rows.size() == pairs_of_task.size(), "rows and pairs_of_task",
                                "one a class");
                checks::require(rows_are >= 0 && rows_are <= 2, "rows_are", "0, 1 or 2");
                const auto& [per_letter, per_row, most] = fits;
                const auto pairs = static_cast<int64_t>(std::get<1>(queries).shape(0));
                const PairClasses classes{std::move(rows),
                                          std::move(pairs_of_task),
                                          static_cast<PairClasses::Rows>(rows_are),
                                          per_letter,
                                          per_row,
                                          most};
                const PackedSequences query = sequences_of(queries, unknown, pairs);
                const PackedSequences target = sequences_of(targets, unknown, pairs);
                nb::gil_scoped_release release;
                new (self) PairTasks(pairs, query, target, classes, pool);
            },
            "pool"_a, "queries"_a, "targets"_a, "unknown"_a.none(), "rows"_a, "pairs_of_task"_a, "rows_are"_a, "fits"_a,
            "Sequences are (offsets, index of each pair, first letter of the packed ones). The arrays must stay.")
        .def_prop_ro("slots", &PairTasks::slots)
        .def_prop_ro("first_task", &PairTasks::first_task)
        .def_prop_ro("first_slot", &PairTasks::first_slot)
        .def_prop_ro("longest_rows", &PairTasks::longest_rows)
        .def_prop_ro("longest_columns", &PairTasks::longest_columns)
        .def(
            "left", [](const PairTasks& tasks) { return to_array(tasks.left()); }, "Pairs that are in no class.")
        .def(
            "write",
            [](const PairTasks& tasks, ThreadPool& pool, Output<uint32_t> pairs, Output<uint32_t> index) {
                checks::require(static_cast<int64_t>(index.shape(0)) >= tasks.slots(), "index", "one a slot");
                checks::require(static_cast<int64_t>(pairs.shape(0)) >= 4 * tasks.slots(), "pairs",
                                "four words a slot");
                nb::gil_scoped_release release;
                tasks.write(reinterpret_cast<pairhmm::DevicePair*>(pairs.data()), index.data(), pool);
            },
            "pool"_a, "pairs"_a, "index"_a);
}
