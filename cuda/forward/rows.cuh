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
    int64 positions[5];      // QUALITIES: uint8 base, base, insertion, deletion and gap quality; KINDS: uint16 kinds,
                             // and Kind of each; else double rows or probabilities in the first
    int64 steps[5];          // QUALITIES: 1, or 0 where one byte holds for every position
    double start_match;      // M[0,0]
    double start_deletion;   // D[0,0] in units of 1 / haplotype length
    double match[kBases][kLetters];    // PROFILES: emission of a read letter beside a haplotype letter,
    double insertion[kBases];          // emission of an inserted letter;
    double transitions[kTransitions];  // PROFILES: mm im dm mi ii md dd; KINDS: im, dm and dd of these are read;
    double log_mm;                     // PROFILES: log10(mm)
};

// A distinct row of a profile model. KIND of pairhmm/backends/cuda/layout.py.
struct Kind {
    double relative[kLetters];  // emission beside a haplotype letter, over the best of them
    double best, log_best;      // the best of them, and its log10
    double log_mm;              // log10(mm)
    double mm, mi, ii, md;      // transitions; mi and ii times the emission of an inserted letter
};

// Phred tables, made in Python: no constant of a model stands here.
struct Tables {
    double log_unopened[PHREDS][PHREDS];  // log10(1 - min(1, insertion + deletion)), by their qualities
    double log_best[2][PHREDS];           // log10 of `best`
    double best[2][PHREDS];               // the larger one of 1 - error and error / 3; for N (index 1) 1 - error
    double ratio[2][PHREDS];              // the smaller one over the larger one; for N, which every letter matches, 1
    double error[PHREDS];                 // 10^(-Q/10)
};

constexpr double LOG10_2 = 0.30102999566398119521;
__device__ __forceinline__ const uint32* words(const uint8* buffer, int64 at) {
    return reinterpret_cast<const uint32*>(buffer + at);
}

#ifdef QUALITIES
__device__ __forceinline__ uint32 quality_at(const uint8* buffer, const Header& header, int k, uint32 at) {
    return buffer[header.positions[k] + at * header.steps[k]];
}
#endif

#ifdef KINDS
__device__ __forceinline__ const Kind& kind_at(const uint8* buffer, const Header& header, uint32 at) {
    const uint16 kind = reinterpret_cast<const uint16*>(buffer + header.positions[0])[at];
    return reinterpret_cast<const Kind*>(buffer + header.positions[1])[kind];
}
#endif

// Emissions of a row beside each letter, relative to the best of them.
struct Emissions {
    real relative[kLetters];
    double best, log_best;
};

// One row of the recurrence but for its emissions, of which it needs the best.
struct Row {
    double mm, im, dm, mi, ii, md, dd, best;
    double log_kept;  // log10(mm best)
};

__device__ __forceinline__ Emissions load_emissions(const uint8* buffer, const Header& header, const Tables& tables,
                                                    uint32 at) {
    Emissions row;
#ifdef QUALITIES
    const uint32 letter = quality_at(buffer, header, 0, at), quality = quality_at(buffer, header, 1, at);
    const int is_n = letter == kN;
    const real ratio = real(tables.ratio[is_n][quality]);
    // Below Phred 1.25 the letters that do not match are the likelier ones.
    const bool inverted = tables.error[quality] > 0.75;
    for (uint32 s = 0; s < kLetters; ++s) {
        row.relative[s] = ((s == letter || s == kN) != inverted) ? real(1) : ratio;
    }
    row.best = tables.best[is_n][quality];
    row.log_best = tables.log_best[is_n][quality];
#elif defined(KINDS)
    const Kind& kind = kind_at(buffer, header, at);
    for (int s = 0; s < kLetters; ++s) row.relative[s] = real(kind.relative[s]);
    row.best = kind.best;
    row.log_best = kind.log_best;
#else
    const double* values = reinterpret_cast<const double*>(buffer + header.positions[0]);
    double emission[kLetters], best = 0;
    for (int s = 0; s < kLetters; ++s) {
#ifdef ROWS
        emission[s] = values[size_t(at) * ROW_SIZE + s];
#else
        emission[s] = 0;
        for (int a = 0; a < kBases; ++a) emission[s] += values[size_t(at) * kBases + a] * header.match[a][s];
#endif
        best = emission[s] > best ? emission[s] : best;
    }
    for (int s = 0; s < kLetters; ++s) row.relative[s] = real(emission[s] / best);
    row.best = best;
    row.log_best = log10(best);
#endif
    return row;
}

__device__ __forceinline__ Row load_row(const uint8* buffer, const Header& header, const Tables& tables, uint32 at) {
    const Emissions emissions = load_emissions(buffer, header, tables, at);
    Row row;
    row.best = emissions.best;
#ifdef QUALITIES
    const uint32 insertion = quality_at(buffer, header, 2, at), deletion = quality_at(buffer, header, 3, at);
    row.mi = tables.error[insertion];
    row.md = tables.error[deletion];
    row.ii = row.dd = tables.error[quality_at(buffer, header, 4, at)];
    row.im = row.dm = 1 - row.ii;
    row.mm = row.mi + row.md < 1 ? 1 - (row.mi + row.md) : 0;
    row.log_kept = emissions.log_best + tables.log_unopened[insertion][deletion];
#else
#ifdef KINDS
    const Kind& kind = kind_at(buffer, header, at);
    row.mm = kind.mm;
    row.im = header.transitions[kIM];
    row.dm = header.transitions[kDM];
    row.mi = kind.mi;
    row.ii = kind.ii;
    row.md = kind.md;
    row.dd = header.transitions[kDD];
    row.log_kept = emissions.log_best + kind.log_mm;
#else
    const double* values = reinterpret_cast<const double*>(buffer + header.positions[0]);
#ifdef ROWS
    const double* transitions = values + size_t(at) * ROW_SIZE + kLetters;
    const double inserted = 1;  // in mi and ii already
    const double log_mm = log10(transitions[kMM]);
#else
    const double* transitions = header.transitions;
    const double log_mm = header.log_mm;
    double inserted = 0;
    for (int a = 0; a < kBases; ++a) inserted += values[size_t(at) * kBases + a] * header.insertion[a];
#endif
    row.mm = transitions[kMM];
    row.im = transitions[kIM];
    row.dm = transitions[kDM];
    row.mi = transitions[kMI] * inserted;
    row.ii = transitions[kII] * inserted;
    row.md = transitions[kMD];
    row.dd = transitions[kDD];
    row.log_kept = emissions.log_best + log_mm;
#endif
#endif
    return row;
}

// The row after the read's last, whose emissions are zero: what comes from above goes down as it is.
__device__ __forceinline__ Row carrying_row() { return {1, 0, 0, 1, 1, 0, 0, 1, 0}; }

// Coefficients of the folded form that lead from one row to the next.
struct Fold {
    real from_deletion, from_insertion, extend_insertion;
};

// False where the rows cannot be folded.
__device__ __forceinline__ bool fold(const Row& now, const Row& next, Fold& out) {
    const double kept = now.mm * now.best;
    out.from_deletion = real(next.dm) * real(now.md) / real(next.mm);
    out.from_insertion = real(next.im) * real(now.mi) / real(kept * next.mm);
    // In double, since a long insertion multiplies by this once a row. Where none opens here, the coefficient matters
    // only if one was opened before.
    const bool opens = next.mi > 0;
    out.extend_insertion = opens ? real(next.ii * now.mi / (kept * next.mi)) : real(0);
    return kept > 0 && next.mm > 0 && (opens || next.ii * now.mi == 0);
}
