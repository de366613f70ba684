// A Jacobi pass that blends the positions of samples with those of their neighbours.
//
// Method. A thread has a sample, and adds up its neighbours in blocks of kBlock: so sums of many are as exact as need
// be.
//
// Bytes of a pass with n samples of k neighbours: 4 n k + 4 n of the neighbours, 16 n of positions, and 32 n k that
// come out of the L2 cache where 8 n of positions fit it. With 10^6 samples and 10 neighbours these are 60 MB and 320
// MB: about 0.07 ms on an H200, which takes 0.09.
//
// Limits. A sample with very many neighbours keeps one thread busy while the others are done.

constexpr unsigned kBlock = 32;  // neighbours

// A run of rows: samples first to first + samples. indices, offsets: their neighbours. before, after: all positions.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    place_blend(const int* __restrict__ indices, const unsigned* __restrict__ offsets, unsigned first, unsigned samples,
                float alpha, const float2* __restrict__ start, const float2* __restrict__ before,
                float2* __restrict__ after) {
    const unsigned row = blockIdx.x * THREADS + threadIdx.x;
    if (row >= samples) return;
    const unsigned begin = offsets[row] - offsets[0], end = offsets[row + 1] - offsets[0];
    const float2 own = start[first + row];
    float x = 0, y = 0;
    for (unsigned from = begin; from < end; from += kBlock) {
        float block_x = 0, block_y = 0;
        const unsigned to = min(from + kBlock, end);
#pragma unroll 4
        for (unsigned i = from; i < to; ++i) {
            const float2 other = before[indices[i]];
            block_x += other.x;
            block_y += other.y;
        }
        x += block_x;
        y += block_y;
    }
    const float kept = 1 - alpha, count = float(end - begin);
    float2 blended = own;
    if (begin < end) blended = make_float2(kept * own.x + alpha * (x / count), kept * own.y + alpha * (y / count));
    after[first + row] = blended;
}
