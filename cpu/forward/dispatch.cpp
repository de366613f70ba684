#include "forward/dispatch.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "forward/rescue.hpp"
#include "forward/rows.hpp"
#include "forward/trees.hpp"
#include "threads/locks.hpp"
#include "threads/tasks.hpp"

namespace pairhmm {

std::vector<NamedLevel> levels() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    const bool avx2 =
        v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return {{"x86-64-v2", level_x86_64_v2(), v2}, {"avx2", level_avx2(), avx2}, {"avx512", level_avx512(), avx512}};
#elif defined(__aarch64__)
    return {{"neon", level_neon(), true}};
#elif defined(__wasm__)
    return {{"wasm", level_wasm(), true}};
#else
    return {};
#endif
}

namespace {

// Reads of each group ordered by kind, then length, so that a tile's lanes end close together.
struct Plan {
    std::vector<int64_t> order;
    std::vector<Tile> tiles;
};

Kind kind_of_rows(const Level& level, const Batch& batch, int64_t first, int64_t end) {
    const double* const first_row = row_at(batch, first);
    bool constant = first_row[kIM] > 0 && first_row[kDM] > 0, opens = first_row[kMD] > 0, all_open = opens,
         inserts = first_row[kMI] > 0;
    double ii = first_row[kII], highest = ii;
    for (int64_t i = first + 1; i < end; ++i) {
        const double* row = row_at(batch, i);
        ii = std::min(ii, row[kII]);
        highest = std::max(highest, row[kII]);
        opens = opens || row[kMD] > 0;
        inserts = inserts && row[kMI] > 0;
        all_open = all_open && row[kMD] > 0;
        if (batch.kinds != nullptr) continue;
        for (int k : {kIM, kDM, kDD}) constant = constant && row[k] == first_row[k];
    }
    const double dd = opens ? first_row[kDD] : 1;
    const bool folds = constant && inserts && highest < 1 && ii > 0 && dd > 0 && level.folds(ii, dd);
    if (!all_open) return folds && !opens ? kUnopened : kPlain;
    return folds ? kFolded : kGeneral;
}

Kind kind_of(const Level& level, const Batch& batch, int64_t read) {
    const int64_t first = batch.read_offset[read], end = batch.read_offset[read + 1];
    if (batch.base == nullptr) return kind_of_rows(level, batch, first, end);
    const uint8_t* gap = batch.gap_quality;
    uint8_t differs = 0;
    for (int64_t i = first + 1; i < end; ++i) differs |= gap[i] ^ gap[first];
    const bool constant = differs == 0;
    const double eps = batch.gatk.error[gap[first]];
    return constant && level.folds(eps, eps) ? kFolded : kGeneral;
}

// Approximate positions of reads in the first haplotype of their group: that of their first word that occurs in it.
class ReadPositions {
public:
    ReadPositions(const Batch& batch, int64_t group) : batch_(batch), position_of_(kSize, 0) {
        const int64_t first = batch.hap_offset[batch.group_hap[group]];
        const int64_t letters = batch.hap_offset[batch.group_hap[group] + 1] - first;
        for (int64_t at = 0; at + kWord <= letters; ++at) {
            position_of_[hash(batch.hap + first + at)] = static_cast<int32_t>(at + 1);
        }
    }
    int64_t of(int64_t read) const {
        const int64_t first = batch_.read_offset[read], letters = batch_.read_offset[read + 1] - first;
        for (int64_t at = 0; at + kWord <= letters; at += kWord) {
            const int32_t position = position_of_[hash(batch_.base + first + at)];
            if (position > 0) return position - at;
        }
        return 0;
    }

private:
    static constexpr int64_t kWord = 12, kSize = 1 << 12;
    static uint32_t hash(const uint8_t* letters) {
        uint32_t code = 0;
        for (int64_t i = 0; i < kWord; ++i) code = code * 5 + letters[i];
        return code * 2654435761u >> 20;
    }
    const Batch& batch_;
    std::vector<int32_t> position_of_;
};

// Puts reads of the same kind and length that lie alike side by side: a tile's reads then leave the same columns of the
// matrix dead (forward/dead_blocks.hpp).
void sort_by_position(const Batch& batch, int64_t group, std::vector<std::pair<int64_t, int64_t>>& keyed) {
    const ReadPositions positions(batch, group);
    std::vector<std::pair<int64_t, int64_t>> placed;  // (position, read)
    for (auto from = keyed.begin(); from != keyed.end();) {
        const auto end = std::find_if(from, keyed.end(), [&](const auto& entry) { return entry.first != from->first; });
        placed.clear();
        for (auto at = from; at != end; ++at) placed.emplace_back(positions.of(at->second), at->second);
        std::sort(placed.begin(), placed.end());
        for (const auto& entry : placed) (from++)->second = entry.second;
    }
}

Plan make_plan(const Level& level, const Batch& batch, const uint8_t* skip_read) {
    Plan plan;
    std::vector<std::pair<int64_t, int64_t>> keyed;  // (kind and length, read)
    for (int64_t g = 0; g < batch.groups; ++g) {
        keyed.clear();
        for (int64_t r = batch.group_read[g]; r < batch.group_read[g + 1]; ++r) {
            if (skip_read[r]) continue;
            const int64_t length = batch.read_offset[r + 1] - batch.read_offset[r];
            keyed.emplace_back(kind_of(level, batch, r) * (int64_t{1} << 40) + length, r);
        }
        std::sort(keyed.begin(), keyed.end());
        if (level.leaves_out && batch.base != nullptr) sort_by_position(batch, g, keyed);
        const size_t lanes = static_cast<size_t>(level.lanes);
        for (size_t at = 0; at < keyed.size();) {
            const int64_t kind = keyed[at].first >> 40;
            size_t of_kind = at;
            while (of_kind < keyed.size() && keyed[of_kind].first >> 40 == kind) ++of_kind;
            // The tile that is not full has the shortest reads, so that the fewest rows have empty lanes.
            const size_t rest = (of_kind - at) % lanes;
            for (size_t end = at + (rest > 0 ? rest : lanes); at < of_kind; end += lanes) {
                plan.tiles.push_back({g, static_cast<int64_t>(plan.order.size()), static_cast<int32_t>(end - at),
                                      static_cast<Kind>(kind)});
                for (; at < end; ++at) plan.order.push_back(keyed[at].second);
            }
        }
    }
    return plan;
}

std::vector<Trees> trees_of_group(const Batch& batch, int64_t group, const uint8_t* skip_haplotype = nullptr) {
    std::vector<int64_t> haplotypes;
    haplotypes.reserve(batch.group_hap[group + 1] - batch.group_hap[group]);
    for (int64_t h = batch.group_hap[group]; h < batch.group_hap[group + 1]; ++h) {
        if (skip_haplotype == nullptr || !skip_haplotype[h]) haplotypes.push_back(h);
    }
    return make_trees(batch.hap, batch.hap_offset, haplotypes, batch.start_match > 0);
}

// The trees of a group, made by its first tile and dropped by its last one.
struct GroupTrees {
    Once once;
    std::vector<Trees> trees;
    std::atomic<int64_t> tiles_left{0};

    const std::vector<Trees>& get(const Batch& batch, int64_t group, const uint8_t* skip_haplotype) {
        once.call([&] { trees = trees_of_group(batch, group, skip_haplotype); });
        return trees;
    }
    void leave() {
        if (--tiles_left == 0) std::vector<Trees>().swap(trees);
    }
};

}  // namespace

void forward_batch(const Level& level, const Batch& batch, const uint8_t* skip_read, int threads, double* scores,
                   const std::function<bool()>& interrupted, const uint8_t* skip_haplotype) {
    const Plan plan = make_plan(level, batch, skip_read);
    std::vector<GroupTrees> trees(batch.groups);
    for (const Tile& tile : plan.tiles) ++trees[tile.group].tiles_left;
    std::atomic<bool> stop{false};
    run_short_tasks(static_cast<int64_t>(plan.tiles.size()), threads, stop, interrupted, [&](int64_t i) {
        const Tile& tile = plan.tiles[i];
        GroupTrees& of_group = trees[tile.group];
        level.forward(batch, tile, of_group.get(batch, tile.group, skip_haplotype), plan.order.data(), scores);
        of_group.leave();
    });
}

int64_t computed_cells(const Batch& batch, int64_t longest) {
    int64_t cells = 0;
    for (int64_t g = 0; g < batch.groups; ++g) {
        int64_t columns = 0;
        for (const Trees& trees : trees_of_group(batch, g)) {
            columns += trees.left.columns() + trees.right.columns() + static_cast<int64_t>(trees.paths.size());
        }
        const int64_t letters = batch.hap_offset[batch.group_hap[g + 1]] - batch.hap_offset[batch.group_hap[g]];
        for (int64_t r = batch.group_read[g]; r < batch.group_read[g + 1]; ++r) {
            const int64_t rows = batch.read_offset[r + 1] - batch.read_offset[r];
            cells += rows * (rows <= longest ? columns : letters);
        }
    }
    return cells;
}

void forward_pairs(const Level& level, const Batch& batch, int64_t count, const int64_t* read, const int64_t* hap,
                   int threads, double* scores, const std::function<bool()>& interrupted) {
    // A pair this large takes every thread for itself; smaller ones are shared out.
    constexpr int64_t kOwnThreads = int64_t{1} << 22;  // cells
    std::atomic<bool> stop{false};
    std::vector<int64_t> small, large;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t m = batch.read_offset[read[i] + 1] - batch.read_offset[read[i]];
        const int64_t n = batch.hap_offset[hap[i] + 1] - batch.hap_offset[hap[i]];
        (m * n >= kOwnThreads ? large : small).push_back(i);
    }
    run_short_tasks(static_cast<int64_t>(small.size()), threads, stop, interrupted, [&](int64_t at) {
        const int64_t i = small[at];
        scores[i] = level.forward_wide(batch, read[i], hap[i], 1, stop);
    });
    run_tasks(static_cast<int64_t>(large.size()), 1, stop, interrupted, [&](int64_t at) {
        const int64_t i = large[at];
        scores[i] = level.forward_wide(batch, read[i], hap[i], threads, stop);
    });
}

void score_batch(const Level& level, const Batch& batch, int64_t longest, int threads, double* log10,
                 uint8_t* precision, const std::function<bool()>& interrupted) {
    const auto is_unscored = [](double score) { return std::isnan(score); };
    const int64_t pairs = batch.group_pair[batch.groups];
    std::fill(log10, log10 + pairs, std::nan(""));
    std::fill(precision, precision + pairs, kFloat32);
    bool stopped = false;
    forward_batch(level, batch, reads_longer_than(batch, longest).data(), threads, log10,
                  [&] { return stopped = interrupted(); });
    if (stopped) return;
    const ChosenPairs left(batch, log10, is_unscored);
    std::vector<double> rescued(left.pair.size(), std::nan(""));
    forward_pairs(level, batch, left.count(), left.read.data(), left.haplotype.data(), threads, rescued.data(),
                  interrupted);
    for (size_t i = 0; i < rescued.size(); ++i) {
        log10[left.pair[i]] = rescued[i];
        precision[left.pair[i]] = is_unscored(rescued[i]) ? kUnscored : kFloat64;
    }
}

}  // namespace pairhmm
