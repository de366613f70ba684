// Python bindings of compare/: sketches in, equal slots out.
#include "compare/compare.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/interrupts.hpp"

namespace nb = nanobind;

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
            {
                nb::gil_scoped_release release;
                pairhmm::SketchComparison(level, shape)
                    .equal_slots(set_of(queries), set_of(targets), threads, found.data(), signal_raised);
            }
            raise_pending();
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
            {
                nb::gil_scoped_release release;
                pairhmm::SketchComparison(level, shape)
                    .nearest(set_of(queries), set_of(targets), static_cast<int64_t>(nearest.shape(1)), threads,
                             nearest.data(), equal.data(), signal_raised);
            }
            raise_pending();
        },
        "The targets with the most equal slots with each query, into `nearest` and `equal`.");
}
