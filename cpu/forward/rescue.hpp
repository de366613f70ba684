// Which pairs of a batch float32 does not hold: they are scored again, in float64.
#pragma once

#include <cstdint>
#include <vector>

#include "forward/batch.hpp"

namespace pairhmm {

// The arithmetic of a score, as in Scores.precision (pairhmm/models/batch.py).
constexpr uint8_t kFloat32 = 0, kFloat64 = 1, kUnscored = 255;

// Pairs whose score is `what`, as reads and haplotypes of the batch.
struct ChosenPairs {
    std::vector<int64_t> pair, read, haplotype;

    template <class What>
    ChosenPairs(const Batch& batch, const double* log10, const What& what) {
        for (int64_t g = 0; g < batch.groups; ++g) {
            int64_t at = batch.group_pair[g];
            for (int64_t r = batch.group_read[g]; r < batch.group_read[g + 1]; ++r) {
                for (int64_t h = batch.group_hap[g]; h < batch.group_hap[g + 1]; ++h, ++at) {
                    if (!what(log10[at])) continue;
                    pair.push_back(at);
                    read.push_back(r);
                    haplotype.push_back(h);
                }
            }
        }
    }

    int64_t count() const { return static_cast<int64_t>(pair.size()); }
};

inline std::vector<uint8_t> reads_longer_than(const Batch& batch, int64_t longest) {
    std::vector<uint8_t> longer(batch.group_read[batch.groups]);
    for (size_t r = 0; r < longer.size(); ++r) longer[r] = batch.read_offset[r + 1] - batch.read_offset[r] > longest;
    return longer;
}

}  // namespace pairhmm
