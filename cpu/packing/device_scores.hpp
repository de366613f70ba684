// Scores from the sums that a device's kernels leave (pairhmm/backends/webgpu/backend.py).
#pragma once

#include <cstdint>

#include "threads/pool.hpp"

namespace pairhmm {

struct DeviceSums {
    int64_t groups;
    const int64_t* group_read;       // [groups + 1]
    const int64_t* group_haplotype;  // [groups + 1]
    const int64_t* group_pair;       // [groups + 1]
    const uint32_t* sums;            // [pairs][2] bits of a float32, 0 for none, and its exponent of 2
};

// The base of a read's sums: a log10 that the host knows, and units that the device adds to it.
struct KeptOfReads {
    const double* log10;    // [reads], or null where it is 0
    const uint32_t* added;  // [reads][2] coarse (signed), fine
    int coarse_bits;        // fine units of a coarse one, as a power of 2
    double fine_unit;
};

// Precision codes: `fast` for a sum with the exponent that the fast kernel starts from, `scaled` for one with another
// exponent, `unscored` where there is no sum.
struct PrecisionCodes {
    int32_t started_at;
    uint8_t fast, scaled, unscored;
};

// log10 (float64) and precision of each pair; NaN where there is no sum. Returns whether all have one.
bool device_scores(const DeviceSums& sums, const KeptOfReads& kept, const PrecisionCodes& codes, ThreadPool& pool,
                   double* log10, uint8_t* precision);

}  // namespace pairhmm
