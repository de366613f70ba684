// What a level's source file includes: the kernels over its vector width, as a `Level`.
// Before it, the file defines PAIRHMM_LEVEL (a name), PAIRHMM_LANES, PAIRHMM_WIDE_LANES and PAIRHMM_ROWS. Where the
// instructions keep denormal numbers it defines PAIRHMM_KEEPS_DENORMALS or PAIRHMM_FLUSHES, too
// (forward/denormals.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#include "forward/level.hpp"
#include "forward/rows.hpp"
#include "forward/trees.hpp"
#include "simd/failures.hpp"
#include "threads/helpers.hpp"
#include "threads/locks.hpp"

#define PAIRHMM_INLINE inline __attribute__((always_inline))

namespace pairhmm {
namespace PAIRHMM_LEVEL {

constexpr int kLanes = PAIRHMM_LANES;
constexpr int kWideLanes = PAIRHMM_WIDE_LANES;
constexpr int kRowsPerSweep = PAIRHMM_ROWS;

// clang-format off: each uses what stands before it
#include "forward/level_tools.hpp"
#include "forward/denormals.hpp"
#include "forward/dead_blocks.hpp"
#include "forward/sweep.hpp"
#include "forward/tile_rows.hpp"
#include "forward/tile_folded.hpp"
#include "forward/tile_general.hpp"
#include "forward/tile_folded_rows.hpp"
#include "forward/log10.hpp"
#include "forward/kernel.hpp"
#include "forward/spares.hpp"
#include "forward/wide_strip.hpp"
#include "forward/wide_states.hpp"
#include "forward/wide.hpp"
// clang-format on

// Whether gap continuation probabilities leave the folded form enough range.
inline bool folds(double ii, double dd) {
    return ii < 1 && dd <= 1 && folded_start(ii, dd, kRowsPerSweep) >= kLowestFoldedStart;
}

inline void forward(const Batch& batch, const Tile& tile, const std::vector<Trees>& trees, const int64_t* read_order,
                    double* scores) {
    [[maybe_unused]] FlushDenormals flush;
#if PAIRHMM_LANES > 8
    // A half-empty vector is cheaper as a vector of half the width.
    if (tile.count <= PAIRHMM_LANES / 2) {
        static Spares<TileKernel<PAIRHMM_LANES / 2, kRowsPerSweep>> half;
        half.use([&](auto& kernel) { kernel.run(batch, tile, trees, read_order, scores); });
        return;
    }
#endif
    static Spares<TileKernel<kLanes, kRowsPerSweep>> spares;
    spares.use([&](auto& kernel) { kernel.run(batch, tile, trees, read_order, scores); });
}

inline double forward_wide(const Batch& batch, int64_t read, int64_t hap, int threads, const std::atomic<bool>& stop) {
    return WideSweep(batch, read, hap).run(threads, stop);
}

}  // namespace PAIRHMM_LEVEL

#define PAIRHMM_JOIN2(a, b) a##b
#define PAIRHMM_JOIN(a, b) PAIRHMM_JOIN2(a, b)

const Level* PAIRHMM_JOIN(level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL;
    static const Level level{kLanes, kKeepsDenormals, folds, forward, forward_wide};
    return &level;
}

}  // namespace pairhmm
