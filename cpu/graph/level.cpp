// Graphs of haplotypes over the vectors of an instruction set, as a `GraphLevel`.
#include "graph/level.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "forward/rows.hpp"
#include "simd/failures.hpp"
#include "simd/level.hpp"
#include "threads/locks.hpp"

namespace pairhmm {
namespace PAIRHMM_LEVEL {
namespace graph {

// clang-format off: each uses what stands before it
#include "simd/lanes.hpp"
#include "forward/level_tools.hpp"
#include "forward/lane_rows.hpp"
#include "forward/workspace_pool.hpp"
#include "graph/kernel.hpp"
// clang-format on

inline void forward(const SiteGraph& graph, const Batch& batch, const int64_t* read, int count, double* scores) {
    [[maybe_unused]] FlushDenormals flush;
    static WorkspacePool<GraphTile<kRowsPerSweep, false>> pool;
    static WorkspacePool<GraphTile<kRowsPerSweep, true>> plain_pool;
    const auto run = [&](auto& tile) { tile.run(graph, batch, read, count, scores); };
    gaps_end(batch, read[0]) ? pool.use(run) : plain_pool.use(run);
}

}  // namespace graph
}  // namespace PAIRHMM_LEVEL

const GraphLevel* PAIRHMM_JOIN(graph_level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL::graph;
    static const GraphLevel level{kWideLanes, forward};
    return &level;
}

}  // namespace pairhmm
