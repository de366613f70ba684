// Python bindings of packing/tree_streams.hpp.
#include "packing/tree_streams.hpp"
#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "calling/letters.hpp"
#include "threads/pool.hpp"

namespace {

using Bytes = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>;
using Words = nb::ndarray<nb::numpy, const uint32_t, nb::ndim<1>>;
using pairhmm::TreeArray;
using pairhmm::TreeStreams;

// TreeStreams with its arrays.
struct MadeTrees {
    TreeStreams trees;
    std::array<std::vector<uint8_t>, pairhmm::kTreeArrays> arrays;

    MadeTrees(const pairhmm::TreeBatch& batch, const pairhmm::TreeLimits& limits, pairhmm::ThreadPool& pool) {
        const int64_t shares = trees.begin(batch, limits, pool.size());
        pool.run(shares, 1, pool.size(), [&](int64_t share, int64_t) { trees.make_share(share); });
        trees.join_shares();
        std::array<uint8_t*, pairhmm::kTreeArrays> to;
        for (int i = 0; i < pairhmm::kTreeArrays; ++i) {
            arrays[i].resize(trees.bytes()[i]);
            to[i] = arrays[i].data();
        }
        pool.run(shares, 1, pool.size(), [&](int64_t share, int64_t) { trees.write_share(share, to); });
    }
};

// An array, without a copy; it keeps its owner.
template <TreeArray array>
Bytes bytes_of(nb::handle owner) {
    const auto& values = nb::cast<const MadeTrees&>(owner).arrays[array];
    return Bytes(values.data(), {values.size()}, owner);
}

}  // namespace

void bind_tree_streams(nb::module_& module) {
    nb::class_<MadeTrees>(module, "TreeStreams", "The trees of the groups of a batch, as arrays for a device.")
        .def(
            "__init__",
            [](MadeTrees* self, Array<int64_t> group_haplotype, Array<int64_t> haplotype_offset, Array<uint8_t> letters,
               int64_t most_haplotypes, pairhmm::ThreadPool& pool, int64_t columns_of_sum, int64_t lead, int64_t tail) {
                const int64_t haplotypes = checks::size_of(haplotype_offset) - 1;
                const int64_t groups = checks::parts_of(group_haplotype, haplotypes, "group_haplotype");
                checks::parts_of(haplotype_offset, checks::size_of(letters), "haplotype_offset");
                checks::lie_below(letters, pairhmm::kCodeOfN + 1, "letters");
                checks::require(most_haplotypes > 0, "most_haplotypes", "at least one");
                const pairhmm::TreeBatch batch{groups, group_haplotype.data(), haplotype_offset.data(), letters.data()};
                nb::gil_scoped_release release;
                new (self) MadeTrees(batch, {most_haplotypes, columns_of_sum, lead, tail}, pool);
            },
            "group_haplotype"_a, "haplotype_offset"_a, "letters"_a, "most_haplotypes"_a, "pool"_a,
            "columns_of_sum"_a = 0, "lead"_a = 0, "tail"_a = 0)
        .def_prop_ro("of_group", &bytes_of<TreeArray::kOfGroup>)
        .def_prop_ro("trees", &bytes_of<TreeArray::kTrees>)
        .def_prop_ro("places", &bytes_of<TreeArray::kPlaces>)
        .def_prop_ro("events", &bytes_of<TreeArray::kEvents>)
        .def_prop_ro("joins", &bytes_of<TreeArray::kJoins>)
        .def_prop_ro("streams", &bytes_of<TreeArray::kStreams>)
        .def_prop_ro("columns",
                     [](nb::handle owner) {
                         const auto& columns = nb::cast<const MadeTrees&>(owner).trees.columns();
                         return Words(columns.data(), {columns.size()}, owner);
                     })
        .def_prop_ro(
            "sizes",
            [](const MadeTrees& self) {
                const pairhmm::TreeSizes& sizes = self.trees.sizes();
                return std::make_tuple(sizes.open_branches, sizes.left_leaves, sizes.right_leaves, sizes.joins,
                                       sizes.nodes);
            },
            "The most open branches, left leaves, right leaves, joins and nodes of a stream of a pair of trees.");
}
