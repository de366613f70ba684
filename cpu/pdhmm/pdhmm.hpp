// Scores of partially determined haplotypes on one level of the CPU, as forward/dispatch.hpp of others.
#pragma once

#include <cstdint>
#include <functional>

#include "forward/batch.hpp"
#include "pdhmm/level.hpp"

namespace pairhmm {

// float32 scores (log10) of every pair whose read is not skipped; NaN where float32 does not hold the sum.
void pd_batch(const PdLevel& level, const Batch& batch, const uint8_t* skip_read, int threads, double* scores,
              const std::function<bool()>& interrupted);

// float64 scores of single pairs, of any length and range.
void pd_pairs(const PdLevel& level, const Batch& batch, int64_t count, const int64_t* read, const int64_t* hap,
              int threads, double* scores, const std::function<bool()>& interrupted);

// Cells that pd_batch computes for reads of up to `longest` bases, and whole matrices of the others.
int64_t pd_computed_cells(const Batch& batch, int64_t longest);

}  // namespace pairhmm
