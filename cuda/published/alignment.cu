// Alignment and time warping as the published study computes them: the baseline of `pairhmm bench dp`. Nothing else
// uses it; cuda/align/ and cuda/warp/ are ours.
//
// Method: a thread owns a pair. Its words are 32-bit numbers, and the row that it is at lies in global memory: each
// cell reads what is above it and writes itself in its place. The cell to the left and the diagonal one are in
// registers.
//
// Limits: a thread's row is its own stretch of memory, so that the accesses of a warp are far apart, and a long pair
// keeps one thread busy.

typedef long long int64;

// queries: [distinct][rows], targets: [distinct][columns], both int16, which pairs take in turn, from `first` on; row:
// int[pairs][columns]; results: [pairs].
extern "C" __global__ void __launch_bounds__(128)
    published_alignment(const short* __restrict__ queries, const short* __restrict__ targets, int* row, int* results,
                        int rows, int columns, int pairs, int first, int distinct, int mismatch, int gap) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;
    const int64 taken = (first + pair) % distinct;
    queries += taken * rows, targets += taken * columns, row += int64(pair) * columns;
    for (int j = 0; j < columns; ++j) row[j] = (j + 1) * gap;
    int left = 0;
    for (int i = 0; i < rows; ++i) {
        const int letter = queries[i];
        int diagonal = i * gap;
        left = diagonal + gap;
        for (int j = 0; j < columns; ++j) {
            const int up = row[j], substituted = diagonal + (letter == targets[j] ? 0 : mismatch);
            left = min(substituted, min(up, left) + gap);
            diagonal = up;
            row[j] = left;
        }
    }
    results[pair] = left;
}

// The same for time warping. `mismatch` and `gap` are not used, so that both take the same arguments.
extern "C" __global__ void __launch_bounds__(128)
    published_warping(const short* __restrict__ queries, const short* __restrict__ targets, int* row, int* results,
                      int rows, int columns, int pairs, int first, int distinct, int, int) {
    const int far = 1 << 30, pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;
    const int64 taken = (first + pair) % distinct;
    queries += taken * rows, targets += taken * columns, row += int64(pair) * columns;
    for (int j = 0; j < columns; ++j) row[j] = far;
    int left = far;
    for (int i = 0; i < rows; ++i) {
        const int level = queries[i];
        int diagonal = i == 0 ? 0 : far;
        left = far;
        for (int j = 0; j < columns; ++j) {
            const int up = row[j];
            left = abs(level - targets[j]) + min(diagonal, min(up, left));
            diagonal = up;
            row[j] = left;
        }
    }
    results[pair] = left;
}
