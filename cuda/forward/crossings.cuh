// What the two halves of a pair hand to join.cu: what crosses from the left half of the haplotype to the right one.
//
// A strip of either half leaves this when each of its lanes has had its last column. The left half ends behind column c
// = n / 2 (n letters). The right half comes from the other end and stops before column c + 1. Both then hold, of each
// row, what may be matched to column c + 1, and what deletes it:
//
//   P = ended + started + sum over rows i (S[i] M'[i] + from_deletion[i] D[i] D'[i+1])   at column c + 1,
//
// where the units of S, M', D and D' (rows.cuh, backward.cuh) cancel. `ended` is the sum of M + I of the last row over
// the left half's columns, `started` that of M' of the first row over the right half's, times D of row 0. They stand in
// the border that the last strip of each half leaves.

struct Crossing {
    double log_kept;       // of the strip's rows, once for both halves; NaN where the rows do not fit
    double entering;       // D of row 0 in units of S of the first row: in the left half's first strip
    int exponent[32];      // a value is value * 2^exponent
    real match[K][32];     // S, or M'
    real deletion[K][32];  // from_deletion D, or D'
};
static_assert(sizeof(Crossing) == CROSSING_BYTES, "room");

// The left and the right half of a pair take turns in its items, so that both go down side by side.
constexpr uint32 kHalves = HALVES;

// Halves of a haplotype of so many letters: short ones are not cut, and all of them is the left half.
__device__ __forceinline__ uint32 halves_of(int letters) { return letters >= LEAST_CUT ? kHalves : 1; }

// A lane's part, where the lane is before its half's end. `letter` is that of column c + 1.
__device__ __forceinline__ void save_crossing(Crossing& crossing, const Rows& rows, const States& state, int exponent,
                                              bool is_right, uint32 letter) {
    const int l = threadIdx.x;
    const real* emission = column_of_lane();
    crossing.exponent[l] = exponent;
#pragma unroll
    for (int k = 0; k < K; ++k) {
        crossing.match[k][l] = state.s[k] * (is_right ? emission[emission_at(letter, k)] : real(1));
        crossing.deletion[k][l] = state.d[k] * (is_right ? real(1) : rows.from_deletion[k]);
    }
}
