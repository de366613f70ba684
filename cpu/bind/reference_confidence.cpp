// Python bindings of calling/reference_confidence.hpp: arrays in, tuples out.
#include "calling/reference_confidence.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_reference_confidence(nb::module_& module) {
    using pairhmm::ReferenceConfidence;

    nb::class_<ReferenceConfidence>(module, "ReferenceConfidence", "How sure one sample's reads are of the reference.")
        .def(nb::init<int>(), "min_base_quality"_a)
        .def(
            "add",
            [](ReferenceConfidence& confidence, const pairhmm::Reads& reads, Array<int64_t> read_end,
               Array<uint32_t> fragment, Array<int64_t> window_start, Array<int64_t> window_offset,
               Array<uint8_t> letters) {
                checks::has(read_end, reads.count, "read_end");
                checks::has(fragment, reads.count, "fragment");
                checks::has_parts(window_offset, checks::size_of(window_start), checks::size_of(letters),
                                  "window_offset");
                checks::require(reads.count == 0 || window_start.size() > 0, "window_start", "no window for the reads");
                nb::gil_scoped_release release;
                pairhmm::ReferenceWindows reference;
                for (size_t i = 0; i < window_start.shape(0); ++i)
                    reference.windows.push_back({window_start.data()[i],
                                                 window_offset.data()[i + 1] - window_offset.data()[i],
                                                 letters.data() + window_offset.data()[i]});
                confidence.add(reads, read_end.data(), fragment.data(), reference);
            },
            "reads"_a, "read_end"_a, "fragment"_a, "window_start"_a, "window_offset"_a, "letters"_a,
            "Count reads of one contig, in order of start. The windows are those that the reads cover, and longer.")
        .def(
            "take",
            [](ReferenceConfidence& confidence, int64_t begin, int64_t end, const std::vector<int>& limits,
               bool haploid) -> ListOf<TupleOf<int64_t, int64_t, int, int, int64_t, int, int, int>> {
                nb::list blocks;
                for (const pairhmm::ReferenceBlock& one : confidence.take(begin, end, limits, haploid))
                    blocks.append(nb::make_tuple(one.start, one.end, one.band, one.quality, one.depth, one.least_depth,
                                                 one.one, one.both));
                return blocks;
            },
            "begin"_a, "end"_a, "limits"_a, "haploid"_a,
            "The blocks of [begin, end): (start, end, band, lowest GQ, sum of depths, lowest depth, lowest Phred "
            "likelihoods of one and of two copies that are not the reference).");
}
