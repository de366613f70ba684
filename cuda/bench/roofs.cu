// What bounds any kernel, measured: bytes a second of device memory, of the L2 and of shared memory, and instructions a
// second. `pairhmm bench dp` draws them as roofs.

// Reads `count` vectors, `rounds` times. What fits the L2 is read from it after the first round.
extern "C" __global__ void __launch_bounds__(512)
    roof_read(const uint4* __restrict__ values, unsigned* results, unsigned count, int rounds) {
    unsigned sum = 0;
    for (int round = 0; round < rounds; ++round) {
        // Each round begins elsewhere, so that no multiprocessor reads again what its own cache holds.
        const unsigned shift = (blockIdx.x + round * 37u) % gridDim.x;
        for (unsigned i = shift * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
            const uint4 v = __ldcg(values + i);
            sum += v.x ^ v.y ^ v.z ^ v.w;
        }
    }
    results[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Copies `count` vectors.
extern "C" __global__ void __launch_bounds__(512)
    roof_copy(const uint4* __restrict__ values, uint4* copies, unsigned count) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        copies[i] = values[i];
}

// 16 reads of 16 bytes of shared memory a thread and round.
extern "C" __global__ void __launch_bounds__(512) roof_shared(unsigned* results, unsigned seed, int rounds) {
    __shared__ uint4 tile[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = make_uint4(seed, i, seed + i, seed * i);
    __syncthreads();
    uint4 sum = make_uint4(0, 0, 0, 0);
    unsigned at = threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            const uint4 v = tile[(at + 32 * k) % 1024];
            sum.x ^= v.x, sum.y ^= v.y, sum.z ^= v.z, sum.w ^= v.w;
        }
        at += seed;
    }
    results[blockIdx.x * blockDim.x + threadIdx.x] = sum.x ^ sum.y ^ sum.z ^ sum.w;
}

// 64 multiply-adds of floats a thread and round: of all instructions, these alone fill every issue slot.
extern "C" __global__ void __launch_bounds__(512) roof_issue(float* results, float factor, int rounds) {
    float value[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) value[k] = threadIdx.x + k;
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int step = 0; step < 64; ++step) value[step % 8] = fmaf(value[step % 8], factor, factor);
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += value[k];
    results[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
