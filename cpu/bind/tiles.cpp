// Python bindings of staging/tiles.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "bind/arrays.hpp"
#include "staging/tiles.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Bytes = Output<uint8_t>;
using Values = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

uint32_t* words(const Bytes& buffer, int64_t at) { return reinterpret_cast<uint32_t*>(buffer.data() + at); }

}  // namespace

void bind_tiles(nb::module_& module) {
    module.def(
        "copy_all",
        [](Bytes buffer, const std::vector<int64_t>& at, const std::vector<Values>& arrays, int threads) {
            std::vector<pairhmm::Part> parts;
            for (size_t i = 0; i < arrays.size(); ++i) {
                const bool is_offsets = arrays[i].dtype() == nb::dtype<int64_t>();
                parts.push_back(
                    {buffer.data() + at[i], arrays[i].data(), static_cast<int64_t>(arrays[i].shape(0)), is_offsets});
            }
            nb::gil_scoped_release release;
            pairhmm::copy_all(parts, threads);
        },
        "buffer"_a, "at"_a, "arrays"_a, "threads"_a,
        "Copy arrays of bytes to their places in one buffer, and offsets (int64), which become uint32 there.");

    module.def(
        "make_tiles",
        [](Bytes buffer, Array<int64_t> group_read, Array<int64_t> group_haplotype, Array<int64_t> read_offset,
           Array<int64_t> haplotype_offset, Array<uint8_t> skip_read, Array<uint8_t> shape_of_length,
           Array<int64_t> reads_of_shape, Array<int64_t> rows_of_shape, Array<uint8_t> family_of_shape,
           int64_t tier_cells, std::tuple<int64_t, int64_t, int64_t> item_sizes, int64_t read_group_at,
           int64_t order_at, int64_t items_at, Array<int64_t> haplotypes_each,
           std::optional<Array<uint32_t>> group_columns) {
            const pairhmm::TileBatch batch{static_cast<int64_t>(group_read.shape(0)) - 1,
                                           group_read.data(),
                                           group_haplotype.data(),
                                           read_offset.data(),
                                           haplotype_offset.data(),
                                           skip_read.data(),
                                           group_columns ? group_columns->data() : nullptr};
            const pairhmm::Shapes shapes{static_cast<int64_t>(reads_of_shape.shape(0)),
                                         shape_of_length.data(),
                                         reads_of_shape.data(),
                                         rows_of_shape.data(),
                                         family_of_shape.data(),
                                         tier_cells,
                                         haplotypes_each.data()};
            const auto [items, shortest, longest] = item_sizes;
            const pairhmm::ItemSizes sizes{items, shortest, longest};
            const pairhmm::Tiles tiles{words(buffer, read_group_at), words(buffer, order_at), words(buffer, items_at)};
            std::vector<pairhmm::Tier> found;
            {
                nb::gil_scoped_release release;
                found = pairhmm::make_tiles(batch, shapes, sizes, tiles);
            }
            std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>> tiers;
            for (const auto& tier : found) {
                tiers.emplace_back(tier.shape, tier.item, tier.items, tier.haplotypes_each, tier.last, tier.pairs,
                                   tier.cells, tier.longest);
            }
            return tiers;
        },
        "buffer"_a, "group_read"_a, "group_haplotype"_a, "read_offset"_a, "haplotype_offset"_a, "skip_read"_a,
        "shape_of_length"_a, "reads_of_shape"_a, "rows_of_shape"_a, "family_of_shape"_a, "tier_cells"_a, "item_sizes"_a,
        "read_group_at"_a, "order_at"_a, "items_at"_a, "haplotypes_each"_a, "group_columns"_a.none(),
        "Write the tiles of a batch's reads; tiers (shape, item, items, haplotypes_each, last, pairs, cells, longest).");
}
