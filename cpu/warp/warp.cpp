#include "warp/warp.hpp"

#include <atomic>
#include <vector>

#include "threads/tasks.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kTaskCells = int64_t{1} << 20;  // of a thread's task, at least: a tenth of a millisecond

// Where tasks of consecutive pairs begin, and where the last one ends.
std::vector<int64_t> task_bounds(const SignalPairs& pairs) {
    std::vector<int64_t> bounds{0};
    int64_t cells = 0;
    for (int64_t i = 0; i < pairs.count; ++i) {
        cells += pairs.queries.length(pairs.query[i]) * pairs.targets.length(pairs.target[i]);
        if (cells < kTaskCells && i + 1 < pairs.count) continue;
        bounds.push_back(i + 1);
        cells = 0;
    }
    return bounds;
}

}  // namespace

void warp_pairs(const WarpLevel& level, const SignalPairs& pairs, const WarpRules& rules, int threads,
                const Warpings& warpings, const std::function<bool()>& interrupted) {
    const std::vector<int64_t> bounds = task_bounds(pairs);
    std::atomic<bool> stop{false};
    const auto task = [&](int64_t number) {
        for (int64_t i = bounds[number]; i < bounds[number + 1] && !stop; ++i) {
            const int64_t query = pairs.query[i], target = pairs.target[i];
            const Warping found =
                level.warp({pairs.queries.level + pairs.queries.offset[query], pairs.queries.length(query),
                            pairs.targets.level + pairs.targets.offset[target], pairs.targets.length(target)},
                           rules);
            warpings.cost[i] = found.cost;
            warpings.start[i] = static_cast<int32_t>(found.start);
            warpings.end[i] = static_cast<int32_t>(found.end);
        }
    };
    run_short_tasks(static_cast<int64_t>(bounds.size()) - 1, threads, stop, interrupted, task);
}

}  // namespace pairhmm
