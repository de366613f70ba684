// The haplotypes of each group as two trees, in the form that a GPU walks (cuda/forward/trees.cu).
//
// Each haplotype is cut before letter n / 2. The left tree has the prefixes of the left halves, the right tree the
// suffixes of the right halves, read from the end. Haplotypes that share a prefix share its nodes.
//
// Method. The halves of a group are sorted. The nodes of a half that its predecessor does not have follow in the tree's
// stream, one byte a node: first the root, with letter 0, then a letter each in depth-first order, with flags. A GPU
// needs no parents: where a path leaves the one before it, it restores the states that it saved at that branch.
// Groups with the haplotypes of the group before take its trees. Groups are shared among threads.
//
// Limits. A pair of trees has at most `most_haplotypes` haplotypes, because a warp keeps what each half hands to the
// joins. Groups with more have several pairs; their haplotypes are sorted, so that neighbours share most.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace pairhmm {

// Flags of a node, beside its letter.
enum NodeFlag : uint8_t {
    kRestore = 8,  // its parent is the last open branch, not the node before it
    kPop = 16,     // with kRestore: no other node does so again
    kSave = 32,    // it opens a branch: more than one node follows it
    kLeaf = 64,    // a half ends here
    kSum = 128,    // its depth is a multiple of columns_of_sum
};

struct TreeBatch {
    int64_t groups;
    const int64_t* group_haplotype;   // [groups + 1]
    const int64_t* haplotype_offset;  // [haplotypes + 1]
    const uint8_t* letters;           // codes 0..4
};

// The two trees of some haplotypes of a group. `Tree` of cuda/forward/trees.cu: the fields are in the same order.
struct TreePair {
    uint32_t left, right;              // first byte of its streams
    uint32_t left_nodes, right_nodes;  // a byte each
    uint32_t left_events, right_events;
    uint32_t first_join, first_place, places;
};

// What a haplotype's score is made from. `Place` of cuda/forward/trees.cu.
struct TreePlace {
    uint32_t haplotype;  // its number in its group
    uint32_t join, left_leaf, right_leaf;
};

struct TreesOfGroup {
    uint32_t first, count;  // pairs of trees
};

// The most of each thing that one pair of trees has.
struct TreeSizes {
    int64_t open_branches = 0, left_leaves = 0, right_leaves = 0, joins = 0;
};

constexpr uint32_t kEventFlags = 16;
constexpr uint16_t kLastJoin = 0x8000;
constexpr int64_t kStreamPadding = 32;

// The trees of groups that follow each other, made by one thread.
struct TreePart {
    std::vector<TreesOfGroup> of_group;
    std::vector<TreePair> trees;
    std::vector<TreePlace> places;  // of each pair of trees
    // Of each stream: its nodes with a flag, times kEventFlags, with the flags but kSum from bit 0 on. The flag of
    // kSave stands for kSum, too. The last node of a stream has a flag.
    std::vector<uint32_t> events;
    std::vector<uint16_t> joins;    // by right leaf: the left leaf, with kLastJoin at a right leaf's last join
    std::vector<uint8_t> streams;   // kStreamPadding zeros before and behind each stream
    std::vector<uint32_t> columns;  // of each group: nodes of all its trees
    TreeSizes sizes;

    void clear();
};

// The arrays of a TreePart that a device gets; TREE_ARRAYS of pairhmm/backends/tiles.py.
enum TreeArray { kOfGroup, kTrees, kPlaces, kEvents, kJoins, kStreams, kTreeArrays };

// The trees of one batch after the other, made in the same memory.
class TreeStreams {
public:
    // Begins with a batch: returns how many shares its groups are cut into. Threads make each of them, and then one
    // joins them.
    // columns_of_sum: a device adds so many columns to one sum, and then that sum to those before; 0 for no such flags.
    // Depth is a node's distance from the root, so that the sums of a path do not depend on other paths.
    int64_t begin(const TreeBatch& batch, int64_t most_haplotypes, int64_t columns_of_sum, int64_t threads);
    void make_share(int64_t share);
    void join_shares();

    // Bytes of each array.
    std::array<int64_t, kTreeArrays> bytes() const;

    // Writes what a share has of each array, whose places are `to`.
    void write_share(int64_t share, const std::array<uint8_t*, kTreeArrays>& to) const;

    const std::vector<uint32_t>& columns() const { return columns_; }  // [groups] nodes of all trees
    const TreeSizes& sizes() const { return sizes_; }

private:
    TreeBatch batch_{};
    int64_t most_haplotypes_ = 0, columns_of_sum_ = 0, size_ = 1, shares_ = 0;
    std::vector<TreePart> parts_;                          // the first of them, as many as there are shares of groups
    std::vector<std::array<int64_t, kTreeArrays>> first_;  // [parts + 1] elements before each part
    std::vector<uint32_t> columns_;
    TreeSizes sizes_;
};

}  // namespace pairhmm
