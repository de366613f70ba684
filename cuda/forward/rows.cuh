// Row parameters on the device, and their folded form.
//
// The recurrence (docs/model.md) has seven transitions a row. Here every state is kept relative to the best path
// through the rows above it: with t[i] = mm[i] * best[i], best[i] the emission that most letters of a good path have,
// and T[i] = t[1]..t[i],
//
//   M^[i] = M[i] / T[i],  D^[i] = D[i] / (md[i] T[i]),  I^[i] = I[i] / (mi[i] T[i-1]),  S^[i] = S[i] / (mm[i] T[i-1]),
//
// most coefficients become 1:
//
//   M^[i]     = relative emission[i] S^[i]                                                      1 operation
//   D^[i,j+1] = M^[i,j] + extend_deletion[i] D^[i,j]                                            1
//   S^[i+1]   = M^[i] + from_deletion[i] D^[i] + from_insertion[i] I^[i]                        2
//   I^[i+1]   = M^[i] + extend_insertion[i] I^[i]                                               1 = 5 a cell,
//
// whatever the gap qualities do along the read. A perfect path keeps its value, so that nothing is rounded on it, and
// float32's range is spent on how far a pair lies below it. log10 T[m] is added to the score at the end.
//
// Rows past the read's end carry M + I of its last row down unchanged, so that a score does not depend on its tile.
//
// A first prototype with seven operations a cell reached 2,686 GCUPS for 128 x 128 bases on an NVIDIA H200, one with
// these five 3,579. Limits: rows with mm = 0, or with insertions that can be extended but not opened, do not fold; the
// CPU scores them, announced.

// What rows are made from is one of four that the host defines: QUALITIES (GATK's five bytes a base), ROWS (rows of any
// model, ROW_SIZE doubles a position), PROFILES (probabilities of A C G T, and the constants of a profile model) or
// KINDS (a number a base, which names one of a profile model's distinct rows: base calls have few, and the host has
// made of each what a base would cost here). All other names in capitals are the host's constants too
// (pairhmm/backends/cuda/kernels.py).

typedef unsigned char uint8;
typedef unsigned short uint16;
typedef unsigned int uint32;
typedef long long int64;

typedef REAL real;  // what rows are computed in

constexpr uint32 kN = N_CODE;   // N, behind A C G T: codes of bases are 0..kN - 1
constexpr int kBases = N_CODE;  // A C G T
constexpr int kLetters = kBases + 1;
constexpr int kTransitions = ROW_SIZE - kLetters;  // of a row, which has the emissions of kLetters before them
enum Transition { kMM, kIM, kDM, kMI, kII, kMD, kDD };
static_assert(kDD + 1 == kTransitions, "a row's transitions");

// Where the arrays of a batch lie in its one buffer: byte offsets at the buffer's beginning. HEADER of
// pairhmm/backends/cuda/layout.py.
struct Header {
    int64 read_offset;       // uint32[reads + 1] first position of a read
    int64 read_group;        // uint32[reads]
    int64 group_read;        // uint32[groups + 1] first read of a group
    int64 group_haplotype;   // uint32[groups + 1] first haplotype of a group
    int64 group_pair;        // uint32[groups + 1] first score of a group; scores are row-major (read, haplotype)
    int64 haplotype_offset;  // uint32[haplotypes + 1] first letter of a haplotype
    int64 letters;           // uint8, codes 0..4; readable from 31 letters before the first, and from the last on
                             // for 33 letters and the longest haplotype
    int64 order;             // uint32[reads] reads by tile size
    int64 places;            // PdPlace[haplotypes] of partially determined haplotypes (cpu/pdhmm/columns.hpp)
    int64 positions[5];      // QUALITIES: uint8 base, base, insertion, deletion and gap quality; KINDS: uint16 kinds,
                             // and Kind of each; else double rows or probabilities in the first
    int64 steps[5];          // QUALITIES: 1, or 0 where one byte holds for every position
    // QUALITIES: bytes of the number that a position is instead, in the first array; 0 where there are bytes. Its
    // digits are those five, the base lowest, each above its least value (pairhmm/backends/read_packing.py).
    uint32 digit_bytes, digit_least[5], digit_radix[5], digit_reciprocal[5];
    double start_match;                // M[0,0]
    double start_deletion;             // D[0,0] in units of 1 / haplotype length
    double match[kBases][kLetters];    // PROFILES: emission of a read letter beside a haplotype letter,
    double insertion[kBases];          // emission of an inserted letter;
    double transitions[kTransitions];  // PROFILES: mm im dm mi ii md dd; KINDS: im, dm and dd of these are read;
    double log_mm;                     // PROFILES: log10(mm)
};

// A distinct row of a profile model. KIND of pairhmm/backends/cuda/layout.py.
struct Kind {
    double relative[kLetters];  // emission beside a haplotype letter, over the best of them
    double per_best, log_best;  // 1 / the best of them, and its log10
    double per_mm, log_mm;      // 1 / mm, and log10(mm)
    double mi, ii, md;          // transitions; mi and ii times the emission of an inserted letter
};

// Phred tables, made in Python: no constant of a model stands here.
struct Tables {
    double log_unopened[PHREDS][PHREDS];  // log10(1 - min(1, insertion + deletion)), by their qualities,
    double per_unopened[PHREDS][PHREDS];  // and one over that
    double log_best[2][PHREDS];           // log10 of the larger one of 1 - error and error / 3; for N (index 1) of
    double per_best[2][PHREDS];           // 1 - error; and one over that
    double ratio[2][PHREDS];              // the smaller one over the larger one; for N, which every letter matches, 1
    double error[PHREDS];                 // 10^(-Q/10),
    double per_error[PHREDS];             // one over it,
    double odds[PHREDS];                  // and error / (1 - error)
};

constexpr double LOG10_2 = 0.30102999566398119521;
__device__ __forceinline__ const uint32* words(const uint8* buffer, int64 at) {
    return reinterpret_cast<const uint32*>(buffer + at);
}

// Four positions that follow each other.
struct Positions {
#ifdef QUALITIES
    uint32 bytes[5];  // of base, and of its base, insertion, deletion and gap quality; the first position's is lowest
#else
    uint32 first;
#endif
};

#ifdef QUALITIES
// Four positions whose bytes are digits of a number, from its first byte on.
__device__ __forceinline__ Positions take_apart(const uint8* from, const Header& header) {
    const uint32 offset = uint32(reinterpret_cast<size_t>(from)) % 4;
    const uint32* own = reinterpret_cast<const uint32*>(from - offset);
    const uint32 low = __funnelshift_r(own[0], own[1], 8 * offset), high = __funnelshift_r(own[1], own[2], 8 * offset);
    Positions four = {};
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        uint32 number = header.digit_bytes == 1 ? low >> 8 * r & 0xff : (r < 2 ? low : high) >> 16 * (r % 2) & 0xffff;
#pragma unroll
        for (int k = 0; k < 4 + VARYING; ++k) {
            const uint32 rest = __umulhi(2 * number, header.digit_reciprocal[k]);
            four.bytes[k] |= (number - rest * header.digit_radix[k] + header.digit_least[k]) << 8 * r;
            number = rest;
        }
    }
    if (!VARYING) four.bytes[4] = header.digit_least[4] * 0x01010101u;
    return four;
}
#endif

// The positions from `at` on. They may reach beyond the batch's last one.
__device__ __forceinline__ Positions load_positions(const uint8* buffer, const Header& header, uint32 at) {
    Positions four;
#ifdef QUALITIES
    if (header.digit_bytes > 0) {
        return take_apart(buffer + header.positions[0] + size_t(at) * header.digit_bytes, header);
    }
#pragma unroll
    for (int k = 0; k < 4 + VARYING; ++k) {
        const uint8* from = buffer + header.positions[k] + at * header.steps[k];
        const uint32 offset = uint32(reinterpret_cast<size_t>(from)) % 4;
        const uint32* own = reinterpret_cast<const uint32*>(from - offset);
        four.bytes[k] = __funnelshift_r(own[0], own[1], 8 * offset);
        if (header.steps[k] == 0) four.bytes[k] = four.bytes[k] % 256 * 0x01010101u;
    }
    if (!VARYING) four.bytes[4] = buffer[header.positions[4]] * 0x01010101u;
#else
    four.first = at;
#endif
    return four;
}

#ifdef KINDS
__device__ __forceinline__ const Kind& kind_at(const uint8* buffer, const Header& header, uint32 at) {
    const uint16 kind = reinterpret_cast<const uint16*>(buffer + header.positions[0])[at];
    return reinterpret_cast<const Kind*>(buffer + header.positions[1])[kind];
}
#endif

// Emissions of a row beside each letter, relative to the best of them.
struct Emissions {
    real relative[kLetters];
    double per_best, log_best;  // of the best one
};

// One row of the recurrence but for its emissions, of which it needs the best: transitions, and their quotients that
// coefficients are products of.
struct Row {
    double mi, md, dd;
    double opening;               // mi / (mm best)
    double extension;             // ii / (im best)
    double dm_per_mm, im_per_mm;  // infinite or not a number where mm is 0
    double ii_per_mi;             // infinite where insertions are extended and not opened
    double log_kept;              // log10(mm best)
    double im;                    // for the backward, whose insertions it opens
};

// Emissions of position r of four.
__device__ __forceinline__ Emissions emissions_of(const uint8* buffer, const Header& header, const Tables& tables,
                                                  const Positions& four, int r) {
    Emissions row;
#ifdef QUALITIES
    const uint32 letter = four.bytes[0] >> 8 * r & 255, quality = four.bytes[1] >> 8 * r & 255;
    const int is_n = letter == kN;
    const real ratio = real(tables.ratio[is_n][quality]);
    // Below Phred 1.25 the letters that do not match are the likelier ones.
    const bool inverted = tables.error[quality] > 0.75;
    for (uint32 s = 0; s < kLetters; ++s) {
        row.relative[s] = ((s == letter || s == kN) != inverted) ? real(1) : ratio;
    }
    row.per_best = tables.per_best[is_n][quality];
    row.log_best = tables.log_best[is_n][quality];
#elif defined(KINDS)
    const Kind& kind = kind_at(buffer, header, four.first + r);
    for (int s = 0; s < kLetters; ++s) row.relative[s] = real(kind.relative[s]);
    row.per_best = kind.per_best;
    row.log_best = kind.log_best;
#else
    const double* values = reinterpret_cast<const double*>(buffer + header.positions[0]);
    double emission[kLetters], best = 0;
    for (int s = 0; s < kLetters; ++s) {
#ifdef ROWS
        emission[s] = values[size_t(four.first + r) * ROW_SIZE + s];
#else
        emission[s] = 0;
        for (int a = 0; a < kBases; ++a) {
            emission[s] += values[size_t(four.first + r) * kBases + a] * header.match[a][s];
        }
#endif
        best = emission[s] > best ? emission[s] : best;
    }
    for (int s = 0; s < kLetters; ++s) row.relative[s] = real(emission[s] / best);
    row.per_best = 1 / best;
    row.log_best = log10(best);
#endif
    return row;
}

__device__ __forceinline__ Emissions load_emissions(const uint8* buffer, const Header& header, const Tables& tables,
                                                    uint32 at) {
    return emissions_of(buffer, header, tables, load_positions(buffer, header, at), 0);
}

// The row of position r of four.
__device__ __forceinline__ Row row_of(const uint8* buffer, const Header& header, const Tables& tables,
                                      const Positions& four, int r) {
    const Emissions emissions = emissions_of(buffer, header, tables, four, r);
    Row row;
#ifdef QUALITIES
    const uint32 insertion = four.bytes[2] >> 8 * r & 255, deletion = four.bytes[3] >> 8 * r & 255,
                 gap = four.bytes[4] >> 8 * r & 255;
    const double per_mm = tables.per_unopened[insertion][deletion];
    row.mi = tables.error[insertion];
    row.md = tables.error[deletion];
    row.dd = tables.error[gap];
    row.im = 1 - row.dd;
    row.dm_per_mm = row.im_per_mm = row.im * per_mm;
    row.ii_per_mi = row.dd * tables.per_error[insertion];
    row.extension = tables.odds[gap] * emissions.per_best;
    row.log_kept = emissions.log_best + tables.log_unopened[insertion][deletion];
#else
#ifdef KINDS
    const Kind& kind = kind_at(buffer, header, four.first + r);
    const double* transitions = header.transitions;
    const double per_mm = kind.per_mm, log_mm = kind.log_mm, ii = kind.ii;
    row.mi = kind.mi;
    row.md = kind.md;
#else
    const double* values = reinterpret_cast<const double*>(buffer + header.positions[0]);
#ifdef ROWS
    const double* transitions = values + size_t(four.first + r) * ROW_SIZE + kLetters;
    const double inserted = 1;  // in mi and ii already
    const double log_mm = log10(transitions[kMM]);
#else
    const double* transitions = header.transitions;
    const double log_mm = header.log_mm;
    double inserted = 0;
    for (int a = 0; a < kBases; ++a) inserted += values[size_t(four.first + r) * kBases + a] * header.insertion[a];
#endif
    const double per_mm = 1 / transitions[kMM], ii = transitions[kII] * inserted;
    row.mi = transitions[kMI] * inserted;
    row.md = transitions[kMD];
#endif
    row.dd = transitions[kDD];
    row.im = transitions[kIM];
    row.dm_per_mm = transitions[kDM] * per_mm;
    row.im_per_mm = transitions[kIM] * per_mm;
    row.ii_per_mi = ii > 0 ? ii / row.mi : 0;
    row.extension = ii / transitions[kIM] * emissions.per_best;
    row.log_kept = emissions.log_best + log_mm;
#endif
    row.opening = row.mi * per_mm * emissions.per_best;
    return row;
}

__device__ __forceinline__ Row load_row(const uint8* buffer, const Header& header, const Tables& tables, uint32 at) {
    return row_of(buffer, header, tables, load_positions(buffer, header, at), 0);
}

// The row after the read's last, whose emissions are zero: what comes from above goes down as it is.
__device__ __forceinline__ Row carrying_row() { return {1, 0, 0, 1, 0, 0, 0, 1, 0, 0}; }

// Coefficients of the folded form that lead from one row to the next.
struct Fold {
    real from_deletion, from_insertion, extend_insertion;
};

// False where the rows cannot be folded. In double, since a long insertion multiplies by its extension once a row.
__device__ __forceinline__ bool fold(const Row& now, const Row& next, Fold& out) {
    // Where none opens, an extension is of an insertion that was opened before.
    const double extension = now.mi > 0 ? now.opening * next.ii_per_mi : 0;
    out.from_deletion = real(now.md * next.dm_per_mm);
    out.from_insertion = real(now.opening * next.im_per_mm);
    out.extend_insertion = real(extension);
    const double most = __longlong_as_double(0x7fefffffffffffffll);  // finite
    return now.opening <= most && next.im_per_mm <= most && extension <= most;
}
