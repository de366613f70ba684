// Haplotypes as two trees, so that columns which they share are computed once.
//
// A column of the forward depends on the letters to its left alone, one of the backward on those to its right alone.
// Each haplotype is cut at its middle letter, n / 2 (from 0). The letters before it are a path of the left tree from
// the root, and those behind it, from the last one leftwards, a path of the right tree. Haplotypes that begin alike
// share the path's beginning. The middle letter is in neither tree: the two halves are joined there.
#pragma once

#include <cstdint>
#include <vector>

namespace pairhmm {

// Columns of a tree that follow each other without a branch. A segment begins at the root or behind a segment that
// saved its states, and ends where paths part or end.
struct Segment {
    int64_t first, end;  // its columns, indices into HalfTree::letters; none where paths part at once
    int64_t depth;       // columns between the root and `first`
    int32_t from;        // the slot that its states are saved in; ~root where it begins at a root
    int32_t save;        // the slot that the states behind it are saved in; -1 where no segment follows it
    int32_t leaf;        // the leaf at its end; -1 where no path ends
};

struct HalfTree {
    std::vector<uint8_t> letters;      // [columns] in depth-first order
    std::vector<Segment> segments;     // in depth-first order
    std::vector<int64_t> leaf_depth;   // [leaves] columns of each path
    std::vector<int64_t> root_length;  // [roots] haplotype length that all paths of a root share, or 0
    int32_t slots = 0;

    int64_t columns() const { return static_cast<int64_t>(letters.size()); }
    int32_t leaves() const { return static_cast<int32_t>(leaf_depth.size()); }
};

// A haplotype among the different ones of its trees.
struct Path {
    int32_t left, right;  // leaves
    int32_t letter;       // at the cut
    int64_t length;       // letters of the haplotype
};

struct Trees {
    HalfTree left, right;
    std::vector<Path> paths;           // ordered by right leaf
    std::vector<int32_t> right_begin;  // [right leaves + 1] first path of each right leaf
    std::vector<int32_t> path_of;      // [haplotypes] the path of each haplotype that was given
    std::vector<int64_t> haplotypes;   // those that were given, as given
};

// The trees of some haplotypes, at most kMostPaths different ones each: what a tile keeps grows with their leaves.
// `hap` are indices into `offset`, [haplotypes + 1] first letter of each. With `by_length`, only haplotypes of one
// length share a root of the left tree.
constexpr int64_t kMostPaths = 256;
std::vector<Trees> make_trees(const uint8_t* letters, const int64_t* offset, const std::vector<int64_t>& hap,
                              bool by_length);

}  // namespace pairhmm
