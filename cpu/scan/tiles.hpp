// Tiles of references in samples: every place where `length` consecutive letters of a reference match.
//
// A tile begins at every `step`-th letter of a reference, and a match of a tile is a match of its reference. The
// letters, the rules of a match and the coordinates are those of scan/scanner.hpp. Matches are exact: none is lost.
//
// Method. Neighbouring tiles share their letters, so that samples are compared with whole references and not with each
// tile. Seeds (scan/seeds.hpp) say which diagonals of a sample and a reference may hold a match. A diagonal is compared
// once for up to kStretch places (scan/diagonal.hpp): the columns that differ tell where at most max_mismatches of
// `length` columns do. Consecutive tiles that match make a run.
//
// Ns. A seed is looked up under every sequence of bases that its letters stand for, up to kMostCodes of them. Places of
// a sample with a seed of more are compared with all references, bit by bit (the filter of scan/level.cpp); tiles
// with a seed of more are found by a scanner of their own (scan/scanner.hpp).
//
// Memory. A read of a repeat matches every place of every reference that has the repeat, so that matches grow by reads
// times references. A scan ends early, behind a whole segment, where it has found kMostFound: its caller goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scan/complexity.hpp"
#include "scan/scanner.hpp"

namespace pairhmm {

struct TileRules {
    int64_t length, step;
    int64_t least_total;  // smallest sum of qualities of a match
    MatchRules match;
    // Tiles that are not searched for: where they begin in the references' letters, in order.
    const MaskedSpan* masked = nullptr;
    int64_t masked_count = 0;
};

// Tiles of one reference, one behind the other, that match one behind the other. Ten words, as
// pairhmm/scan/batch.py has them in RUN. Start and length are of the letters in the segment, place is theirs in the
// forward reference; the sum of qualities and the columns are of these letters.
struct TileRun {
    int64_t segment, signature, strand, start, length, place, tiles, total, informative, mismatches;
};

struct TileHits {
    int64_t segments = 0;       // that were searched, from the first one on
    std::vector<Hit> hits;      // in order of segment, signature, start, strand, place
    std::vector<TileRun> runs;  // in order of segment, signature, strand, diagonal, start
};

struct CompiledTiles;

class TileScanner {
public:
    // The caller owns the patterns' arrays, and keeps them as long as the scanner lives. `least_total` of the patterns
    // is not looked at.
    TileScanner(const ScanLevel& level, const Patterns& references, const TileRules& rules);
    ~TileScanner();

    // Searches as many segments as memory is meant for, and at least one. totals[segments] gets each segment's sum of
    // qualities.
    TileHits scan(const Samples& samples, int threads, int64_t* totals) const;

private:
    std::unique_ptr<CompiledTiles> compiled_;
};

}  // namespace pairhmm
