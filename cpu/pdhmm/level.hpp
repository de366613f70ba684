// What an instruction set provides to partially determined haplotypes; pdhmm/level.cpp makes it over a vector width.
#pragma once

#include <cstdint>

#include "forward/batch.hpp"
#include "pdhmm/columns.hpp"

namespace pairhmm {

// Reads and haplotypes that share a vector, one pair a lane.
struct PdPairs {
    const int64_t* read;
    const int64_t* hap;
    int count;
};

// The highest gap quality of a read that carries (pdhmm/kernel.hpp). Vectors have reads that all do, or all do not.
constexpr uint8_t kHighestCarried = 20;
inline bool pd_carries(const Batch& batch, int64_t read) {
    for (int64_t i = batch.read_offset[read]; i < batch.read_offset[read + 1]; ++i) {
        if (batch.gap_quality[i] > kHighestCarried) return false;
    }
    return true;
}

struct PdLevel {
    int lanes, wide_lanes;
    // Scores (log10) of `count` reads, one a lane, against the haplotypes of a tree, whose letters begin at hap_offset:
    // those of read[l] go to scores[l][haplotype]. Gaps end in all of them (forward/rows.hpp). A sum that is too small
    // for float32 becomes NaN.
    void (*forward)(const Batch&, const PdTree&, const int64_t* hap_offset, const int64_t* read, int count,
                    double* const* scores);
    // Pairs in float64 with an exponent a cell, any length and any score.
    void (*forward_wide)(const Batch&, const PdPairs&, double* scores);
};

const PdLevel* pd_level_x86_64_v2();
const PdLevel* pd_level_avx2();
const PdLevel* pd_level_avx512();
const PdLevel* pd_level_neon();
const PdLevel* pd_level_wasm();

}  // namespace pairhmm
