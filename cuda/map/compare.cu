// Equal slots of sketches, and the targets with the most of them.
//
// Method. A block has a tile of kTile queries and kTile targets, and a thread kEach of each. The words of the tile's
// sketches come to shared memory kStep at a time, and each is then compared kTile times. All planes of a word follow
// one another, so that differing slots are counted once for all planes. map_nearest gives a query's targets keys, which
// have the equal slots and below them how early a target is, and looks for the largest key, then for the largest below
// it.
//
// Limits. A multiprocessor of compute 9.0 counts the bits of 16 words in a cycle: at 8,192 slots of 1 bit, which are
// 256 words, an H200 with 132 of them at 1.98 GHz counts at most 16.3 G pairs in a second. It does 15.0 G. Beside 16
// counts, a thread has 32 other integer operations, of which a multiprocessor does 64 in a cycle, and 2 loads from
// shared memory.

typedef unsigned short uint16;

constexpr unsigned kBits = BITS, kThreads = THREADS, kTile = TILE, kEach = EACH, kStep = STEP, kStride = STRIDE;
constexpr unsigned kPlaceBits = PLACE_BITS, kLastPlace = (1u << kPlaceBits) - 1;
constexpr unsigned kAcross = kTile / kEach;  // threads side by side
static_assert(kAcross * kAcross == kThreads && kEach == 4, "");

struct alignas(16) FourWords {
    unsigned word[4];
};
struct alignas(8) FourCounts {
    uint16 count[4];
};

// queries, targets: [sketches][kBits][words], 32 slots a word; found: [queries of the launch][columns / 4].
extern "C" __global__ void __launch_bounds__(kThreads)
    map_equal_slots(const unsigned* queries, unsigned first_query, unsigned end_query, const unsigned* targets,
                    unsigned target_count, unsigned words, unsigned columns, FourCounts* found) {
    __shared__ FourWords own[kStep * kStride], theirs[kStep * kStride];
    const unsigned thread = threadIdx.x, across = (target_count + kTile - 1) / kTile;
    const unsigned query = first_query + blockIdx.x / across * kTile, target = blockIdx.x % across * kTile;
    const unsigned rows = words * kBits;
    unsigned differs[kEach][kEach] = {}, counts[kEach][kEach] = {}, plane = 0;
    for (unsigned row = 0; row < rows; row += kStep) {
        // Neighbouring threads read neighbouring words of a sketch.
        for (unsigned at = thread; at < kStep * kTile; at += kThreads) {
            const unsigned here = row + at % kStep, sketch = at / kStep;
            if (here >= rows) continue;
            const unsigned place = here % kBits * words + here / kBits, cell = at % kStep * kStride + sketch / 4;
            const size_t from_query = min(query + sketch, end_query - 1);
            const size_t from_target = min(target + sketch, target_count - 1);
            own[cell].word[sketch % 4] = queries[from_query * rows + place];
            theirs[cell].word[sketch % 4] = targets[from_target * rows + place];
        }
        __syncthreads();
        const unsigned steps = min(kStep, rows - row);
        for (unsigned step = 0; step < steps; ++step) {
            const FourWords a = own[step * kStride + thread / kAcross], b = theirs[step * kStride + thread % kAcross];
            const bool is_last = kBits == 1 || plane == kBits - 1;
#pragma unroll
            for (unsigned q = 0; q < kEach; ++q) {
#pragma unroll
                for (unsigned t = 0; t < kEach; ++t) differs[q][t] |= a.word[q] ^ b.word[t];
            }
            if (is_last) {
#pragma unroll
                for (unsigned q = 0; q < kEach; ++q) {
#pragma unroll
                    for (unsigned t = 0; t < kEach; ++t) {
                        counts[q][t] += __popc(differs[q][t]);
                        differs[q][t] = 0;
                    }
                }
            }
            plane = is_last ? 0 : plane + 1;
        }
        __syncthreads();
    }
    const unsigned column = target / kEach + thread % kAcross;
    if (column >= columns / kEach) return;
#pragma unroll
    for (unsigned q = 0; q < kEach; ++q) {
        const unsigned own_query = query + thread / kAcross * kEach + q;
        if (own_query >= end_query) continue;
        FourCounts equal;
#pragma unroll
        for (unsigned t = 0; t < kEach; ++t) equal.count[t] = uint16(32 * words - counts[q][t]);
        found[size_t(own_query - first_query) * (columns / kEach) + column] = equal;
    }
}

// counts: [queries of the launch][columns / 4]; found: [queries][wanted] keys, 0 where there is no target. A block
// each.
extern "C" __global__ void __launch_bounds__(kThreads)
    map_nearest(const FourCounts* counts, unsigned first_query, unsigned target_count, unsigned columns,
                unsigned wanted, unsigned* found) {
    __shared__ unsigned best[kThreads];
    const unsigned thread = threadIdx.x;
    const FourCounts* const row = counts + size_t(blockIdx.x) * (columns / 4);
    unsigned limit = ~0u;
    for (unsigned rank = 0; rank < wanted; ++rank) {
        unsigned most = 0;
        for (unsigned column = thread; column < columns / 4; column += kThreads) {
            const FourCounts four = row[column];
#pragma unroll
            for (unsigned t = 0; t < 4; ++t) {
                const unsigned target = 4 * column + t,
                               key = unsigned(four.count[t]) << kPlaceBits | (kLastPlace - target);
                if (target < target_count && key < limit) most = max(most, key);
            }
        }
        best[thread] = most;
        for (unsigned half = kThreads / 2; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half) best[thread] = max(best[thread], best[thread + half]);
        }
        __syncthreads();
        limit = best[0];
        if (thread == 0) found[size_t(first_query + blockIdx.x) * wanted + rank] = limit;
        __syncthreads();
    }
}
