// Row parameters, as every kernel reads them: from GATK's quality bytes or from the rows of a general model.
#pragma once

#include <algorithm>

#include "forward/batch.hpp"

namespace pairhmm {

// Row `i` (flat index over the batch) of a general model, kRowSize doubles.
inline const double* row_at(const Batch& batch, int64_t i) {
    return batch.rows + (batch.kinds == nullptr ? i : batch.kinds[i]) * kRowSize;
}

// Whether a gap can end in every row of a read with qualities.
inline bool gaps_end(const Batch& batch, int64_t read) {
    for (int64_t i = batch.read_offset[read]; i < batch.read_offset[read + 1]; ++i) {
        if (batch.gap_quality[i] == 0) return false;
    }
    return true;
}

// Row `i` (flat index over the batch) as kRowSize doubles, as pairhmm/models/gatk.py defines them.
inline void load_row(const Batch& batch, int64_t i, double out[kRowSize]) {
    if (batch.base == nullptr) {
        std::copy_n(row_at(batch, i), kRowSize, out);
        return;
    }
    const double* error = batch.gatk.error;
    const double e = error[batch.base_quality[i]];
    const double ins = error[batch.insertion_quality[i]], del = error[batch.deletion_quality[i]];
    const double gap = error[batch.gap_quality[i]];
    const int letter = batch.base[i];
    for (int s = 0; s < 5; ++s) out[kEmission + s] = (s == letter || s == 4 || letter == 4) ? 1 - e : e / 3;
    out[kMM] = 1 - std::min(1.0, ins + del);
    out[kIM] = out[kDM] = 1 - gap;
    out[kMI] = ins;
    out[kMD] = del;
    out[kII] = out[kDD] = gap;
}

}  // namespace pairhmm
