#include "graph/graph.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "forward/rows.hpp"
#include "threads/tasks.hpp"

namespace pairhmm {

namespace {

int64_t read_length(const Batch& batch, int64_t read) { return batch.read_offset[read + 1] - batch.read_offset[read]; }

// Reads, of about the same length side by side.
std::vector<int64_t> by_length(const Batch& batch) {
    std::vector<int64_t> order(batch.group_read[batch.groups]);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return read_length(batch, a) < read_length(batch, b); });
    return order;
}

std::vector<double> read_rows(const Batch& batch, int64_t read) {
    std::vector<double> rows(read_length(batch, read) * kRowSize);
    for (int64_t i = 0; i < read_length(batch, read); ++i)
        load_row(batch, batch.read_offset[read] + i, &rows[i * kRowSize]);
    return rows;
}

}  // namespace

void graph_scores(const GraphLevel& level, const SiteGraph& graph, const Batch& batch, int threads, double* scores,
                  const std::function<bool()>& interrupted) {
    const std::vector<int64_t> order = by_length(batch);
    const auto count = static_cast<int64_t>(order.size());
    std::atomic<bool> stop{false};
    run_short_tasks((count + level.lanes - 1) / level.lanes, threads, stop, interrupted, [&](int64_t task) {
        const int64_t first = task * level.lanes, end = std::min(first + level.lanes, count);
        std::vector<std::vector<double>> rows;
        std::vector<GraphRead> reads;
        for (int64_t at = first; at < end; ++at) {
            rows.push_back(read_rows(batch, order[at]));
            reads.push_back({rows.back().data(), read_length(batch, order[at])});
        }
        std::vector<double> found(reads.size());
        level.forward(graph, reads.data(), static_cast<int>(reads.size()), found.data());
        for (int64_t at = first; at < end; ++at) scores[order[at]] = found[at - first];
    });
}

}  // namespace pairhmm
