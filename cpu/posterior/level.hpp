// What an instruction set provides to forward-backward; posterior/level.cpp makes it over a vector width.
#pragma once

#include <cstdint>

namespace pairhmm {

constexpr int kEmissions = 6;    // a symbol's: beside A C G T N, and as an insertion
constexpr int kTransitions = 7;  // a place's: mm im dm mi ii md dd, without an insertion's emission

// Pairs of a read and a haplotype. A read's row i is made of two tables: the emissions of its symbol (a base and its
// quality, say) and the transitions of its place (the class of its position).
struct PairSet {
    int64_t pairs;
    const int64_t* read;         // [pairs]
    const int64_t* hap;          // [pairs]
    const int64_t* read_offset;  // [reads + 1] first row of a read
    const int64_t* hap_offset;   // [haplotypes + 1] first letter of a haplotype
    const uint8_t* letter;       // of haplotypes, 0..4
    const int32_t* symbol;       // [rows] into emission
    const int32_t* place;        // [rows] into transition
    const double* emission;      // [symbols][kEmissions] probabilities
    const double* transition;    // [places][kTransitions] probabilities
    double start_match;          // M[0,0]
    double start_deletion;       // D[0,0] as a multiple of 1/n; D[0,j] is 1/n for every j >= 1
};

// Expected counts that pairs are added to.
struct ExpectedCounts {
    double* match;       // [symbols][5] of a symbol beside a haplotype's letter A C G T N
    double* insertion;   // [symbols] of an inserted symbol
    double* transition;  // [places][kTransitions] of transitions by the row whose parameter they take
};

// Posterior probabilities of a pair's cells, row-major [m][n].
struct Posteriors {
    double *match, *insertion, *deletion;
};

struct PosteriorLevel {
    int lanes;  // pairs in a vector
    // Forward-backward of at most `lanes` pairs. Adds to `counts` and fills `posteriors` (one a pair), where given;
    // without both, forward alone.
    // log10 [pairs of the set] gets their likelihoods: NaN for a pair that float64 with a scale a row does not hold.
    void (*run)(const PairSet& set, const int64_t* pair, int count, const ExpectedCounts* counts,
                const Posteriors* posteriors, double* log10);
};

const PosteriorLevel* posterior_level_x86_64_v2();
const PosteriorLevel* posterior_level_avx2();
const PosteriorLevel* posterior_level_avx512();
const PosteriorLevel* posterior_level_neon();
const PosteriorLevel* posterior_level_wasm();

}  // namespace pairhmm
