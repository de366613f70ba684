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
    Sum joined;            // join.cu: the strip's part of P
    int exponent[32];      // a value is value * 2^exponent
    real match[K][32];     // S, or M'
    real deletion[K][32];  // from_deletion D, or D'
};
static_assert(sizeof(Crossing) == CROSSING_BYTES, "room");

// The left and the right half of a pair take turns in its items, so that both go down side by side.
constexpr uint32 kHalves = HALVES;

__device__ __forceinline__ int strips_of(int rows) { return (rows + 32 * K - 1) / (32 * K); }

// Where a haplotype is cut: columns of its halves, each with a column before its first letter, and where their borders
// begin, in columns. A border begins with columns that nobody reads: lane 31 writes there before it has a column of the
// haplotype, and after the last one.
constexpr int kUnread = UNREAD_COLUMNS;

struct Cut {
    uint32 halves;  // 1 of a short haplotype: all of it is the left half
    int letters;    // of the haplotype
    int left_columns, right_columns;
    int64 left_border, right_border;
};

__device__ __forceinline__ Cut cut_of(const uint8* buffer, const Header& header, uint32 haplotype) {
    const uint32* offset = words(buffer, header.haplotype_offset) + haplotype;
    Cut cut;
    cut.letters = int(offset[1] - offset[0]);
    cut.halves = cut.letters >= LEAST_CUT ? kHalves : 1;
    cut.left_columns = cut.letters / int(cut.halves) + 1;
    cut.right_columns = cut.letters + 1 - cut.left_columns;
    cut.left_border = kUnread;
    cut.right_border = cut.left_border + cut.left_columns + kUnread;
    return cut;
}

// A lane's states, where the lane is before its half's end.
__device__ __forceinline__ void save_states(Crossing& crossing, const States& state, int exponent) {
    const int l = threadIdx.x;
    crossing.exponent[l] = exponent;
#pragma unroll
    for (int k = 0; k < K; ++k) {
        crossing.match[k][l] = state.s[k];
        crossing.deletion[k][l] = state.d[k];
    }
}

// Make a lane's part of its states. `letter` is that of column c + 1.
__device__ __forceinline__ void finish_crossing(Crossing& crossing, const Rows& rows, bool is_right, uint32 letter) {
    const int l = threadIdx.x;
    const real* emission = column_of_lane();
#pragma unroll
    for (int k = 0; k < K; ++k) {
        if (is_right) {
            crossing.match[k][l] *= emission[emission_at(letter, k)];
        } else {
            crossing.deletion[k][l] *= rows.from_deletion[k];
        }
    }
}
