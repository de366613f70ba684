// The two halves of each pair of long.cu, joined into its score (crossings.cuh).
//
// Method: a block has a pair. Its threads take rows in turn and multiply what comes from the left by what follows on
// the right, with the sum of both exponents. They also take columns in turn, and add up the border below the last strip
// of each half. The order of the additions depends on the lengths of the read and the haplotype alone.
//
// Limits: two products a row, and one addition a column. For 100,000 of both, 512 threads take 400 turns, which is
// nothing beside the halves' columns.

constexpr int kJoiners = JOINERS;  // threads

__device__ __forceinline__ Sum both(Sum one, Sum other) {
    if (other.value == 0) return one;
    if (one.value == 0) return other;
    const int exponent = one.exponent > other.exponent ? one.exponent : other.exponent;
    return {ldexp(one.value, one.exponent - exponent) + ldexp(other.value, other.exponent - exponent), exponent};
}

// sum + a b 2^exponent. Both factors may be near the end of the range of `real`.
__device__ __forceinline__ Sum add_product(Sum sum, real a, real b, int exponent) {
    if (a == 0 || b == 0) return sum;
    const int of_a = exponent_of(a), of_b = exponent_of(b);
    const double product = double(a * power_of_two(-of_a)) * double(b * power_of_two(-of_b));
    return both(sum, {product, exponent + of_a + of_b});
}

// A row of a half: its strip's crossing, its lane, and its row of the lane.
struct Place {
    const Crossing& crossing;
    int lane, k;

    __device__ __forceinline__ int exponent() const { return crossing.exponent[lane]; }
    __device__ __forceinline__ real match() const { return crossing.match[k][lane]; }
    __device__ __forceinline__ real deletion() const { return crossing.deletion[k][lane]; }
};

// The row-th row that a half takes. `crossings` begins with its first strip.
__device__ __forceinline__ Place place_of(const Crossing* crossings, int row) {
    const int of_strip = row % (32 * K);
    return {crossings[row / (32 * K) * kHalves], of_strip / K, of_strip % K};
}

// A thread's part of a pair: its sum, and the logarithm of what it is relative to.
struct Part {
    Sum sum;
    double log_kept;

    __device__ __forceinline__ void add(const Part& other) {
        sum = both(sum, other.sum);
        log_kept += other.log_kept;
    }
};
static_assert(kJoiners / 32 * sizeof(Part) == JOIN_SHARED_BYTES, "shared memory");

// The sum of M + I over the columns of a border, which the last strip of a half left: a thread's part, times `factor`.
__device__ __forceinline__ void add_border(Part& part, const uint64* border, int columns, double factor) {
    for (int column = threadIdx.x; column < columns; column += kJoiners) {
        const Found found = look_up(border, column);
        part.sum = both(part.sum, {double(i_of(found, real(0))) * factor, found.exponent()});
    }
}

// The sum of all lanes' parts; lane 0's.
__device__ __forceinline__ Part sum_of_warp(Part part) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        Part other;
        other.sum.value = __shfl_down_sync(FULL, part.sum.value, step);
        other.sum.exponent = __shfl_down_sync(FULL, part.sum.exponent, step);
        other.log_kept = __shfl_down_sync(FULL, part.log_kept, step);
        part.add(other);
    }
    return part;
}

// pair_item: a pair's first item. pair_column and borders: as forward_long left them. crossings: an item each.
extern "C" __global__ void __launch_bounds__(kJoiners)
    forward_join(const uint8* __restrict__ buffer, const uint32* __restrict__ pair_item,
                 const uint32* __restrict__ pair_read, const uint32* __restrict__ pair_haplotype,
                 const int64* __restrict__ pair_column, const uint64* borders, const Crossing* __restrict__ crossings,
                 double* scores) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    const uint32 pair = blockIdx.x, read = pair_read[pair];
    const uint32* offset = words(buffer, header.read_offset) + read;
    const int rows = int(offset[1] - offset[0]), strips = (rows + 32 * K - 1) / (32 * K);
    const uint32* haplotype = words(buffer, header.haplotype_offset) + pair_haplotype[pair];
    const int letters = int(haplotype[1] - haplotype[0]), halves = int(halves_of(letters));
    const int left_columns = letters / halves + 1;
    const Crossing *left = crossings + pair_item[pair], *right = left + 1;
    Part part = {{0, 0}, 0};
    for (int row = threadIdx.x; halves > 1 && row < rows; row += kJoiners) {
        const Place from = place_of(left, row), to = place_of(right, rows - 1 - row);
        part.sum = add_product(part.sum, from.match(), to.match(), from.exponent() + to.exponent());
        if (row + 1 < rows) {
            const Place below = place_of(right, rows - 2 - row);
            part.sum = add_product(part.sum, from.deletion(), below.deletion(), from.exponent() + below.exponent());
        }
    }
    for (int k = threadIdx.x; k < strips * halves; k += kJoiners) part.log_kept += left[k].log_kept;
    const uint64* border = borders + (pair_column[pair] + kUnread) * kBorderWords;
    add_border(part, border, left_columns, 1);
    if (halves > 1) {
        border += size_t(left_columns + kUnread) * kBorderWords;
        add_border(part, border, letters + 1 - left_columns, left->entering);
    }
    Part* const of_warps = reinterpret_cast<Part*>(shared);
    part = sum_of_warp(part);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = part;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < kJoiners / 32; ++warp) part.add(of_warps[warp]);
        const Sum sum = part.sum;
        const bool held = sum.value > 0 && sum.value < infinity();
        scores[pair] = held ? log10(sum.value) + sum.exponent * LOG10_2 + part.log_kept : double(not_a_number());
    }
}
