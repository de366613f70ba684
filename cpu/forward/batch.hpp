// The pair-HMM forward algorithm on the CPU: what a kernel is given, and what an instruction set provides.
//
// One recurrence (see docs/model.md), many instruction sets: forward/kernel.hpp holds the arithmetic over a vector
// type, forward/<level>.cpp compiles it for one level on its own target, and dispatch.cpp picks the level at run time.
#pragma once

#include <atomic>
#include <cstdint>

namespace pairhmm {

// Row parameters of a general model: emission of A C G T N, then mm im dm mi ii md dd (probabilities).
constexpr int kRowSize = 12;
enum RowField { kEmission = 0, kMM = 5, kIM, kDM, kMI, kII, kMD, kDD };

// Phred tables made once in Python (models/gatk.py), so that no constant of the model stands here.
struct GatkTables {
    const double* error;  // [256] 10^(-Q/10)
};

struct Batch {
    int64_t groups;
    const int64_t* group_read;   // [groups + 1] first read of a group
    const int64_t* group_hap;    // [groups + 1] first haplotype of a group
    const int64_t* group_pair;   // [groups + 1] first score of a group; scores are row-major (read, haplotype)
    const int64_t* read_offset;  // [reads + 1] first row of a read
    const int64_t* hap_offset;   // [haplotypes + 1] first letter of a haplotype
    const uint8_t* hap;          // letters, 0..4
    // Either GATK reads, five bytes a base ...
    const uint8_t* base;          // 0..4
    const uint8_t* base_quality;  // Phred
    const uint8_t* insertion_quality;
    const uint8_t* deletion_quality;
    const uint8_t* gap_quality;
    GatkTables gatk;
    // ... or general rows, kRowSize doubles a read position (then `base` is null).
    const double* rows;
    // Row 0; D[0,j] is 1/n for every j >= 1.
    double start_match;     // M[0,0]
    double start_deletion;  // D[0,0] as a multiple of 1/n: 1 or 0
};

// The reads of one group that fill the lanes of one vector, all against each haplotype of the group.
struct Tile {
    int64_t group;
    int64_t first;  // into the list of reads ordered by length
    int32_t count;  // lanes used
    bool folded;    // one gap continuation along each read: the cheaper recurrence
    bool plain;     // a row whose deletion can't be opened: the dearest recurrence
};

struct Level {
    int lanes;  // float32 lanes of a vector
    // Whether reads with this one gap continuation probability may take the folded form.
    bool (*folds)(double eps);
    // Scores (log10) of a tile; a sum too small for float32 becomes NaN and is left to forward_wide.
    void (*forward)(const Batch&, const Tile&, const int64_t* read_order, double* scores);
    // One pair in float64 with block exponents, any length and any score.
    double (*forward_wide)(const Batch&, int64_t read, int64_t hap, int threads, const std::atomic<bool>& stop);
};

const Level* level_x86_64_v2();
const Level* level_avx2();
const Level* level_avx512();
const Level* level_neon();

}  // namespace pairhmm
