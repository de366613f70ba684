// Reads in the order of the tiles that a device scores them in (pairhmm/packed.py), and copies into its staging memory.
#pragma once

#include <cstdint>
#include <vector>

namespace pairhmm {

struct TileBatch {
    int64_t groups;
    const int64_t* group_read;       // [groups + 1]
    const int64_t* group_haplotype;  // [groups + 1]
    const int64_t* read_offset;      // [reads + 1]
    const int64_t* haplotype_offset;  // [haplotypes + 1]
    const uint8_t* skip_read;        // [reads]
};

struct Tier {
    int64_t shape, item, items;  // its shape, its first work item, and how many
    int64_t last, pairs;         // one past its last read in order; its pairs
};

struct Tiles {
    std::vector<uint32_t> order;  // reads by shape, and by how much their group has to do
    std::vector<uint32_t> items;  // [items][2] first read of a tile (an index into order), block of haplotypes
    std::vector<Tier> tiers;      // of the shapes that have reads
};

// shape_of_length: [longest + 1]; reads_of_shape: [shapes] reads of a tile; haplotypes_each: of a block.
Tiles make_tiles(const TileBatch& batch, const uint8_t* shape_of_length, int64_t shapes, const int64_t* reads_of_shape,
                 int64_t haplotypes_each);

struct Copy {
    uint8_t* to;
    const uint8_t* from;
    int64_t bytes;
};

void copy_all(const std::vector<Copy>& copies, int threads);

}  // namespace pairhmm
