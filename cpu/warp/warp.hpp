// Time warping of many pairs of signals, over threads.
#pragma once

#include <cstdint>
#include <functional>

#include "warp/level.hpp"

namespace pairhmm {

// Signals end to end.
struct SignalSet {
    const int16_t* level;
    const int64_t* offset;  // [signals + 1]

    int64_t length(int64_t at) const { return offset[at + 1] - offset[at]; }
};

struct SignalPairs {
    SignalSet queries, targets;
    int64_t count;
    const int32_t* query;   // [count] into queries
    const int32_t* target;  // [count] into targets
};

// Into each [count]. Where `interrupted` says so, some are left as they are.
struct Warpings {
    int64_t* cost;
    int32_t *start, *end;
};

void warp_pairs(const WarpLevel& level, const SignalPairs& pairs, const WarpRules& rules, int threads,
                const Warpings& warpings, const std::function<bool()>& interrupted);

}  // namespace pairhmm
