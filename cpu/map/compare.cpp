#include "map/compare.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>

#include "threads/tasks.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kTaskQueries = 64, kTaskTargets = 1024;
constexpr int64_t kNearTargets = 256;               // between two looks at what is near
constexpr int64_t kCachedBytes = int64_t{1} << 18;  // of targets that stay in a cache while all queries of a task pass

// The nearest targets of one query so far.
class Nearest {
public:
    void begin(int64_t wanted) {
        wanted_ = static_cast<size_t>(wanted);
        keys_.clear();
    }

    // Equal slots of `count` targets from `first` on, which come after all that were added before.
    void add(const uint16_t* equal, int64_t first, int64_t count) {
        for (int64_t t = 0; t < count; ++t) {
            if (keys_.size() == wanted_ && equal[t] <= keys_.front() >> 32) continue;
            if (keys_.size() == wanted_) {
                std::pop_heap(keys_.begin(), keys_.end(), std::greater<>());
                keys_.pop_back();
            }
            keys_.push_back(uint64_t{equal[t]} << 32 | static_cast<uint32_t>(INT32_MAX - (first + t)));
            std::push_heap(keys_.begin(), keys_.end(), std::greater<>());
        }
    }

    void write(int32_t* nearest, uint16_t* equal) {
        std::sort(keys_.begin(), keys_.end(), std::greater<>());
        for (size_t i = 0; i < wanted_; ++i) {
            nearest[i] = i < keys_.size() ? INT32_MAX - static_cast<int32_t>(keys_[i] & 0xffffffff) : -1;
            equal[i] = i < keys_.size() ? static_cast<uint16_t>(keys_[i] >> 32) : 0;
        }
    }

private:
    size_t wanted_ = 0;
    std::vector<uint64_t> keys_;  // a heap, the farthest first: equal slots, and below them how early a target is
};

int64_t parts(int64_t whole, int64_t size) { return (whole + size - 1) / size; }

}  // namespace

std::vector<NamedCompareLevel> compare_levels() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    const bool avx2 =
        v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    const bool counts = avx512 && __builtin_cpu_supports("avx512vpopcntdq");
    return {{"x86-64-v2", compare_level_x86_64_v2(), v2},
            {"avx2", compare_level_avx2(), avx2},
            {"avx512", compare_level_avx512(), avx512},
            {"avx512 vpopcntdq", compare_level_avx512_vpopcntdq(), counts}};
#elif defined(__aarch64__)
    return {{"neon", compare_level_neon(), true}};
#else
    return {};
#endif
}

SketchComparison::SketchComparison(const std::string& level, const SketchShape& shape)
    : shape_(shape), level_(nullptr) {
    for (const NamedCompareLevel& known : compare_levels()) {
        if (shape.words % known.level->words == 0) level_ = known.level;
        if (known.name == level) return;
    }
    throw std::invalid_argument("no such SIMD level in this build: " + level);
}

void SketchComparison::compare(const SketchSet& queries, int64_t first, int64_t end, const SketchSet& targets,
                               int64_t first_target, int64_t end_target, uint16_t* found, int64_t stride) const {
    uint16_t unused[kTaskTargets];
    for (int64_t query = first; query < end; query += level_->queries) {
        const uint64_t* planes[kMostQueries];
        uint16_t* rows[kMostQueries];
        for (int64_t q = 0; q < level_->queries; ++q) {
            const bool is_there = query + q < end;
            planes[q] = queries.planes + (is_there ? query + q : query) * shape_.size();
            rows[q] = is_there ? found + (query + q - first) * stride : unused;
        }
        level_->compare(shape_, planes, targets.planes + first_target * shape_.size(), end_target - first_target, rows);
    }
}

void SketchComparison::equal_slots(const SketchSet& queries, const SketchSet& targets, int threads, uint16_t* found,
                                   const Interrupted& interrupted) const {
    const int64_t cached = std::clamp<int64_t>(kCachedBytes / (8 * shape_.size()), 8, kTaskTargets);
    const int64_t across = parts(targets.count, kTaskTargets);
    std::atomic<bool> stop{false};
    run_short_tasks(parts(queries.count, kTaskQueries) * across, threads, stop, interrupted, [&](int64_t task) {
        const int64_t first = task / across * kTaskQueries, end = std::min(first + kTaskQueries, queries.count);
        const int64_t begin = task % across * kTaskTargets, limit = std::min(begin + kTaskTargets, targets.count);
        for (int64_t at = begin; at < limit; at += cached)
            compare(queries, first, end, targets, at, std::min(at + cached, limit), found + first * targets.count + at,
                    targets.count);
    });
}

void SketchComparison::nearest(const SketchSet& queries, const SketchSet& targets, int64_t wanted, int threads,
                               int32_t* nearest, uint16_t* equal, const Interrupted& interrupted) const {
    const int64_t cached = std::clamp<int64_t>(kCachedBytes / (8 * shape_.size()), 8, kNearTargets);
    std::atomic<bool> stop{false};
    run_short_tasks(parts(queries.count, kTaskQueries), threads, stop, interrupted, [&](int64_t task) {
        const int64_t first = task * kTaskQueries, end = std::min(first + kTaskQueries, queries.count);
        std::vector<Nearest> near(static_cast<size_t>(end - first));
        std::vector<uint16_t> found(static_cast<size_t>((end - first) * cached));
        for (Nearest& of_query : near) of_query.begin(wanted);
        for (int64_t at = 0; at < targets.count && !stop; at += cached) {
            const int64_t limit = std::min(at + cached, targets.count);
            compare(queries, first, end, targets, at, limit, found.data(), cached);
            for (int64_t query = first; query < end; ++query)
                near[query - first].add(found.data() + (query - first) * cached, at, limit - at);
        }
        for (int64_t query = first; query < end; ++query)
            near[query - first].write(nearest + query * wanted, equal + query * wanted);
    });
}

}  // namespace pairhmm
