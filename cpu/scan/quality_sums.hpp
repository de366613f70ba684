// Sums of Phred qualities over any stretch, from an exclusive prefix sum.
//
// The prefix sum is kept at every 64th base. In full it would be eight times the size of the qualities, and writing it
// would take about as long as finding the matches. A sum is the difference of two entries, and at most 63 bytes are
// added at either end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "threads/std_threads.hpp"

namespace pairhmm {

class QualitySums {
public:
    // qualities[bases], or null: every sum is 0 then.
    QualitySums(const uint8_t* qualities, int64_t bases, int threads) : qualities_(qualities) {
        if (qualities == nullptr) return;
        const int64_t blocks = bases / kBlock;
        before_.resize(static_cast<size_t>(blocks) + 1);
        run_shares(blocks, kBlocksPerShare, threads, [&](int64_t first, int64_t end) {
            for (int64_t b = first; b < end; ++b)
                before_[static_cast<size_t>(b) + 1] = add(qualities + b * kBlock, kBlock);
        });
        for (size_t b = 1; b < before_.size(); ++b) before_[b] += before_[b - 1];
    }

    // Of [begin, end).
    int64_t between(int64_t begin, int64_t end) const {
        return qualities_ == nullptr ? 0 : before(end) - before(begin);
    }

private:
    static constexpr int64_t kBlock = 64;
    static constexpr int64_t kBlocksPerShare = 1 << 12;

    static int64_t add(const uint8_t* from, int64_t count) {
        uint32_t sum = 0;
        for (int64_t i = 0; i < count; ++i) sum += from[i];
        return sum;
    }

    int64_t before(int64_t base) const {
        const int64_t block = base / kBlock;
        return before_[static_cast<size_t>(block)] + add(qualities_ + block * kBlock, base - block * kBlock);
    }

    const uint8_t* qualities_;
    std::vector<int64_t> before_;  // [blocks + 1] sum of all qualities before a block
};

}  // namespace pairhmm
