// The rescue of fast.cu: the pairs whose sums float32 does not hold, in float32 with an exponent for each lane
// (scaling.cuh).
//
// Method: as in fast.cu, but every kRescaleSteps columns a lane's states are brought to its largest value, and the sum
// is a double with an exponent. Warps take pairs from the list that fast.cu wrote. Reads of any length up to G * K rows
// share a warp, so that five shapes are enough (RESCUERS of pairhmm/backends/tiles.py). A read may have another shape
// than in fast.cu.
//
// Measured on an NVIDIA H200, from host arrays to host scores: 3,330 GCUPS where no pair is rescued (s150), 2,423 where
// a fifth of the pairs are (s150-rescue; benchmarks/results/device-nvidia-h200-cuda.tsv).
//
// Limits: rows whose gaps are beyond the range of a lane (kMostFall, kMostDeletionBits in strips.cuh) stay unscored,
// and go to forward_pairs.

static_assert(kEmissionBytes == SHARED_BYTES, "shared memory");

// Sum of M + I over the columns of the read's last row; whole in lane G - 1. `steps` is columns + G - 1, or 0 for lanes
// without a pair.
__device__ __forceinline__ Sum sum_scaled(const Rows& rows, const Header& header, const Strip& strip,
                                          const uint8* letters, int steps) {
    const int l = threadIdx.x % G;
    States state;
    clear(state);
    const int columns = steps - (G - 1);
    const float deletion = l == 0 ? strip.entry / float(columns) : 0.0f;
    const float first = l == 0 ? float(header.start_match) + deletion * float(header.start_deletion) : 0.0f;
    const int entering = exponent_of(deletion);
    int exponent = l == 0 ? exponent_of(fmaxf(first, deletion)) - kTop : -kTop;
    state.s[0] = first * power_of_two(-exponent);
    const uint8* column = letters - l;
    // A letter is read one column before it is used.
    const auto letter_of = [&](int t) { return t - l < columns ? column[t] : kNoLetter; };
    uint32 next = letter_of(0);
    float keep = 0, start = 0, block = 0;
    Sum sum = {0, 0}, result = {0, 0};
    for (int t = 0, end; (end = next_end(steps, t)) > t;) {
        while (t < end) {
            if (t % kRescaleSteps == 0) {
                sum = add(sum, block, exponent);
                block = 0;
                const int before = exponent;
                exponent = fitting_exponent<kRescaleSteps>(state, exponent, entering, strip.fall);
                scale(state, before - exponent);
                const int above = __shfl_up_sync(FULL, exponent, 1, G);
                keep = l == 0 ? 0.0f : power_of_two(above - exponent);
                start = deletion * power_of_two(-exponent);
            }
            const int until = min(end, (t / kRescaleSteps + 1) * kRescaleSteps);
#pragma unroll 4
            for (; t < until; ++t) {
                const uint32 letter = next;
                next = letter_of(t + 1);
                const float s = multiply_add(__shfl_up_sync(FULL, state.s_below, 1, G), keep, start);
                const float i = __shfl_up_sync(FULL, state.i_below, 1, G) * keep;
                advance(rows, state, letter, s, i);
                block += state.i_below;
            }
        }
        if (steps == t) result = add(sum, block, exponent);
    }
    return result;
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
        const Strip strip = load_strip(buffer, header, *tables, read.first, read.rows, read.rows, rows);
        const uint32 offset = words(buffer, header.haplotype_offset)[pair.y];
        const int columns = int(words(buffer, header.haplotype_offset)[pair.y + 1] - offset);
        const Sum sum =
            sum_scaled(rows, header, strip, buffer + header.letters + offset, at < count ? columns + G - 1 : 0);
        // Check again whether the read's rows fit a lane: the tile that listed the pair had other lanes.
        if (at < count && threadIdx.x % G == G - 1 && strip.scales && sum.value > 0 && sum.value < infinity()) {
            const size_t index = score_index(buffer, header, read, pair.y);
            scores[index] = log10(sum.value) + sum.exponent * LOG10_2 + strip.log_kept;
            precision[index] = PRECISION_SCALED;
        }
    }
}
