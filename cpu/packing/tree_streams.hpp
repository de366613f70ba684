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
// Leads. Lanes follow each other through a stream: at step t, lane l is at byte t - l. A GPU may save a branch when
// lane 0 has finished it, so that lane l saves what it has l columns before. All lanes restore these states at once,
// and go on with the columns that each still needs. For this, `lead` letters of the path come before each node that
// restores, without flags; they are zeros where the path is shorter. They count as nodes of the stream, and so do they
// in events. A lane l <= lead then reads byte t - l, where byte 0 is the node that restores. With leads,
//
//   * a segment is what lies between two leaves. Each but a tree's first begins with a lead, and then a node that
//     restores: a leaf whose path goes on is a branch, too.
//   * in the left tree, the leaf itself is then the branch: it has kSave and kLeaf.
//   * in the right tree its parent is the branch, because a GPU joins halves before the last column of the right one.
//     So the stream has that last node twice: as a leaf, and again where the path goes on.
//
// Without leads (0), the path goes on behind such a leaf with the next node, which does not restore.
//
// Tails. A GPU may join halves along a diagonal, too. It then needs no drain: it stops when lane 0 has finished the
// left leaf, so that lane l lacks the last l columns of the left half. In the right tree, lanes compute these columns,
// too, as they follow each other. For this, `tail` letters of the left half come behind each right leaf, the last one
// first, without flags; zeros behind its first one. Haplotypes share a right leaf only where they share its tail.
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
    int64_t nodes = 0;  // of one stream
};

struct TreeLimits {
    int64_t most_haplotypes = 0;  // of a pair of trees; 0 where haplotypes are not in trees
    // A device adds so many columns to one sum, and then that sum to those before; 0 for no such flags. Depth is a
    // node's distance from the root, so that the sums of a path do not depend on other paths.
    int64_t columns_of_sum = 0;
    int64_t lead = 0;  // letters of the path before each node that restores
    int64_t tail = 0;  // letters of the left half behind each right leaf; leads are needed, too
};

constexpr uint32_t kEventFlags = 16;
constexpr uint16_t kLastJoin = 0x8000;
constexpr int64_t kStreamPadding = 32;  // or as many as a lead has, and one more

// The trees of groups that follow each other, made by one thread.
struct alignas(64) TreePart {  // threads that make neighbours share no cache line
    std::vector<TreesOfGroup> of_group;
    std::vector<TreePair> trees;
    std::vector<TreePlace> places;  // of each pair of trees
    // Of each stream: its nodes with a flag, times kEventFlags, with the flags but kSum from bit 0 on. The flag of
    // kSave stands for kSum, too. The last node of a stream has a flag, where no tail is behind it.
    std::vector<uint32_t> events;
    std::vector<uint16_t> joins;    // by right leaf: the left leaf, with kLastJoin at a right leaf's last join
    std::vector<uint8_t> streams;   // kStreamPadding zeros before and behind each stream
    std::vector<uint32_t> columns;  // of each group: nodes of all its trees, each once
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
    int64_t begin(const TreeBatch& batch, const TreeLimits& limits, int64_t threads);
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
    TreeLimits limits_{};
    int64_t size_ = 1, shares_ = 0;
    std::vector<TreePart> parts_;                          // the first of them, as many as there are shares of groups
    std::vector<std::array<int64_t, kTreeArrays>> first_;  // [parts + 1] elements before each part
    std::vector<uint32_t> columns_;
    TreeSizes sizes_;
};

}  // namespace pairhmm
