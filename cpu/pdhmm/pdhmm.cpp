#include "pdhmm/pdhmm.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "forward/rows.hpp"
#include "threads/locks.hpp"
#include "threads/tasks.hpp"

namespace pairhmm {

namespace {

int64_t bases_of(const Batch& batch, int64_t read) { return batch.read_offset[read + 1] - batch.read_offset[read]; }
int64_t letters_of(const Batch& batch, int64_t hap) { return batch.hap_offset[hap + 1] - batch.hap_offset[hap]; }

// Reads of a group that share a vector.
struct PdTask {
    int64_t group, first;  // into the list of reads
    int count;
};

struct PdPlan {
    std::vector<int64_t> order;  // reads of each group: those that carry by length, then the others by length
    std::vector<PdTask> tasks;
};

// Adds reads of one kind, by length. The vector that is not full has the shortest ones.
void add_reads(std::vector<int64_t>& reads, int64_t group, const PdLevel& level, const Batch& batch, PdPlan& plan) {
    std::stable_sort(reads.begin(), reads.end(),
                     [&](int64_t a, int64_t b) { return bases_of(batch, a) < bases_of(batch, b); });
    const auto count = static_cast<int64_t>(reads.size()), rest = count % level.lanes;
    for (int64_t at = 0, end = rest > 0 ? rest : level.lanes; at < count; at = end, end += level.lanes) {
        plan.tasks.push_back({group, static_cast<int64_t>(plan.order.size()) + at, static_cast<int>(end - at)});
    }
    plan.order.insert(plan.order.end(), reads.begin(), reads.end());
}

PdPlan plan_of(const PdLevel& level, const Batch& batch, const uint8_t* skip_read) {
    PdPlan plan;
    std::vector<int64_t> carrying, others;
    for (int64_t g = 0; g < batch.groups; ++g) {
        carrying.clear();
        others.clear();
        for (int64_t r = batch.group_read[g]; r < batch.group_read[g + 1]; ++r) {
            if (!skip_read[r] && gaps_end(batch, r)) (pd_carries(batch, r) ? carrying : others).push_back(r);
        }
        add_reads(carrying, g, level, batch, plan);
        add_reads(others, g, level, batch, plan);
    }
    return plan;
}

// The tree of a group, made by its first task and dropped by its last one.
struct SharedTree {
    Once once;
    PdTree tree;
    std::atomic<int64_t> tasks_left{0};

    const PdTree& get(const Batch& batch, int64_t group) {
        once.call([&] { tree = pd_tree(batch, group); });
        return tree;
    }
    void leave() {
        if (--tasks_left == 0) tree = PdTree();
    }
};

}  // namespace

void pd_batch(const PdLevel& level, const Batch& batch, const uint8_t* skip_read, int threads, double* scores,
              const std::function<bool()>& interrupted) {
    const PdPlan plan = plan_of(level, batch, skip_read);
    std::vector<SharedTree> trees(batch.groups);
    for (const PdTask& task : plan.tasks) ++trees[task.group].tasks_left;
    std::atomic<bool> stop{false};
    run_short_tasks(static_cast<int64_t>(plan.tasks.size()), threads, stop, interrupted, [&](int64_t i) {
        const PdTask& task = plan.tasks[i];
        const int64_t* read = &plan.order[task.first];
        const int64_t haps = batch.group_hap[task.group + 1] - batch.group_hap[task.group];
        std::vector<double*> out(task.count);
        for (int l = 0; l < task.count; ++l) {
            out[l] = scores + batch.group_pair[task.group] + (read[l] - batch.group_read[task.group]) * haps;
        }
        const PdTree& tree = trees[task.group].get(batch, task.group);
        if (haps > 0)
            level.forward(batch, tree, batch.hap_offset + batch.group_hap[task.group], read, task.count, out.data());
        trees[task.group].leave();
    });
}

void pd_pairs(const PdLevel& level, const Batch& batch, int64_t count, const int64_t* read, const int64_t* hap,
              int threads, double* scores, const std::function<bool()>& interrupted) {
    // Pairs of about the same size side by side.
    std::vector<int64_t> order(count), of_read(count), of_hap(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const int64_t rows_a = bases_of(batch, read[a]), rows_b = bases_of(batch, read[b]);
        return rows_a != rows_b ? rows_a < rows_b : letters_of(batch, hap[a]) < letters_of(batch, hap[b]);
    });
    for (int64_t i = 0; i < count; ++i) of_read[i] = read[order[i]], of_hap[i] = hap[order[i]];
    std::vector<double> ordered(count);
    std::atomic<bool> stop{false};
    const int64_t lanes = level.wide_lanes;
    run_short_tasks((count + lanes - 1) / lanes, threads, stop, interrupted, [&](int64_t task) {
        const int64_t first = task * lanes;
        const int size = static_cast<int>(std::min(lanes, count - first));
        level.forward_wide(batch, {&of_read[first], &of_hap[first], size}, &ordered[first]);
    });
    for (int64_t i = 0; i < count; ++i) scores[order[i]] = ordered[i];
}

int64_t pd_computed_cells(const Batch& batch, int64_t longest) {
    int64_t cells = 0;
    for (int64_t g = 0; g < batch.groups; ++g) {
        const auto columns = static_cast<int64_t>(pd_tree(batch, g).columns.size());
        const int64_t letters = batch.hap_offset[batch.group_hap[g + 1]] - batch.hap_offset[batch.group_hap[g]];
        for (int64_t r = batch.group_read[g]; r < batch.group_read[g + 1]; ++r) {
            const int64_t rows = bases_of(batch, r);
            cells += rows * (rows <= longest ? columns : letters);
        }
    }
    return cells;
}

}  // namespace pairhmm
