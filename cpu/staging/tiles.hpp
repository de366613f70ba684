// A batch in a device's staging memory: its arrays, and its reads in the order of the tiles that the device scores them
// in (pairhmm/packed.py).
#pragma once

#include <cstdint>
#include <vector>

namespace pairhmm {

struct TileBatch {
    int64_t groups;
    const int64_t* group_read;        // [groups + 1]
    const int64_t* group_haplotype;   // [groups + 1]
    const int64_t* read_offset;       // [reads + 1]
    const int64_t* haplotype_offset;  // [haplotypes + 1]
    const uint8_t* skip_read;         // [reads]
};

struct Shapes {
    int64_t count;
    const uint8_t* of_length;  // [longest + 1] the shape that scores a read of a length with least work
    const int64_t* reads;      // [count] reads of a tile
    const int64_t* rows;       // [count] of a read, or of a strip of it; in ascending order within a family
    const uint8_t* family;     // [count] shapes that follow each other and score a read alike, bit by bit
    int64_t tier_cells;        // what a tier costs besides its cells
};

// How long work items are: as many haplotypes as give a tier `items` of them, within limits.
struct ItemSizes {
    int64_t items;
    int64_t shortest, longest;  // letters of an item's haplotypes
};

struct Tier {
    int64_t shape, item, items;  // its shape, its first work item, and how many
    int64_t haplotypes_each;     // of an item
    int64_t last;                // one past its last read in order
    int64_t pairs, cells;        // its pairs, and their cells with rows that are no read's
};

// Where make_tiles writes.
struct Tiles {
    uint32_t* read_group;  // [reads]
    uint32_t* order;       // [reads] by shape, and by how much their group has to do
    uint32_t* items;       // [as many as there are][2] first read of a tile (an index into order), block of haplotypes
};

// Tiers of the shapes that have reads.
std::vector<Tier> make_tiles(const TileBatch& batch, const Shapes& shapes, const ItemSizes& sizes, const Tiles& tiles);

// An array and its place in staging memory: bytes as they are, or int64 that become uint32.
struct Part {
    uint8_t* to;
    const void* from;
    int64_t size;  // of elements
    bool narrowed;
};

void copy_all(const std::vector<Part>& parts, int threads);

}  // namespace pairhmm
