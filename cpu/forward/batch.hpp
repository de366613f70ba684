// The pair-HMM forward algorithm on the CPU: the pairs that a kernel is given.
//
// There is one recurrence (docs/model.md): forward/kernel.hpp has the arithmetic over a vector type, forward/level.cpp
// is compiled once for each instruction set, and forward/dispatch.cpp picks the level at run time.
#pragma once

#include <cstdint>

namespace pairhmm {

// Row parameters of a general model: emission of A C G T N, then mm im dm mi ii md dd (probabilities).
constexpr int kRowSize = 12;
enum RowField { kEmission = 0, kMM = 5, kIM, kDM, kMI, kII, kMD, kDD };

// A float32 sum below this has lost digits to underflow. Python's is LEAST_SUM of pairhmm/models/scaling.py.
constexpr float kLowestSum = 1e-28f;

// Tables of the model, made once in Python (pairhmm/models/gatk.py): no constant of the model stands here.
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
    // [letters] of partially determined haplotypes (pdhmm/columns.hpp), or null. With flags, letters of haplotypes and
    // of reads, which have qualities, are 8 more in lower case.
    const uint8_t* flags;
    // Either GATK reads, five bytes a base ...
    const uint8_t* base;          // 0..4
    const uint8_t* base_quality;  // Phred
    const uint8_t* insertion_quality;
    const uint8_t* deletion_quality;
    const uint8_t* gap_quality;
    GatkTables gatk;
    // ... or general rows, kRowSize doubles each (then `base` is null): one a read position, or, where `kinds` names
    // the row at each position, each distinct row once. All rows with kinds have the same im, dm and dd.
    const double* rows;
    const uint16_t* kinds;
    // Row 0; D[0,j] is 1/n for every j >= 1.
    double start_match;     // M[0,0]
    double start_deletion;  // D[0,0] as a multiple of 1/n: 1 or 0
};

}  // namespace pairhmm
