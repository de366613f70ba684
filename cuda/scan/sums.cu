// Exclusive prefix sums of qualities, so that the score of a match is two reads however long it is.
//
// Method: a block takes a tile of qualities and a thread kSummed of them; their sums are added up by a tree in shared
// memory. One block then adds up the tiles. Within a tile the sums are 32-bit numbers, beyond it 64-bit ones.

constexpr unsigned kSummed = SUMMED;  // qualities of a thread of scan_sums
constexpr unsigned kSumTile = kThreads * kSummed;

// An exclusive prefix sum of a value a thread, by a tree: up to the sum of all, and down again. Returns the sum of all.
template <class T>
__device__ T sums_before(T* value) {
    const unsigned thread = threadIdx.x;
    for (unsigned step = 1; step < kThreads; step *= 2) {
        __syncthreads();
        const unsigned at = (thread + 1) * 2 * step - 1;
        if (at < kThreads) value[at] += value[at - step];
    }
    __syncthreads();
    const T all = value[kThreads - 1];
    __syncthreads();
    if (thread == 0) value[kThreads - 1] = 0;
    for (unsigned step = kThreads / 2; step > 0; step /= 2) {
        __syncthreads();
        const unsigned at = (thread + 1) * 2 * step - 1;
        if (at < kThreads) {
            const T left = value[at - step];
            value[at - step] = value[at];
            value[at] += left;
        }
    }
    __syncthreads();
    return all;
}

__device__ __forceinline__ unsigned add_bytes(unsigned pairs, unsigned word) {
    return pairs + (word & 0x00ff00ffu) + (word >> 8 & 0x00ff00ffu);
}

// A block a tile of kSumTile qualities. within: [tiles * kThreads] sum of the tile's before each 64th; all: [tiles].
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_sums(const uint4* __restrict__ qualities, unsigned* within, unsigned* all) {
    __shared__ unsigned value[kThreads];
    const uint4* own = qualities + (blockIdx.x * kThreads + threadIdx.x) * (kSummed / 16);
    unsigned pairs = 0;  // two sums of 16 bits: 32 qualities each
    for (unsigned i = 0; i < kSummed / 16; ++i) {
        const uint4 some = own[i];
        pairs = add_bytes(add_bytes(add_bytes(add_bytes(pairs, some.x), some.y), some.z), some.w);
    }
    value[threadIdx.x] = (pairs & 0xffff) + (pairs >> 16);
    const unsigned sum = sums_before(value);
    within[blockIdx.x * kThreads + threadIdx.x] = value[threadIdx.x];
    if (threadIdx.x == 0) all[blockIdx.x] = sum;
}

// One block. before: [tiles] sum of the tiles before each.
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_carry(const unsigned* __restrict__ all, unsigned tiles, uint64* before) {
    __shared__ uint64 value[kThreads];
    uint64 carry = 0;
    for (unsigned first = 0; first < tiles; first += kThreads) {
        const unsigned tile = first + threadIdx.x;
        value[threadIdx.x] = tile < tiles ? all[tile] : 0;
        const uint64 sum = sums_before(value);
        if (tile < tiles) before[tile] = carry + value[threadIdx.x];
        carry += sum;
        __syncthreads();
    }
}

// Sum of all qualities before a position.
__device__ uint64 sum_before(const uint8* qualities, const unsigned* within, const uint64* before, unsigned position) {
    uint64 sum = before[position / kSumTile] + within[position / kSummed];
    for (unsigned i = position / kSummed * kSummed; i < position; ++i) sum += qualities[i];
    return sum;
}

// A thread a segment; the first `carried` bases do not count.
extern "C" __global__ void __launch_bounds__(kThreads)
    scan_totals(const uint8* __restrict__ qualities, const unsigned* __restrict__ within,
                const uint64* __restrict__ before, const unsigned* __restrict__ offset, unsigned segments,
                unsigned carried, uint64* totals) {
    const unsigned segment = blockIdx.x * kThreads + threadIdx.x;
    if (segment >= segments) return;
    const unsigned begin = offset[segment] + (segment == 0 ? carried : 0);
    totals[segment] =
        sum_before(qualities, within, before, offset[segment + 1]) - sum_before(qualities, within, before, begin);
}
