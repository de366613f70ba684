// Graphs of haplotypes over the vectors of an instruction set, as a `GraphLevel`.
#include "graph/level.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "forward/batch.hpp"
#include "simd/failures.hpp"
#include "simd/level.hpp"
#include "threads/locks.hpp"

namespace pairhmm {
namespace PAIRHMM_LEVEL {
namespace graph {

constexpr int kLanes = PAIRHMM_VECTOR / sizeof(double);

// clang-format off: each uses what stands before it
#include "forward/level_tools.hpp"
#include "forward/workspace_pool.hpp"
#include "graph/kernel.hpp"
// clang-format on

inline void forward(const SiteGraph& graph, const GraphRead* reads, int count, double* scores) {
    [[maybe_unused]] FlushDenormals flush;
    static WorkspacePool<GraphTile> pool;
    pool.use([&](GraphTile& tile) { tile.run(graph, reads, count, scores); });
}

}  // namespace graph
}  // namespace PAIRHMM_LEVEL

const GraphLevel* PAIRHMM_JOIN(graph_level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL::graph;
    static const GraphLevel level{kLanes, forward};
    return &level;
}

}  // namespace pairhmm
