// One pair of any length as published programs compute it: the ablation of `pairhmm bench wavefront`. Nothing else uses
// it; forward/long.cu scores long pairs.
//
// Method: a launch for each anti-diagonal, a thread for each of its cells. Values are natural logarithms in float32, so
// that any length fits its range. Three diagonals of (M, I, D) are kept and written in turn: M looks two diagonals
// back, I and D one. Row 0 and column 0 are cells like the others.
//
// Measured on an NVIDIA H200, seconds from host arrays to the score (benchmarks/results/device-nvidia-h200-cuda.json):
//
//     bases of both                                100     1,000    10,000   100,000
//     launched by the host                      0.0025     0.023      0.23       1.6
//     launches replayed as a CUDA graph        0.00048    0.0053     0.043      0.51
//     forward/long.cu                          0.00044   0.00052    0.0017     0.015
//
// Limits: logarithms in float32 lose digits with the length. At 100,000 bases the score is 6e-4 (relative) from
// float64; that of forward/long.cu is 2e-9.
//
// rows: float[ROW_SIZE][m] logarithms of emission of A C G T N, then mm im dm mi ii md dd. letters: uint8[n], codes
// 0..4.
// states: float[3][3][m + 1], by diagonal modulo 3, state and row. last: float[n + 1], log(M + I) of row m by column.

typedef unsigned char uint8;

// Rows of `rows` behind the emissions.
enum Field { kMM = LETTERS, kIM, kDM, kMI, kII, kMD, kDD, kFields };
static_assert(kFields == ROW_SIZE, "fields of a row");

__device__ __forceinline__ float log_zero() { return -__int_as_float(0x7f800000); }

// log(e^a + e^b + e^c).
__device__ __forceinline__ float log_sum(float a, float b, float c) {
    const float highest = fmaxf(a, fmaxf(b, c));
    if (highest == log_zero()) return highest;
    return highest + logf(__expf(a - highest) + __expf(b - highest) + __expf(c - highest));
}

__device__ __forceinline__ float log_sum(float a, float b) {
    const float highest = fmaxf(a, b);
    if (highest == log_zero()) return highest;
    return highest + log1pf(__expf(fminf(a, b) - highest));
}

// Cells (i, j) with i + j = *first + step. start_match, start_deletion, deletion: logarithms of M[0,0], D[0,0], D[0,j].
// `first` lies on the device, so that a recorded run of launches can be played again for later diagonals.
extern "C" __global__ void wavefront_diagonal(const float* __restrict__ rows, const uint8* __restrict__ letters, int m,
                                              int n, float start_match, float start_deletion, float deletion,
                                              const int* first, int step, float* states, float* last) {
    const int diagonal = *first + step;
    const int i = max(0, diagonal - n) + blockIdx.x * blockDim.x + threadIdx.x, j = diagonal - i;
    if (i > min(m, diagonal)) return;
    const int size = m + 1;
    float* now = states + diagonal % 3 * (3 * size) + i;
    float match = log_zero(), insertion = log_zero(), deleted = log_zero();
    if (i == 0) {
        match = j == 0 ? start_match : log_zero();
        deleted = j == 0 ? start_deletion : deletion;
    } else if (j > 0) {
        const float* row = rows + i - 1;
        const float* left = states + (diagonal + 2) % 3 * (3 * size) + i;
        const float* above = left - 1;
        const float* corner = states + (diagonal + 1) % 3 * (3 * size) + i - 1;
        match = row[letters[j - 1] * m] +
                log_sum(row[kMM * m] + corner[0], row[kIM * m] + corner[size], row[kDM * m] + corner[2 * size]);
        insertion = log_sum(row[kMI * m] + above[0], row[kII * m] + above[size]);
        deleted = log_sum(row[kMD * m] + left[0], row[kDD * m] + left[2 * size]);
        if (i == m) last[j] = log_sum(match, insertion);
    }
    now[0] = match;
    now[size] = insertion;
    now[2 * size] = deleted;
}

// Moves *first past the `count` diagonals that were launched. It runs in one thread.
extern "C" __global__ void wavefront_advance(int* first, int count) { *first += count; }

// log of the sum of e^last[1..n]; one warp.
extern "C" __global__ void wavefront_sum(const float* __restrict__ last, int n, double* score) {
    float highest = log_zero();
    for (int j = 1 + threadIdx.x; j <= n; j += 32) highest = fmaxf(highest, last[j]);
    for (int step = 16; step > 0; step /= 2) highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, step));
    double sum = 0;
    if (highest > log_zero()) {
        for (int j = 1 + threadIdx.x; j <= n; j += 32) sum += __expf(last[j] - highest);
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x == 0) *score = double(highest) + log(sum);
}
