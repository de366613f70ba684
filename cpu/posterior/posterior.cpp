#include "posterior/posterior.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <numeric>
#include <vector>

#include "threads/std_threads.hpp"

namespace pairhmm {
namespace {

// Pairs first..end-1, sorted by length and width, so that the pairs of a vector have similar sizes.
std::vector<int64_t> ordered(const PairSet& set, int64_t first, int64_t end) {
    std::vector<int64_t> order(end - first);
    std::iota(order.begin(), order.end(), first);
    const auto length = [](const int64_t* offset, int64_t at) { return offset[at + 1] - offset[at]; };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const int64_t m = length(set.read_offset, set.read[a]), other = length(set.read_offset, set.read[b]);
        return m != other ? m < other : length(set.hap_offset, set.hap[a]) < length(set.hap_offset, set.hap[b]);
    });
    return order;
}

// Runs task(first, end) over [0, count) in shares of `size`. If a worker lacks memory, the caller gets the error.
template <class Task>
void run_pieces(int64_t count, int64_t size, int threads, const Task& task) {
    std::atomic<bool> failed{false};
    run_shares(count, size, threads, [&](int64_t first, int64_t end) {
        try {
            if (!failed) task(first, end);
        } catch (const std::bad_alloc&) {
            failed = true;
        }
    });
    if (failed) throw std::bad_alloc();
}

}  // namespace

void expected_counts(const PosteriorLevel& level, const PairSet& set, int64_t symbols, int64_t places, int64_t block,
                     int threads, double* counts, double* log10) {
    const int64_t size = counts_size(symbols, places);
    run_pieces(set.pairs, block, threads, [&](int64_t first, int64_t end) {
        ExpectedCounts sums{};
        if (counts != nullptr) {
            double* block_counts = counts + first / block * size;
            std::fill_n(block_counts, size, 0.0);
            sums = {block_counts, block_counts + symbols * 5, block_counts + symbols * kEmissions};
        }
        const std::vector<int64_t> order = ordered(set, first, end);
        for (int64_t at = 0; at < end - first; at += level.lanes) {
            const int lanes = static_cast<int>(std::min<int64_t>(level.lanes, end - first - at));
            level.run(set, order.data() + at, lanes, counts == nullptr ? nullptr : &sums, nullptr, log10);
        }
    });
}

void posteriors(const PosteriorLevel& level, const PairSet& set, const int64_t* at, int threads, double* match,
                double* insertion, double* deletion, double* log10) {
    const std::vector<int64_t> order = ordered(set, 0, set.pairs);
    run_pieces(set.pairs, level.lanes, threads, [&](int64_t first, int64_t end) {
        std::vector<Posteriors> out;
        for (int64_t k = first; k < end; ++k) {
            const int64_t begin = at[order[k]];
            out.push_back({match + begin, insertion + begin, deletion + begin});
        }
        level.run(set, order.data() + first, static_cast<int>(end - first), nullptr, out.data(), log10);
    });
}

}  // namespace pairhmm
