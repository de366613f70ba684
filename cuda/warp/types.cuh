// Types of the kernel that warps signals.

typedef unsigned int uint32;
typedef unsigned long long uint64;

#define FULL 0xffffffffu

// A pair: where its rows' levels and its columns' begin, how many there are, and where its result goes (~0: nowhere).
// No level of both is below `least`.
struct Pair {
    uint32 row_at, rows, column_at, columns, index;
    int least;
};

// The least and the largest number of a warp. (Compute capability 7.5 has no instruction for them.)
__device__ __forceinline__ int least_of_warp(int value) {
    for (int apart = 1; apart < 32; apart *= 2) value = min(value, __shfl_xor_sync(FULL, value, apart));
    return value;
}

__device__ __forceinline__ int largest_of_warp(int value) { return -least_of_warp(-value); }
