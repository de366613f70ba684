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

using ReadsOfTile = std::vector<int64_t>;  // that share a vector

// Reads of one kind, of about the same length side by side.
void add_tasks(std::vector<int64_t> reads, const Batch& batch, int lanes, std::vector<ReadsOfTile>& tasks) {
    std::stable_sort(reads.begin(), reads.end(),
                     [&](int64_t a, int64_t b) { return read_length(batch, a) < read_length(batch, b); });
    const auto count = static_cast<int64_t>(reads.size());
    for (int64_t first = 0; first < count; first += lanes) {
        tasks.emplace_back(reads.begin() + first, reads.begin() + std::min(first + lanes, count));
    }
}

std::vector<ReadsOfTile> tasks_of(const Batch& batch, int lanes) {
    std::vector<int64_t> reads(batch.group_read[batch.groups]);
    std::iota(reads.begin(), reads.end(), 0);
    const auto others =
        std::stable_partition(reads.begin(), reads.end(), [&](int64_t read) { return gaps_end(batch, read); });
    std::vector<ReadsOfTile> tasks;
    add_tasks({reads.begin(), others}, batch, lanes, tasks);
    add_tasks({others, reads.end()}, batch, lanes, tasks);
    return tasks;
}

}  // namespace

void graph_scores(const GraphLevel& level, const SiteGraph& graph, const Batch& batch, int threads, double* scores,
                  const std::function<bool()>& interrupted) {
    const std::vector<ReadsOfTile> tasks = tasks_of(batch, level.lanes);
    std::atomic<bool> stop{false};
    run_short_tasks(static_cast<int64_t>(tasks.size()), threads, stop, interrupted, [&](int64_t task) {
        const std::vector<int64_t>& reads = tasks[task];
        std::vector<double> found(reads.size());
        level.forward(graph, batch, reads.data(), static_cast<int>(reads.size()), found.data());
        for (size_t l = 0; l < reads.size(); ++l) scores[reads[l]] = found[l];
    });
}

}  // namespace pairhmm
