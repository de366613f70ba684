// The two halves of each pair of long.cu, joined into its score (crossings.cuh).
//
// Method: a warp has a strip. Of a left half's strip, its lanes take rows in turn and multiply what comes from the left
// by what follows on the right, with the sum of both exponents. A strip also has a share of its half's columns: lanes
// take them in turn and add up the border below the half's last strip. Another warp adds up the strips of a pair. The
// order of the additions depends on the lengths of the read and the haplotype alone.
//
// Limits: two products a row, and one addition a column. For one pair of 100,000 x 100,000, a lane takes 15 turns, and
// 20 for the strips.

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

__device__ __forceinline__ Sum sum_of_warp(Sum sum) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const double value = __shfl_down_sync(FULL, sum.value, step);
        sum = both(sum, {value, __shfl_down_sync(FULL, sum.exponent, step)});
    }
    return sum;  // lane 0's
}

// The arguments are those of forward_long. A block is a warp, and has an item.
extern "C" __global__ void __launch_bounds__(32)
    forward_join(const uint8* __restrict__ buffer, const uint32* __restrict__ item_pair,
                 const uint32* __restrict__ pair_item, const uint32* __restrict__ pair_read,
                 const uint32* __restrict__ pair_haplotype, const int64* __restrict__ pair_column,
                 const uint64* borders, Crossing* crossings) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    const uint32 item = blockIdx.x, pair = item_pair[item], first = pair_item[pair];
    const uint32* offset = words(buffer, header.read_offset) + pair_read[pair];
    const int rows = int(offset[1] - offset[0]), strips = strips_of(rows);
    const Cut cut = cut_of(buffer, header, pair_haplotype[pair]);
    const bool is_right = (item - first) % cut.halves;
    const int number = int((item - first) / cut.halves), columns = is_right ? cut.right_columns : cut.left_columns;
    Sum sum = {0, 0};
    if (cut.halves > 1 && !is_right) {
        const Crossing *left = crossings + first, *right = left + 1;
        const int end = min(rows, (number + 1) * 32 * K);
        for (int row = number * 32 * K + int(threadIdx.x); row < end; row += 32) {
            const Place from = place_of(left, row), to = place_of(right, rows - 1 - row);
            sum = add_product(sum, from.match(), to.match(), from.exponent() + to.exponent());
            if (row + 1 < rows) {
                const Place below = place_of(right, rows - 2 - row);
                sum = add_product(sum, from.deletion(), below.deletion(), from.exponent() + below.exponent());
            }
        }
    }
    const uint64* border =
        borders + (pair_column[pair] + (is_right ? cut.right_border : cut.left_border)) * kBorderWords;
    const double entering = is_right ? crossings[first].entering : 1;
    const int share = (columns + strips - 1) / strips, end = min(columns, (number + 1) * share);
    for (int column = number * share + int(threadIdx.x); column < end; column += 32) {
        const Found found = look_up(border, column);
        sum = both(sum, {double(i_of(found, real(0))) * entering, found.exponent()});
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x == 0) crossings[item].joined = sum;
}

// A block is a warp, and has a pair.
extern "C" __global__ void __launch_bounds__(32)
    forward_sum(const uint8* __restrict__ buffer, const uint32* __restrict__ pair_item,
                const uint32* __restrict__ pair_read, const uint32* __restrict__ pair_haplotype,
                const Crossing* __restrict__ crossings, double* scores) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    const uint32 pair = blockIdx.x;
    const uint32* offset = words(buffer, header.read_offset) + pair_read[pair];
    const int items = strips_of(int(offset[1] - offset[0])) * int(cut_of(buffer, header, pair_haplotype[pair]).halves);
    const Crossing* of_pair = crossings + pair_item[pair];
    Sum sum = {0, 0};
    double log_kept = 0;
    for (int k = int(threadIdx.x); k < items; k += 32) {
        sum = both(sum, of_pair[k].joined);
        log_kept += of_pair[k].log_kept;
    }
    sum = sum_of_warp(sum);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) log_kept += __shfl_down_sync(FULL, log_kept, step);
    if (threadIdx.x == 0) {
        const bool held = sum.value > 0 && sum.value < infinity();
        scores[pair] = held ? log10(sum.value) + sum.exponent * LOG10_2 + log_kept : double(not_a_number());
    }
}
