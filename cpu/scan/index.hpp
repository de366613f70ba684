// Anchors: short windows of the patterns, found by one look-up a position, with Ns in the samples too.
//
// Method. A window of 9 or 10 letters is read as a base-5 number, N being the fifth digit. It is entered in the index
// under every number that it matches: each of its bases also as N, an ambiguous letter as each of its bases and as N.
// So one look-up finds all matches. For up to K mismatches, a pattern gets K + 1 windows that do not overlap. At least
// one of them matches exactly, wherever the mismatches are. The windows that are rarest among all patterns are taken.
//
// Cost. With A anchors of k letters and samples of N ratio r, a look-up lists A ((1 - r) / 4 + r)^k anchors. The bitmap
// of windows of 9 stays in the near cache, and a look-up takes 1.3 ns; that of 10 does not (2.6 ns), but lists fewer.
// An anchor that is listed takes 12 ns. window_bases (scan/index.cpp) takes what costs less. To make the index of 1,000
// signatures of 3,000 to 10,000 bases takes 0.08 s, of 10,000 signatures 1.3 s (benchmarks/results/scan.tsv).
//
// Limits. Patterns without usable windows (short, or with many ambiguous letters) have no anchor, and are searched by
// the filter of scan/level.cpp. Windows have 9 letters where an index of 10 would have more than kMostEntries
// entries.
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

    // Anchors in order of their pattern, and within a pattern in a fixed order.
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
