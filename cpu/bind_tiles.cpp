// Python bindings of tiles.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "tiles.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Words = nb::ndarray<nb::numpy, uint32_t, nb::ndim<1>>;

Words to_python(std::vector<uint32_t>&& values) {
    auto* kept = new std::vector<uint32_t>(std::move(values));
    nb::capsule owner(kept, [](void* held) noexcept { delete static_cast<std::vector<uint32_t>*>(held); });
    return Words(kept->data(), {kept->size()}, owner);
}

}  // namespace

void bind_tiles(nb::module_& module) {
    module.def(
        "make_tiles",
        [](Array<int64_t> group_read, Array<int64_t> group_haplotype, Array<int64_t> read_offset,
           Array<int64_t> haplotype_offset,
           Array<uint8_t> skip_read, Array<uint8_t> shape_of_length, Array<int64_t> reads_of_shape,
           int64_t haplotypes_each) {
            pairhmm::Tiles tiles;
            {
                nb::gil_scoped_release release;
                const pairhmm::TileBatch batch{static_cast<int64_t>(group_read.shape(0)) - 1, group_read.data(),
                                               group_haplotype.data(), read_offset.data(), haplotype_offset.data(),
                                               skip_read.data()};
                tiles = pairhmm::make_tiles(batch, shape_of_length.data(),
                                            static_cast<int64_t>(reads_of_shape.shape(0)), reads_of_shape.data(),
                                            haplotypes_each);
            }
            std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>> tiers;
            for (const auto& tier : tiles.tiers) {
                tiers.emplace_back(tier.shape, tier.item, tier.items, tier.last, tier.pairs);
            }
            return std::make_tuple(to_python(std::move(tiles.order)), to_python(std::move(tiles.items)), tiers);
        },
        "group_read"_a, "group_haplotype"_a, "read_offset"_a, "haplotype_offset"_a, "skip_read"_a, "shape_of_length"_a, "reads_of_shape"_a,
        "haplotypes_each"_a, "Reads by shape of tile, work items (two words each), and tiers (shape, item, items, last, pairs).");

    module.def(
        "copy_all",
        [](Bytes to, const std::vector<int64_t>& at, const std::vector<Array<uint8_t>>& from, int threads) {
            std::vector<pairhmm::Copy> copies;
            for (size_t i = 0; i < from.size(); ++i) {
                copies.push_back({to.data() + at[i], from[i].data(), static_cast<int64_t>(from[i].shape(0))});
            }
            nb::gil_scoped_release release;
            pairhmm::copy_all(copies, threads);
        },
        "to"_a, "at"_a, "from_"_a, "threads"_a, "Copy byte arrays to their places in one buffer.");
}
