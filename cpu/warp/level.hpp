// What an instruction set provides to time warping; warp/level.cpp makes it over a vector width.
#pragma once

#include <cstdint>

namespace pairhmm {

constexpr int64_t kNoPath = INT64_MAX;  // the cost where the band, or an empty signal, leaves no path
constexpr int64_t kNoBand = -1;

// A query's levels and a target's.
struct WarpPair {
    const int16_t* query;
    int64_t rows;
    const int16_t* target;
    int64_t columns;
};

struct WarpRules {
    bool anywhere;  // mode "subsequence"; otherwise "global"
    int64_t band;   // the most that a row may differ from a column, or kNoBand
};

// The cheapest path's cost, and the part [start, end) of the target that is under it. Of several cheapest paths it is
// one that ends first, and of those one that starts last.
struct Warping {
    int64_t cost, start, end;
};

struct WarpLevel {
    Warping (*warp)(const WarpPair& pair, const WarpRules& rules);
};

const WarpLevel* warp_level_x86_64_v2();
const WarpLevel* warp_level_avx2();
const WarpLevel* warp_level_avx512();
const WarpLevel* warp_level_neon();

}  // namespace pairhmm
