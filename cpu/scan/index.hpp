// Anchors: short windows of patterns that a base-5 number of a sample's letters finds, Ns in the sample included.
//
// A window of 9 or 10 letters is entered under every number that it matches: each of its bases also as N, an ambiguous
// letter as each of its bases and N. So one look-up a position, in a bitmap and where that says so in a table, finds
// all matches. A pattern has max_mismatches + 1 windows that do not overlap: one of them matches exactly, whatever
// differs.
//
// Expected look-ups that list an anchor, for A anchors of k letters in samples of N ratio r: A ((1 - r) / 4 + r)^k a
// base.
#pragma once

#include <cstdint>
#include <vector>

#include "scan/level.hpp"
#include "scan/scanner.hpp"

namespace pairhmm {

using Anchor = Handle;  // of a window in a pattern

class AnchorIndex {
public:
    AnchorIndex(const Patterns& patterns, int64_t max_mismatches);

    IndexView view() const;

    // Anchors in order of their pattern, and each pattern's in an order of their own.
    const std::vector<Anchor>& anchors() const { return anchors_; }
    // [patterns + 1] first anchor of each pattern; those without any are not in the index.
    const std::vector<int64_t>& first_anchor() const { return first_anchor_; }
    int bases() const { return bases_; }

    // The index as tables that can outlive it, but for `handle`, which gets the anchors only.
    IndexTables tables() &&;

private:
    void choose_anchors(const Patterns& patterns, int64_t each);
    void enter(const Patterns& patterns);

    int bases_;
    std::vector<Anchor> anchors_;
    std::vector<int64_t> first_anchor_;
    std::vector<uint64_t> known_, extension_;
    std::vector<uint32_t> first_, anchor_;
};

}  // namespace pairhmm
