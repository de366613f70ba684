// Pairs of any length and any score: strips of 32 K rows that follow each other through the haplotype.
//
// An item is a strip of a pair, and a warp takes the next item when it has finished one. The row between two strips lies
// in memory, read and overwritten in place: S and I of the strip below, and the exponent of the lane that made them. A
// strip runs behind the columns that the strip above has published. Items are taken in order, so that the strip above is
// always finished or at work: nothing waits for a warp that can't run.
//
// Each lane has an exponent (scaling.cuh). With REAL float the warp is as fast as that of forward.cu but for the scaling;
// double is for rows whose gaps are too rare for float's range.
//
// A single pair is bound by the time that a strip takes for a step: its insertions go down K rows, one after the other,
// and through a shuffle. The border is read a block of columns ahead, a letter a column ahead.

constexpr int kPublishSteps = 64;  // a release waits for the warp's stores, so it is not for every step

#ifdef PAIRHMM_EMULATED
__device__ __forceinline__ uint32 load_acquire(const uint32* from) { return __ldcg(from); }
__device__ __forceinline__ void store_release(uint32* to, uint32 value) { *to = value; }
#else
__device__ __forceinline__ uint32 load_acquire(const uint32* from) {
    uint32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}
__device__ __forceinline__ void store_release(uint32* to, uint32 value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
#endif

// The row between two strips of a pair: S and I a column, from column -31 on (before which lane 31 makes nothing), and an
// exponent for each kRescaleSteps of them.
struct Border {
    real* s;
    real* i;
    int* exponent;
};

// Wait until `item` has published `columns` columns; how many it has.
__device__ __forceinline__ int wait_for(const uint32* progress, uint32 item, int columns) {
    uint32 finished = 0;
    if (threadIdx.x == 0) {
        while ((finished = load_acquire(progress + item)) < uint32(columns)) __nanosleep(50);
    }
    return int(__shfl_sync(FULL, finished, 0));
}

// What enters lane 0 in one block of columns; lane u holds it of column u.
struct Entering {
    real s, i;
    int exponent;
};

// Past the last column it is anything.
__device__ __forceinline__ Entering load_border(const Border& border, int t) {
    const int column = t + int(threadIdx.x % kRescaleSteps);
    return {__ldcg(border.s + column), __ldcg(border.i + column), __ldcg(border.exponent + (column + 31) / kRescaleSteps)};
}

__device__ __forceinline__ int warp_max(int value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(FULL, value);
#else
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_xor_sync(FULL, value, step);
        value = other > value ? other : value;
    }
    return value;
#endif
}

// One strip: its border above is read and becomes its border below. Returns the sum of M + I over the columns of the
// read's last row, in lane 31 of the last strip.
__device__ __forceinline__ Sum run_strip(const Rows& rows, const Header& header, const Strip& strip, bool is_first,
                                         bool is_last, const uint8* letters, int columns, Border border,
                                         uint32* progress, uint32 item) {
    const int l = threadIdx.x;
    States state;
    clear(state);
    const bool starts = l == 0 && is_first;
    const real deletion = starts ? strip.entry / real(columns) : real(0);
    const real first = starts ? real(header.start_match) + deletion * real(header.start_deletion) : real(0);
    int exponent = starts ? exponent_of(first > deletion ? first : deletion) - kTop : -kTop;
    state.s[0] = first * power_of_two(-exponent);
    const uint8* column = letters - l;
    uint32 next = column[0];
    Entering coming = {0, 0, kNothing};
    const bool stores = l == 31 && !is_last;
    int finished_above = 0;
    Sum sum = {0, 0};
    for (int t = 0; t < columns + 31; t += kRescaleSteps) {
        // The border is read a block before its turn, but for the first.
        Entering entering = coming;
        if (!is_first) {
            const int needed = min(t + 2 * kRescaleSteps, columns);
            if (finished_above < needed) {
                finished_above = wait_for(progress, item - 1, needed);
                __syncwarp();
            }
            if (t == 0) entering = load_border(border, 0);
            coming = load_border(border, t + kRescaleSteps);
        }
        if (t + l % kRescaleSteps >= columns) entering = {0, 0, kNothing};
        const real top = larger(entering.s, entering.i);
        const int highest = top > 0 ? entering.exponent + exponent_of(top) : exponent_of(deletion);
        exponent = rescale(state, exponent, warp_max(highest), strip.fall);
        const int above = __shfl_up_sync(FULL, exponent, 1);
        const real keep = l == 0 ? real(0) : power_of_two(above - exponent);
        const real start = deletion * power_of_two(-exponent);
        const real fit = power_of_two(entering.exponent - __shfl_sync(FULL, exponent, 0));
        entering.s *= fit;
        entering.i *= fit;
        const real enters = l == 0 ? real(1) : real(0);
        real s_out[kRescaleSteps], i_out[kRescaleSteps], block = 0;
#pragma unroll
        for (int u = 0; u < kRescaleSteps; ++u) {
            const uint32 letter = next;
            next = t + u + 1 - l < columns ? column[t + u + 1] : kNoLetter;
            const real s_entering = multiply_add(__shfl_sync(FULL, entering.s, u), enters, start);
            const real i_entering = __shfl_sync(FULL, entering.i, u) * enters;
            const real s = multiply_add(__shfl_up_sync(FULL, state.s_below, 1), keep, s_entering);
            const real i = multiply_add(__shfl_up_sync(FULL, state.i_below, 1), keep, i_entering);
            advance(rows, state, letter, s, i);
            // Nothing, before lane 31's first column and after its last.
            block += state.i_below;
            s_out[u] = state.s_below;
            i_out[u] = state.i_below;
        }
        if (stores) {
#pragma unroll
            for (int u = 0; u < kRescaleSteps; ++u) {
                __stcg(border.s + t - 31 + u, s_out[u]);
                __stcg(border.i + t - 31 + u, i_out[u]);
            }
            __stcg(border.exponent + t / kRescaleSteps, exponent);
        }
        sum = add(sum, block, exponent);
        const int done = min(t + kRescaleSteps - 31, columns);
        if (stores && done > 0 && ((t + kRescaleSteps) % kPublishSteps == 0 || done == columns)) {
            store_release(progress + item, uint32(done));
        }
    }
    return sum;
}

// item_pair: the pair of each item; pair_item: a pair's first item. pair_column: where a pair's border begins.
// next_item, progress: zero at first. log_kept: what each item's rows add to the score, NaN where they do not fit.
extern "C" __global__ void __launch_bounds__(32, 8)
    forward_long(const uint8* __restrict__ buffer, const Tables* __restrict__ tables, uint32 items,
                 const uint32* __restrict__ item_pair, const uint32* __restrict__ pair_item,
                 const uint32* __restrict__ pair_read, const uint32* __restrict__ pair_haplotype,
                 const int64* __restrict__ pair_column, uint32* next_item, uint32* progress, double* log_kept,
                 real* border_s, real* border_i, int* border_exponent, double* scores) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    for (;;) {
        uint32 item = 0;
        if (threadIdx.x == 0) item = atomicAdd(next_item, 1u);
        item = __shfl_sync(FULL, item, 0);
        if (item >= items) return;
        const uint32 pair = item_pair[item], read = pair_read[pair], haplotype = pair_haplotype[pair];
        const uint32 position = words(buffer, header.read_offset)[read];
        const int length = int(words(buffer, header.read_offset)[read + 1] - position);
        const int row = int(item - pair_item[pair]) * (32 * K);
        const bool is_last = row + 32 * K >= length;
        const uint32 letter = words(buffer, header.haplotype_offset)[haplotype];
        const int columns = int(words(buffer, header.haplotype_offset)[haplotype + 1] - letter);
        Rows rows;
        const Strip strip = load_strip(buffer, header, *tables, position + row, length - row, rows);
        const Border border = {border_s + pair_column[pair], border_i + pair_column[pair],
                               border_exponent + pair_column[pair]};
        const double kept = strip.folds && strip.scales ? strip.log_kept : double(not_a_number());
        // Lane 31 publishes this with its first columns, or reads it back below.
        if (threadIdx.x == 31) log_kept[item] = kept;
        const Sum sum = run_strip(rows, header, strip, row == 0, is_last, buffer + header.letters + letter, columns,
                                  border, progress, item);
        if (is_last && threadIdx.x == 31) {
            double total = 0;
            for (uint32 above = pair_item[pair]; above <= item; ++above) total += __ldcg(log_kept + above);
            const bool held = sum.value > 0 && sum.value < infinity();
            scores[pair] = held ? log10(sum.value) + sum.exponent * LOG10_2 + total : double(not_a_number());
        }
    }
}
