// Python bindings of map/: sketches, their comparison, and positions of samples.
#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/levels.hpp"
#include "map/compare.hpp"
#include "map/place.hpp"
#include "map/sketcher.hpp"

namespace {

// [sketches][bits][words]
using Planes = nb::ndarray<const uint64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

pairhmm::SketchSet set_of(const Planes& planes) { return {planes.data(), static_cast<int64_t>(planes.shape(0))}; }

// The shape of both sets.
pairhmm::SketchShape shape_of(const Planes& planes, const Planes& targets) {
    checks::require(planes.shape(1) == targets.shape(1) && planes.shape(2) == targets.shape(2), "targets",
                    "another shape of sketches than that of the queries");
    return {static_cast<int64_t>(planes.shape(1)), static_cast<int64_t>(planes.shape(2))};
}

}  // namespace

void bind_compare(nb::module_& module) {
    module.def(
        "compare_levels",
        []() -> ListOf<TupleOf<nb::str, bool>> {
            std::vector<std::pair<std::string, bool>> found;
            for (const auto& known : pairhmm::compare_levels()) found.emplace_back(known.name, known.runs);
            nb::list levels;
            for (const auto& [name, runs] : found) levels.append(nb::make_tuple(name, runs));
            return levels;
        },
        "SIMD levels that compare sketches, slowest first, and whether this machine runs each.");
    module.def(
        "equal_slots",
        [](const std::string& level, Planes queries, Planes targets, int threads, Table<uint16_t> found) {
            const pairhmm::SketchShape shape = shape_of(queries, targets);
            checks::require(found.shape(0) >= queries.shape(0) && found.shape(1) == targets.shape(0), "found",
                            "a row a query and a column a target are needed");
            interruptible([&] {
                pairhmm::SketchComparison(level, shape)
                    .equal_slots(set_of(queries), set_of(targets), threads, found.data(), signal_raised);
            });
        },
        "Equal slots of each query with each target, into `found`.");
    module.def(
        "nearest_sketches",
        [](const std::string& level, Planes queries, Planes targets, int threads, Table<int32_t> nearest,
           Table<uint16_t> equal) {
            const pairhmm::SketchShape shape = shape_of(queries, targets);
            checks::require(nearest.shape(0) >= queries.shape(0) && equal.shape(0) >= queries.shape(0) &&
                                equal.shape(1) == nearest.shape(1),
                            "nearest, equal", "a row a query is needed in both");
            interruptible([&] {
                pairhmm::SketchComparison(level, shape)
                    .nearest(set_of(queries), set_of(targets), static_cast<int64_t>(nearest.shape(1)), threads,
                             nearest.data(), equal.data(), signal_raised);
            });
        },
        "The targets with the most equal slots with each query, into `nearest` and `equal`.");
}

namespace {

template <class Value>
pairhmm::SampleRows<Value> rows_of(const Array<Value>& values, const Array<int64_t>& offsets) {
    return {values.data(), offsets.data(), checks::parts_of(offsets, checks::size_of(values), "offsets")};
}

pairhmm::SlotHashes hashes_of(const Array<uint32_t>& factors, const Array<uint32_t>& summands) {
    checks::has(factors, pairhmm::kSignatureSlots, "factors");
    checks::has(summands, pairhmm::kSignatureSlots, "summands");
    return pairhmm::slot_hashes(factors.data(), summands.data());
}

}  // namespace

void bind_place(nb::module_& module) {
    module.def(
        "sign_samples",
        [](const std::string& level, Array<uint32_t> tokens, Array<int64_t> offsets, Array<uint32_t> factors,
           Array<uint32_t> summands, int threads, Output<uint32_t> signatures) {
            const auto rows = rows_of(tokens, offsets);
            const pairhmm::SlotHashes hashes = hashes_of(factors, summands);
            checks::has(signatures, rows.samples * pairhmm::kSignatureSlots, "signatures");
            interruptible([&] {
                pairhmm::sign_samples(LEVEL_NAMED(place, level), rows, hashes, threads, signatures.data(),
                                      signal_raised);
            });
        },
        "The published signature of each sample's tokens, into `signatures`, 128 a sample.");
    module.def(
        "project_samples",
        [](const std::string& level, Array<uint32_t> tokens, Array<int64_t> offsets, Array<uint32_t> factors,
           Array<uint32_t> summands, Array<float> matrix, int threads, Output<float> positions) {
            const auto rows = rows_of(tokens, offsets);
            const pairhmm::SlotHashes hashes = hashes_of(factors, summands);
            checks::has(matrix, 2 * pairhmm::kSignatureSlots, "matrix");
            checks::has(positions, 2 * rows.samples, "positions");
            interruptible([&] {
                pairhmm::project_samples(LEVEL_NAMED(place, level), rows, hashes, matrix.data(), threads,
                                         positions.data(), signal_raised);
            });
        },
        "The projected z-scores of each sample's signature, into `positions`, 2 a sample.");
    module.def(
        "blend_positions",
        [](Array<float> start, Array<int32_t> indices, Array<int64_t> offsets, double alpha, int passes, int threads,
           Output<float> positions) {
            const auto rows = rows_of(indices, offsets);
            checks::lie_below(indices, rows.samples, "indices");
            checks::has(start, 2 * rows.samples, "start");
            checks::has(positions, 2 * rows.samples, "positions");
            interruptible([&] {
                pairhmm::blend_positions(start.data(), rows, alpha, passes, threads, positions.data(), signal_raised);
            });
        },
        "Jacobi passes of blending with neighbours, into `positions`, 2 a sample.");
}

namespace {

// What all three take: records `first` to `end` - 1 of letters laid end to end.
template <class Kmers>
void bind_taking(nb::class_<Kmers>& kind) {
    kind.def(
            "add",
            [](Kmers& kmers, Array<uint8_t> letters, Array<int64_t> offset, int64_t first, int64_t end) {
                const int64_t records = checks::parts_of(offset, checks::size_of(letters), "offset");
                checks::require(0 <= first && first <= end && end <= records, "first, end", "records beyond the last");
                nb::gil_scoped_release release;
                for (int64_t record = first; record < end; ++record) {
                    const int64_t begin = offset.data()[record];
                    kmers.add(letters.data() + begin, offset.data()[record + 1] - begin);
                }
            },
            "letters"_a, "offset"_a, "first"_a, "end"_a, "Take the k-mers of records [first, end), as sets of bases.")
        .def("clear", &Kmers::clear, "Forget all k-mers.")
        .def_prop_ro("seen", &Kmers::seen, "K-mers that were seen, each as often as it was.");
}

template <class Kmers>
void bind_sketching(nb::class_<Kmers>& kind) {
    kind.def(
            "sketch",
            [](const Kmers& kmers, int64_t slots, int bits) -> TupleOf<Owned<uint64_t>, double> {
                checks::require(slots > 0 && slots <= pairhmm::kFineSlots && (slots & (slots - 1)) == 0, "slots",
                                "a power of 2, up to 16,384");
                checks::require(bits > 0 && bits <= 64, "bits", "from 1 to 64");
                std::vector<uint64_t> planes;
                double count = 0;
                {
                    nb::gil_scoped_release release;
                    const pairhmm::Minima minima = kmers.minima();
                    count = minima.kmers;
                    if (count > 0) planes = pairhmm::bit_planes(pairhmm::dense_slots(minima.values, slots), bits);
                }
                return nb::make_tuple(to_array(std::move(planes)), count);
            },
            "slots"_a, "bits"_a,
            "The bit planes, end to end, and the number of distinct k-mers. No planes without k-mers.")
        .def(
            "minima", [](const Kmers& kmers) { return to_array(kmers.minima().values); },
            "The least value of each fine slot; all bits are set for an empty one.");
}

}  // namespace

void bind_sketch(nb::module_& module) {
    nb::class_<pairhmm::AllKmers> all(module, "AllKmers", "Least hashes of all k-mers.");
    all.def(nb::init<int>(), "k"_a);
    bind_taking(all);
    bind_sketching(all);

    nb::class_<pairhmm::FrequentKmers> frequent(module, "FrequentKmers", "Least hashes of k-mers that are frequent.");
    frequent.def(nb::init<int, int, int64_t>(), "k"_a, "least"_a, "most"_a);
    bind_taking(frequent);
    bind_sketching(frequent);

    nb::class_<pairhmm::FrequentTokens> tokens(module, "FrequentTokens", "Tokens that decide the published signature.");
    tokens.def(nb::init<int, int, int64_t, uint64_t, uint64_t>(), "k"_a, "least"_a, "most"_a, "factor"_a, "shift"_a);
    bind_taking(tokens);
    tokens.def(
        "tokens", [](const pairhmm::FrequentTokens& kmers) { return to_array(kmers.tokens()); },
        "They are sorted and distinct.");
    tokens.def_prop_ro("kmers", &pairhmm::FrequentTokens::kmers, "Number of distinct k-mers.");
}
