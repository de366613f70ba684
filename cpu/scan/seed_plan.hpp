// Which seeds find every match of a tile.
//
// A seed is letters at certain places, `#`, beside others that may differ, `-`. There are three ways to choose seeds
// such that a match with up to K mismatches has one of them without a mismatch, and seed_plan takes what costs least:
//
// * parts of each tile: K + 1 disjoint windows of it.
// * a shape at every shift in a tile (spaced seeds). A shape is longer than a part and so lists fewer seeds: that of 21
//   letters at K = 2 compares 9 where a part has 7. Where tiles lie at every position, so do the seeds of both.
// * windows of each reference at equal distances, so close that every tile has K + 1 of them inside. They are shorter,
//   and far fewer.
#pragma once

#include <cstdint>
#include <vector>

#include "scan/scanner.hpp"
#include "scan/tiles.hpp"

namespace pairhmm {

constexpr int kLongestSeed = 16;  // letters of two bits in a word

struct SeedPlan {
    uint32_t letters;             // both bits of each letter that is compared, the first one lowest
    int span;                     // from the first letter that is compared to the last
    int compared;                 // letters that are
    std::vector<int64_t> shifts;  // where in a tile seeds begin; a match has one of them without a mismatch
    int64_t apart;                // of windows of references, from one to the next; 0 where seeds are those of tiles

    bool compares(int letter) const { return (letters >> 2 * letter & 1) != 0; }
};

SeedPlan seed_plan(const Patterns& references, const TileRules& rules);

// How many seeds there are, if no letter is ambiguous.
int64_t seed_count(const SeedPlan& plan, const Patterns& references, const TileRules& rules);

// Bits of a key: those that tell its bucket, and those that tell its bit in a map of the keys that have seeds.
struct KeyBits {
    int bucket, known;
};

KeyBits key_bits(int64_t seeds, int letters);

}  // namespace pairhmm
