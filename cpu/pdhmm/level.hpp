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

// Whether a read has one gap quality, with which a gap can end. Vectors have reads that all are, or all are not.
inline bool pd_is_even(const Batch& batch, int64_t read) {
    const uint8_t* const gap = batch.gap_quality;
    const int64_t first = batch.read_offset[read], end = batch.read_offset[read + 1];
    uint8_t differs = 0;
    for (int64_t i = first + 1; i < end; ++i) differs |= gap[i] ^ gap[first];
    return differs == 0 && gap[first] > 0;
}

struct PdLevel {
    int lanes, wide_lanes;
    // Scores (log10) of `count` reads, one a lane, against the haplotypes of a tree, whose letters begin at hap_offset:
    // those of read[l] go to scores[l][haplotype]. A sum that is too small for float32 becomes NaN.
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
