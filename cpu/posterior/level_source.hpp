// What a level's source file includes: forward-backward over its vector width, as a `PosteriorLevel`.
// Before it, the file defines PAIRHMM_LEVEL (a name) and PAIRHMM_WIDE_LANES.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "simd/failures.hpp"
#include "posterior/level.hpp"

#define PAIRHMM_INLINE inline __attribute__((always_inline))

namespace pairhmm {
namespace PAIRHMM_LEVEL {
namespace posterior {

constexpr int kWideLanes = PAIRHMM_WIDE_LANES;

// clang-format off: each uses what stands before it
#include "forward/level_tools.hpp"
#include "posterior/kernel.hpp"
// clang-format on

inline void run(const PairSet& set, const int64_t* pair, int count, const ExpectedCounts* counts,
                const Posteriors* posteriors, double* log10) {
    FlushDenormals flush;
    thread_local PosteriorTile tile;
    tile.run(set, pair, count, counts, posteriors, log10);
}

}  // namespace posterior
}  // namespace PAIRHMM_LEVEL

#define PAIRHMM_JOIN2(a, b) a##b
#define PAIRHMM_JOIN(a, b) PAIRHMM_JOIN2(a, b)

const PosteriorLevel* PAIRHMM_JOIN(posterior_level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL::posterior;
    static const PosteriorLevel level{kWideLanes, run};
    return &level;
}

}  // namespace pairhmm
