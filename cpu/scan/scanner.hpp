// Signatures in samples: every place where a pattern matches, with the sum of the base qualities under it.
//
// Letters are sets of bases (calling/letters.hpp), one a byte. Two letters match where their sets have a base in
// common, so that N matches anything on either side. Coordinates are 0-based half-open.
//
// A tile of positions is searched in one of two ways (scan/level.cpp). Patterns with an anchor are looked up in an
// index. Patterns without one are filtered bit by bit; so are all patterns of a tile whose Ns make the look-ups list
// too many anchors. Every place that is left is compared column by column: both ways are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

namespace pairhmm {

// The patterns to search for: signatures and their reverse complements.
struct Patterns {
    int64_t count;
    const uint8_t* letters;
    const int64_t* offset;       // [count + 1] into letters
    const int64_t* signature;    // [count]
    const int64_t* strand;       // [count] 0 forward, 1 reverse
    const int64_t* least_total;  // [count] smallest sum of qualities of a match

    int64_t length(int64_t pattern) const { return offset[pattern + 1] - offset[pattern]; }
    const uint8_t* begin(int64_t pattern) const { return letters + offset[pattern]; }
};

struct MatchRules {
    int64_t max_mismatches;   // columns without a base in common, at most
    int64_t min_informative;  // columns where neither side is N, at least
    bool every_match;         // report all; else the best of each (segment, signature)
};

// Segments end to end: records, or parts of one.
struct Samples {
    int64_t segments;
    const int64_t* offset;  // [segments + 1] into letters
    const uint8_t* letters;
    const uint8_t* qualities;  // Phred; null without
    int64_t carried;           // first bases of segment 0 that the segment before it had too

    int64_t bases() const { return offset[segments]; }
};

// Nine words, as pairhmm/scan/batch.py has them in HIT. `place` is where the match begins in its signature.
struct Hit {
    int64_t segment, signature, start, strand, total, matches, informative, mismatches, place;
};

// How a pattern is found: by a window in the anchor index, or, for a pattern without one, by the place of its most
// informative letters.
struct Handle {
    int64_t pattern, offset;
};

// How patterns are found, as scanners on other devices take it; the members are those of IndexView (scan/level.hpp).
struct IndexTables {
    int bases;
    int64_t anchors;
    std::vector<Handle> handle;  // the anchors, then one for each other pattern
    std::vector<uint64_t> known;
    std::vector<uint32_t> first, anchor;
};

IndexTables index_tables(const Patterns& patterns, int64_t max_mismatches);

// The hits of the first segments, and how many segments these are.
struct FoundHits {
    int64_t segments;
    std::vector<Hit> hits;  // in order of segment, signature, start, strand
};

// As many matches as are found at once, at most but for one segment: some 400 bytes each, with what is made of them.
constexpr int64_t kMostFound = int64_t{1} << 18;

// With how many matches a share of the work ends: before it begins sooner, so that what runs is not thrown away.
inline int64_t limit_of(bool begins, int64_t most) { return begins ? most / 2 : most; }

struct ScanLevel;
struct CompiledPatterns;

class Scanner {
public:
    // The caller owns the patterns' arrays, and keeps them as long as the scanner lives.
    Scanner(const ScanLevel& level, const Patterns& patterns, const MatchRules& rules);
    ~Scanner();

    // Ends behind the segment with which `most` hits are found; totals[segments] gets each segment's sum of qualities.
    FoundHits scan(const Samples& samples, int threads, int64_t* totals,
                   int64_t most = std::numeric_limits<int64_t>::max()) const;

private:
    std::unique_ptr<CompiledPatterns> compiled_;
};

inline bool earlier(const Hit& a, const Hit& b) {
    return std::tie(a.segment, a.signature, a.start, a.strand, a.place) <
           std::tie(b.segment, b.signature, b.start, b.strand, b.place);
}

// Keeps the best hit of each (segment, signature), with the matches of all; the hits are in order.
inline void keep_best(std::vector<Hit>& hits) {
    size_t kept = 0;
    for (const Hit& hit : hits) {
        if (kept == 0 || hits[kept - 1].segment != hit.segment || hits[kept - 1].signature != hit.signature) {
            hits[kept++] = hit;
            continue;
        }
        Hit& best = hits[kept - 1];
        const int64_t matches = best.matches + hit.matches;
        if (hit.total > best.total) best = hit;
        best.matches = matches;
    }
    hits.resize(kept);
}

}  // namespace pairhmm
