// Batch forward in float32, and its rescue in block-scaled float32.
//
// A tile of 32 / G reads shares a warp (lanes.cuh). Compiled for each shape (G, K) that a batch needs. Haplotypes may
// differ in length inside a warp: the loop runs to each length in turn. With TALL, reads longer than the 32 K rows of a
// warp are cut into strips; the row between two strips passes through memory.
//
// forward_fast keeps no exponent: states start at 2^kStartExponent, and a pair whose sum falls below kLowestSum (a score
// of about -62 below that of a perfect match) is put on the list of forward_scaled, where each lane has an exponent
// (scaling.cuh).

// Columns of one loop iteration, and warps that a multiprocessor must hold: both measured (docs/cuda.md).
#ifndef UNROLL
#define UNROLL 8
#endif
#ifndef BLOCKS
#define BLOCKS (K + VARYING * K / 4 <= 16 ? 16 : 12)
#endif

constexpr int kStartExponent = 116;
constexpr float kLowestSum = 1e-28f;
constexpr int kReads = 32 / G;  // a warp

struct Read {
    uint32 index, group, first;
    int rows;
};

__device__ __forceinline__ Read find_read(const uint8* buffer, const Header& header, uint32 index) {
    const uint32 first = words(buffer, header.read_offset)[index];
    const int rows = int(words(buffer, header.read_offset)[index + 1] - first);
    return {index, words(buffer, header.read_group)[index], first, rows};
}

// The smallest of the warp's step counts that is beyond `done`; `done` itself where none is.
__device__ __forceinline__ int next_end(int steps, int done) {
    int end = steps > done ? steps : 0x7fffffff;
#pragma unroll
    for (int step = 16; step >= G; step /= 2) {
        const int other = __shfl_xor_sync(FULL, end, step);
        end = other < end ? other : end;
    }
    return end == 0x7fffffff ? done : end;
}

// Sum of M + I over the columns of the read's last row, relative to 2^kStartExponent; whole in lane G - 1.
// `steps` is columns + G - 1, 0 for lanes without a haplotype. between[column]: S and I that the strip above left for this
// one, which leaves its own there.
__device__ __forceinline__ float sum_fast(const Rows& rows, const Header& header, const Strip& strip, bool is_first,
                                          const uint8* letters, int steps, float2* between) {
    const int l = threadIdx.x % G;
    States state;
    clear(state);
    const float start = l == 0 && is_first ? exp2f(kStartExponent) : 0.0f;
    const float keep = l == 0 ? 0.0f : 1.0f;
    const float deletion = strip.entry * start / float(steps - G + 1);
    state.s[0] = float(header.start_match) * start + deletion * float(header.start_deletion);
    const uint8* column = letters - l;
    float sum = 0, result = 0;
    uint32 next = column[0];
    for (int t = 0, end; (end = next_end(steps, t)) > t;) {
#pragma unroll UNROLL
        for (; t < end; ++t) {
            const uint32 letter = next;  // read a column before its turn
            next = column[t + 1];
            float s = multiply_add(__shfl_up_sync(FULL, state.s_below, 1, G), keep, deletion);
            float i = __shfl_up_sync(FULL, state.i_below, 1, G) * keep;
#if TALL
            if (l == 0 && !is_first && t < steps - (G - 1)) {
                const float2 above = between[t];
                s = above.x;
                i = above.y;
            }
#endif
            advance(rows, state, letter, s, i);
            sum += state.i_below;
#if TALL
            if (l == G - 1 && t >= G - 1) between[t - (G - 1)] = make_float2(state.s_below, state.i_below);
#endif
        }
        if (steps == t) result = sum;
    }
    return result;
}

// As sum_fast, for any range and without strips.
__device__ __forceinline__ Sum sum_scaled(const Rows& rows, const Header& header, const Strip& strip,
                                          const uint8* letters, int steps) {
    const int l = threadIdx.x % G;
    States state;
    clear(state);
    const float deletion = l == 0 ? strip.entry / float(steps - G + 1) : 0.0f;
    const float first = l == 0 ? float(header.start_match) + deletion * float(header.start_deletion) : 0.0f;
    const int entering = exponent_of(deletion);
    int exponent = l == 0 ? exponent_of(fmaxf(first, deletion)) - kTop : -kTop;
    state.s[0] = first * power_of_two(-exponent);
    const uint8* column = letters - l;
    float keep = 0, start = 0, block = 0;
    Sum sum = {0, 0}, result = {0, 0};
    for (int t = 0, end; (end = next_end(steps, t)) > t;) {
        for (; t < end; ++t) {
            if (t % kRescaleSteps == 0) {
                sum = add(sum, block, exponent);
                block = 0;
                exponent = rescale(state, exponent, entering, strip.fall);
                const int above = __shfl_up_sync(FULL, exponent, 1, G);
                keep = l == 0 ? 0.0f : power_of_two(above - exponent);
                start = deletion * power_of_two(-exponent);
            }
            const float s = multiply_add(__shfl_up_sync(FULL, state.s_below, 1, G), keep, start);
            const float i = __shfl_up_sync(FULL, state.i_below, 1, G) * keep;
            advance(rows, state, column[t], s, i);
            block += state.i_below;
        }
        if (steps == t) result = add(sum, block, exponent);
    }
    return result;
}

__device__ __forceinline__ size_t score_index(const uint8* buffer, const Header& header, const Read& read,
                                              uint32 haplotype) {
    const uint32 first = words(buffer, header.group_haplotype)[read.group];
    const uint32 width = words(buffer, header.group_haplotype)[read.group + 1] - first;
    const uint32 row = read.index - words(buffer, header.group_read)[read.group];
    return words(buffer, header.group_pair)[read.group] + size_t(row) * width + (haplotype - first);
}

// One tile of reads against some of their haplotypes; a block is a warp, and blockIdx.x an item.
// items: x first read (an index into order), y which `haplotypes_each` of the group's haplotypes.
// last: one past the tier's last read in order. listed, list: pairs (read, haplotype) for forward_scaled.
// between: with TALL, `widest` columns for each item.
extern "C" __global__ void __launch_bounds__(32, BLOCKS)
    forward_fast(const uint8* __restrict__ buffer, const Tables* __restrict__ tables, const uint2* __restrict__ items,
                 uint32 last, uint32 haplotypes_each, uint32* listed, uint2* list, float2* between, uint32 widest,
                 double* scores, uint8* precision) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    const uint2 item = items[blockIdx.x];
    const uint32 at = item.x + threadIdx.x / G;
    const Read read = find_read(buffer, header, words(buffer, header.order)[at < last ? at : last - 1]);
    const uint32 group_end = words(buffer, header.group_haplotype)[read.group + 1];
    const uint32 first = words(buffer, header.group_haplotype)[read.group] + item.y * haplotypes_each;
    const int count = at < last && first < group_end ? int(min(haplotypes_each, group_end - first)) : 0;
    Rows rows;
#if TALL
    between += size_t(blockIdx.x) * widest;
#else
    const Strip strip = load_strip(buffer, header, *tables, read.first, read.rows, rows);
    const bool folds = strip.folds, scales = strip.scales;
    const double log_kept = strip.log_kept;
#endif
    for (int h = 0; __any_sync(FULL, h < count); ++h) {
        const uint32 haplotype = h < count ? first + h : group_end - 1;
        const uint32 offset = words(buffer, header.haplotype_offset)[haplotype];
        const int columns = int(words(buffer, header.haplotype_offset)[haplotype + 1] - offset);
        const uint8* letters = buffer + header.letters + offset;
        const int steps = h < count ? columns + G - 1 : 0;
#if TALL
        bool folds = true;
        const bool scales = false;
        double log_kept = 0;
        float sum = 0;
        for (int row = 0; row < read.rows; row += G * K) {
            __syncwarp();  // what the strip above left
            const Strip strip = load_strip(buffer, header, *tables, read.first + row, read.rows - row, rows);
            folds = folds && strip.folds;
            log_kept += strip.log_kept;
            sum = sum_fast(rows, header, strip, row == 0, letters, steps, between);
        }
#else
        const float sum = sum_fast(rows, header, strip, true, letters, steps, between);
#endif
        if (h < count && threadIdx.x % G == G - 1) {
            const bool held = folds && sum >= kLowestSum && sum < infinity();
            const size_t index = score_index(buffer, header, read, haplotype);
            scores[index] = held ? log10(double(sum)) - kStartExponent * LOG10_2 + log_kept : double(not_a_number());
            precision[index] = PRECISION_FAST;
            if (!held && folds && scales) list[atomicAdd(listed, 1u)] = make_uint2(read.index, haplotype);
        }
    }
}

// The pairs that forward_fast listed, in any order.
extern "C" __global__ void __launch_bounds__(32, 8)
    forward_scaled(const uint8* __restrict__ buffer, const Tables* __restrict__ tables,
                   const uint32* __restrict__ listed, const uint2* __restrict__ list, double* scores,
                   uint8* precision) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    const uint32 count = *listed;
    for (uint32 base = blockIdx.x * kReads; base < count; base += gridDim.x * kReads) {
        const uint32 at = base + threadIdx.x / G;
        const uint2 pair = list[at < count ? at : count - 1];
        const Read read = find_read(buffer, header, pair.x);
        Rows rows;
        const Strip strip = load_strip(buffer, header, *tables, read.first, read.rows, rows);
        const uint32 offset = words(buffer, header.haplotype_offset)[pair.y];
        const int columns = int(words(buffer, header.haplotype_offset)[pair.y + 1] - offset);
        const Sum sum =
            sum_scaled(rows, header, strip, buffer + header.letters + offset, at < count ? columns + G - 1 : 0);
        if (at < count && threadIdx.x % G == G - 1 && sum.value > 0 && sum.value < infinity()) {
            const size_t index = score_index(buffer, header, read, pair.y);
            scores[index] = log10(sum.value) + sum.exponent * LOG10_2 + strip.log_kept;
            precision[index] = PRECISION_SCALED;
        }
    }
}
