// The reads of a batch in the order of the tiles that a device scores.
//
// Method. A shape says how many reads a tile has and how many rows a read may take. Each read goes to the shape that
// has least work with its length. Shapes of a family give a read the same bits, so neighbouring shapes may be joined
// into one tier: dynamic programming finds the tiers with the least cost, rows of padding and a constant for each tier
// taken together. Groups with about as many haplotypes follow each other, most first: a tile takes as long as the read
// with most to do, and no long tile should begin last. Where haplotypes are in trees (packing/tree_streams.hpp), their
// columns are what counts. Work items of a tier are as long as give it the number of items
// that ItemSizes wants.
//
// Versions:
//
//   compiled, in place of Python                          140,000 reads in half the time of their CUDA kernels
//   tiles made while the arrays are copied, one byte for  on an H200: s150 2,852 to 3,389 GCUPS, s250 2,893 to 3,329,
//   arrays of one number, items sized by tier             20 copies of 1m 1,019 to 1,384
//   on all threads                                        packing/packing.hpp
//
// Limits. Arrays and offsets of a batch must fit uint32.
#pragma once

#include <cstdint>
#include <vector>

#include "threads/spin_pool.hpp"

namespace pairhmm {

struct TileBatch {
    int64_t groups;
    const int64_t* group_read;        // [groups + 1]
    const int64_t* group_haplotype;   // [groups + 1]
    const int64_t* read_offset;       // [reads + 1]
    const int64_t* haplotype_offset;  // [haplotypes + 1]
    const uint8_t* skip_read;         // [reads]
    const uint32_t* group_columns;    // [groups] columns of its trees; null where haplotypes are not in trees
};

struct Shapes {
    int64_t count;
    int64_t longest;           // longer reads are skipped
    const uint8_t* of_length;  // [longest + 1] the shape that scores a read of a length with least work
    const int64_t* reads;      // [count] reads of a tile
    const int64_t* rows;       // [count] of a read, or of a strip of it; in ascending order within a family
    const uint8_t* family;     // [count] shapes of a family are neighbours and give a read the same bits
    int64_t tier_cells;        // what a tier costs besides its cells
    // [count] haplotypes of a work item, where their number does not depend on the batch; else 0
    const int64_t* haplotypes_each;
};

// How long work items are: a tier gets `items` of them, as far as the limits on their length allow.
struct ItemSizes {
    int64_t items;
    int64_t shortest, longest;  // letters of an item's haplotypes
};

struct Tier {
    int64_t shape, item, items;  // its shape, its first work item, and how many
    int64_t haplotypes_each;     // of an item
    int64_t last;                // one past its last read in order
    int64_t pairs, cells;        // its pairs, and their cells with rows that are no read's
    int64_t longest;             // columns of the trees of its longest item; 0 where haplotypes are not in trees
};

// The work of a shape.
struct Load {
    int64_t reads = 0, pairs = 0;
    int64_t letters = 0;  // of the haplotypes of each read
    int64_t again = 0;    // letters that a tall read meets again, in each strip but its first

    int64_t cells(int64_t rows) const { return (letters + again) * rows; }
};

// Makes the tiles of one batch after the other, in the same memory: new pages cost more than what is written to them.
// The tiles do not depend on how many threads there are.
class TileMaker {
public:
    // Begins with a batch: returns how many shares its reads are cut into. Threads look at each of them, and then one
    // calls put_in_order(). Until then the columns of groups need not be known.
    int64_t begin(const TileBatch& batch, const Shapes& shapes, int64_t threads);
    void look_at(int64_t share);

    // The tiers of the shapes that have reads, on the threads of a pool that the caller leads.
    const std::vector<Tier>& put_in_order(const uint32_t* group_columns, const ItemSizes& sizes, SpinPool& spin_pool);

    int64_t reads() const { return reads_; }
    int64_t items() const { return items_; }

    // The tiles, once they are in order, in so many shares. They last until the next batch.
    // read_group, order: [reads]; `order` is by shape, and by the work of their group. items: [items][2] first read of
    // a tile (an index into order), block of haplotypes.
    int64_t shares_of_tiles() const { return shares_ + static_cast<int64_t>(pieces_.size()); }
    void write(int64_t share, uint32_t* read_group, uint32_t* order, uint32_t* items) const;

private:
    // Tiles that a thread counts the items of at a time.
    struct Piece {
        std::vector<int64_t> items;  // of each shape
        int64_t before;              // items of earlier pieces
    };

    int64_t first_read(int64_t share) const;
    std::vector<Load> closest_loads() const;
    void order_reads(const std::vector<int64_t>& taken, SpinPool& spin_pool);
    void count_blocks(SpinPool& spin_pool);
    template <class Act>
    void each_tile(int64_t piece, const Act& act) const;

    TileBatch batch_{};
    Shapes shapes_{};
    int64_t reads_ = 0, size_ = 1, shares_ = 0;  // of reads
    std::vector<std::vector<Load>> loads_;       // of each share, by the shape that fits a read most closely
    std::vector<uint8_t> closest_;               // the shape that fits each read most closely
    std::vector<int64_t> first_, first_tile_;    // read (an index into order_) and tile of each shape
    std::vector<int64_t> haplotypes_each_;       // of an item, by shape
    std::vector<uint32_t> read_group_, order_;
    std::vector<uint32_t> blocks_;  // of haplotypes of each tile
    std::vector<Piece> pieces_;
    int64_t items_ = 0;
    std::vector<Tier> tiers_;
};

}  // namespace pairhmm
