// Partially determined haplotypes over the vectors of an instruction set, as a `PdLevel`.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "pdhmm/level.hpp"
#include "simd/failures.hpp"
#include "simd/level.hpp"
#include "threads/locks.hpp"

namespace pairhmm {
namespace PAIRHMM_LEVEL {
namespace pdhmm {

// clang-format off: each uses what stands before it
#include "simd/lanes.hpp"
#include "forward/level_tools.hpp"
#include "forward/log10.hpp"
#include "forward/workspace_pool.hpp"
#include "forward/lane_rows.hpp"
#include "pdhmm/kernel.hpp"
#include "pdhmm/wide.hpp"
// clang-format on

inline void forward(const Batch& batch, const PdTree& tree, const int64_t* hap_offset, const int64_t* read, int count,
                    double* const* scores) {
    [[maybe_unused]] FlushDenormals flush;
    const auto run = [&](auto& kernel) { kernel.run(batch, tree, hap_offset, read, count, scores); };
#if PAIRHMM_VECTOR == 64
    // A half-empty vector is cheaper as a vector of half the width.
    static WorkspacePool<PdTile<kLanes / 2, kRowsPerSweep>> half_pool;
    if (count <= kLanes / 2) return half_pool.use(run);
#endif
    static WorkspacePool<PdTile<kLanes, kRowsPerSweep>> pool;
    pool.use(run);
}

inline void forward_wide(const Batch& batch, const PdPairs& pairs, double* scores) {
    [[maybe_unused]] FlushDenormals flush;
    PdWide(batch, pairs).run(scores);
}

}  // namespace pdhmm
}  // namespace PAIRHMM_LEVEL

const PdLevel* PAIRHMM_JOIN(pd_level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL::pdhmm;
    static const PdLevel level{kLanes, kWideLanes, forward, forward_wide};
    return &level;
}

}  // namespace pairhmm
