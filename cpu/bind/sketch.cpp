// Python bindings of sketch/sketcher.hpp and sketch/slots.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "sketch/sketcher.hpp"
#include "sketch/slots.hpp"

namespace nb = nanobind;
using namespace nb::literals;

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
