// The forward kernels over the vectors of an instruction set, as a `Level`. Where the instructions keep denormal
// numbers the build defines PAIRHMM_KEEPS_DENORMALS or PAIRHMM_FLUSHES, too (forward/denormals.hpp).
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "forward/level.hpp"
#include "forward/rows.hpp"
#include "forward/trees.hpp"
#include "simd/failures.hpp"
#include "simd/level.hpp"
#include "threads/locks.hpp"
#include "threads/std_threads.hpp"

namespace pairhmm {
namespace PAIRHMM_LEVEL {

// clang-format off: each uses what stands before it
#include "simd/lanes.hpp"
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
#include "forward/workspace_pool.hpp"
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
#if PAIRHMM_VECTOR == 64
    // A half-empty vector is cheaper as a vector of half the width.
    if (tile.count <= kLanes / 2) {
        static WorkspacePool<TileKernel<kLanes / 2, kRowsPerSweep>> half_pool;
        half_pool.use([&](auto& kernel) { kernel.run(batch, tile, trees, read_order, scores); });
        return;
    }
#endif
    static WorkspacePool<TileKernel<kLanes, kRowsPerSweep>> pool;
    pool.use([&](auto& kernel) { kernel.run(batch, tile, trees, read_order, scores); });
}

inline double forward_wide(const Batch& batch, int64_t read, int64_t hap, int threads, const std::atomic<bool>& stop) {
    return WideSweep(batch, read, hap).run(threads, stop);
}

}  // namespace PAIRHMM_LEVEL

const Level* PAIRHMM_JOIN(level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL;
    static const Level level{kLanes, kKeepsDenormals, folds, forward, forward_wide};
    return &level;
}

}  // namespace pairhmm
