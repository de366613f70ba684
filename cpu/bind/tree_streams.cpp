// Python bindings of staging/tree_streams.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "bind/arrays.hpp"
#include "staging/tree_streams.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Bytes = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>;
using Words = nb::ndarray<nb::numpy, const uint32_t, nb::ndim<1>>;
using pairhmm::TreeStreams;

// A vector of a TreeStreams as bytes, without a copy; the array keeps its owner.
template <auto member>
Bytes bytes_of(nb::handle owner) {
    const auto& values = nb::cast<const TreeStreams&>(owner).*member;
    return Bytes(values.data(), {values.size() * sizeof(values[0])}, owner);
}

}  // namespace

void bind_tree_streams(nb::module_& module) {
    nb::class_<TreeStreams>(module, "TreeStreams", "The trees of the groups of a batch, as arrays for a device.")
        .def(
            "__init__",
            [](TreeStreams* self, Array<int64_t> group_haplotype, Array<int64_t> haplotype_offset,
               Array<uint8_t> letters, int64_t most_haplotypes, int threads, int64_t columns_of_sum) {
                const pairhmm::TreeBatch batch{static_cast<int64_t>(group_haplotype.shape(0)) - 1,
                                               group_haplotype.data(), haplotype_offset.data(), letters.data()};
                nb::gil_scoped_release release;
                new (self) TreeStreams(pairhmm::make_tree_streams(batch, most_haplotypes, columns_of_sum, threads));
            },
            "group_haplotype"_a, "haplotype_offset"_a, "letters"_a, "most_haplotypes"_a, "threads"_a,
            "columns_of_sum"_a = 0)
        .def_prop_ro("of_group", &bytes_of<&TreeStreams::of_group>)
        .def_prop_ro("trees", &bytes_of<&TreeStreams::trees>)
        .def_prop_ro("places", &bytes_of<&TreeStreams::places>)
        .def_prop_ro("events", &bytes_of<&TreeStreams::events>)
        .def_prop_ro("joins", &bytes_of<&TreeStreams::joins>)
        .def_prop_ro("streams", &bytes_of<&TreeStreams::streams>)
        .def_prop_ro("columns",
                     [](nb::handle owner) {
                         const auto& columns = nb::cast<const TreeStreams&>(owner).columns;
                         return Words(columns.data(), {columns.size()}, owner);
                     })
        .def_prop_ro(
            "sizes",
            [](const TreeStreams& self) {
                return std::make_tuple(self.sizes.open_branches, self.sizes.left_leaves, self.sizes.right_leaves,
                                       self.sizes.joins);
            },
            "The most open branches, left leaves, right leaves and joins of a pair of trees.");
}
