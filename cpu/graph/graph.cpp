#include "graph/graph.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "threads/tasks.hpp"

namespace pairhmm {

void graph_scores(const GraphLevel& level, const SiteGraph& graph, const GraphReads& reads, int threads, double* scores,
                  const std::function<bool()>& interrupted) {
    // Reads of about the same length side by side.
    std::vector<int64_t> order(reads.count);
    std::iota(order.begin(), order.end(), 0);
    const auto length = [&](int64_t read) { return reads.offset[read + 1] - reads.offset[read]; };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return length(a) < length(b); });
    std::atomic<bool> stop{false};
    const int64_t lanes = level.lanes;
    run_short_tasks((reads.count + lanes - 1) / lanes, threads, stop, interrupted, [&](int64_t task) {
        const int64_t first = task * lanes;
        const int count = static_cast<int>(std::min(lanes, reads.count - first));
        level.forward(graph, reads, &order[first], count, scores);
    });
}

}  // namespace pairhmm
