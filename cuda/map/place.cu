// Sketches samples, adds up the columns of signatures, and projects their z-scores to the plane.
//
// Method. A warp takes one sample after the other. Signatures are made twice, for the columns' sums and for
// projections: that costs less than to write and read 512 bytes a sample. Sums are whole numbers, so nothing depends on
// how samples are shared among warps. The host makes one affine form of z-scores and the matrix
// (`pairhmm/map/device.py`).
//
// Bytes: the tokens and 4 a sample, twice, and 8 a sample for the projection. Instructions of a warp for a sample of t
// tokens, below FEW: 17 t, and 60 twice. An H200 takes 15.6 ms for 10^6 samples with 8 groups of 1 to 11 tokens and 2
// of 12 to 40: 0.8 ms a group of few tokens, 4.6 of many.
//
// Limits. A sample is one warp's, so few samples of millions of tokens do not fill a device.

// signatures: unsigned[samples][kSlots]
extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    place_signatures(const unsigned* __restrict__ tokens, const unsigned* __restrict__ offsets, unsigned samples,
                     unsigned each, const uint2* __restrict__ table, unsigned* __restrict__ signatures) {
    __shared__ Room rooms[kWarps];
    const unsigned lane = threadIdx.x % 32;
    const Functions functions = functions_of(table, lane);
    Room& room = rooms[threadIdx.x / 32];
    const auto use = [&](unsigned sample, unsigned, const unsigned (&values)[kSlotsOfLane]) {
        unsigned* const own = signatures + uint64(sample) * kSlots + kSlotsOfLane * lane;
        for (unsigned i = 0; i < kSlotsOfLane; ++i) own[i] = values[i];
    };
    each_sample(tokens, offsets, samples, each, functions, room, use);
}

// sums: uint64[1 + 3 * kSlots], zero at first. How many samples have tokens; and of their values in each slot the sum,
// and the sums of the lower and the upper words of their squares.
extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    place_columns(const unsigned* __restrict__ tokens, const unsigned* __restrict__ offsets, unsigned samples,
                  unsigned each, const uint2* __restrict__ table, uint64* sums) {
    __shared__ Room rooms[kWarps];
    const unsigned lane = threadIdx.x % 32;
    const Functions functions = functions_of(table, lane);
    Room& room = rooms[threadIdx.x / 32];
    unsigned taken = 0;
    uint64 sum[kSlotsOfLane] = {}, low[kSlotsOfLane] = {}, high[kSlotsOfLane] = {};
    const auto use = [&](unsigned, unsigned count, const unsigned (&values)[kSlotsOfLane]) {
        if (count == 0) return;
        ++taken;
        for (unsigned i = 0; i < kSlotsOfLane; ++i) {
            const uint64 square = uint64(values[i]) * values[i];
            sum[i] += values[i];
            low[i] += unsigned(square);
            high[i] += unsigned(square >> 32);
        }
    };
    each_sample(tokens, offsets, samples, each, functions, room, use);
    if (taken == 0) return;
    if (lane == 0) atomicAdd(sums, uint64(taken));
    for (unsigned i = 0; i < kSlotsOfLane; ++i) {
        uint64* const own = sums + 1 + kSlotsOfLane * lane + i;
        atomicAdd(own, sum[i]);
        atomicAdd(own + kSlots, low[i]);
        atomicAdd(own + 2 * kSlots, high[i]);
    }
}

// form: kSlots of (what is subtracted from a value, its weights for x and y), and behind them the constants of x and y.
// out: float2[samples]; 0 where a sample has no tokens.
extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    place_project(const unsigned* __restrict__ tokens, const unsigned* __restrict__ offsets, unsigned samples,
                  unsigned each, const uint2* __restrict__ table, const uint4* __restrict__ form,
                  float2* __restrict__ out) {
    __shared__ Room rooms[kWarps];
    const unsigned lane = threadIdx.x % 32;
    const Functions functions = functions_of(table, lane);
    Room& room = rooms[threadIdx.x / 32];
    int middle[kSlotsOfLane];
    float2 weight[kSlotsOfLane];
    for (unsigned i = 0; i < kSlotsOfLane; ++i) {
        const uint4 own = form[kSlotsOfLane * lane + i];
        middle[i] = int(own.x);
        weight[i] = make_float2(__uint_as_float(own.y), __uint_as_float(own.z));
    }
    const uint4 constant = form[kSlots];
    const auto use = [&](unsigned sample, unsigned count, const unsigned (&values)[kSlotsOfLane]) {
        if (count == 0) {
            if (lane == 0) out[sample] = make_float2(0, 0);
            return;
        }
        float x = 0, y = 0;
        for (unsigned i = 0; i < kSlotsOfLane; ++i) {
            const float value = float(int(values[i]) - middle[i]);
            x = fmaf(value, weight[i].x, x);
            y = fmaf(value, weight[i].y, y);
        }
        for (unsigned step = 16; step > 0; step /= 2) {
            x += __shfl_xor_sync(kAll, x, step);
            y += __shfl_xor_sync(kAll, y, step);
        }
        if (lane == 0) {
            out[sample] = make_float2(x + __uint_as_float(constant.y), y + __uint_as_float(constant.z));
        }
    };
    each_sample(tokens, offsets, samples, each, functions, room, use);
}
