// Reads that share a warp, G lanes each: common to fast.cu and scaled.cu.

constexpr int kReads = 32 / G;  // a warp

// The smallest of the warp's step counts that is larger than `done`; `done` itself if there is none.
__device__ __forceinline__ int next_end(int steps, int done) {
    int end = steps > done ? steps : 0x7fffffff;
#pragma unroll
    for (int step = 16; step >= G; step /= 2) {
        const int other = __shfl_xor_sync(FULL, end, step);
        end = other < end ? other : end;
    }
    return end == 0x7fffffff ? done : end;
}
