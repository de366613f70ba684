// Base qualities of many reads as GATK prepares them: `prepare_base_quality` in pairhmm/models/gatk.py.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pairhmm {

// Qualities, at most `most` of each read; those below `threshold` become `lowest`.
//
// offset: [reads + 1]; most: [reads]; quality, prepared: [bases].
inline void prepare_base_qualities(int64_t reads, const int64_t* offset, const uint8_t* most, const uint8_t* quality,
                                   uint8_t threshold, uint8_t lowest, uint8_t* prepared) {
    for (int64_t read = 0; read < reads; ++read) {
        const uint8_t own = most[read];
        for (int64_t i = offset[read]; i < offset[read + 1]; ++i) {
            const uint8_t capped = std::min(quality[i], own);
            prepared[i] = capped < threshold ? lowest : capped;
        }
    }
}

}  // namespace pairhmm
