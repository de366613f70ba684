// Dynamic time warping: costs alone, and the row that a path ends in.
//
// Method: G neighbouring lanes own a strip of G * K rows of a group, each lane K of them in registers. Column j reaches
// lane l at step j + l, and what leaves a lane's last row goes to the next lane by a shuffle. A group is two pairs in
// halves (halves.cuh) or one (floats.cuh, words.cuh). Rows are padded at the bottom, where they change nothing above.
//
//     D[i,j] = |row[i] - column[j]| + min(D[i-1,j-1], D[i-1,j], D[i,j-1])
//
// FREE_START: a path may begin in any row of the first column. FREE_END: it may end in any row of the last column; else
// in the last row. BAND: cells with |i - j| > band are on no path.

constexpr int kGroups = 32 / G;  // of a warp
constexpr int kStrip = G * K;    // rows
constexpr int kBlock = 16;       // columns that are fetched together
constexpr int kRing = G < 32 ? 32 : 64;
constexpr int kWarps = 4;  // of a block of threads
static_assert(kRing >= G + kBlock - 1, "all lanes find their columns");

#if STRIPS
static_assert(G == 32, "a strip is a warp's");

// Waits until the warp with the strip above has written its last row up to column `end`.
__device__ __forceinline__ void wait_for(const volatile uint32* done, uint32 end) {
    while (*done < end) __nanosleep(20);
    __threadfence();
}
#endif

// pairs: [tasks * kGroups * kPairs]; a task is a warp's. levels: a pair's level i stands at its `at` + direction * i.
// results: uint64, all ones at first, the cost's bits above the row: the least of both.
//
// With STRIPS a task is a strip of a group: first that of all groups, then the second. Warps take tasks in this order,
// so that a strip's warp waits for a warp that runs. edges: [groups][edge_columns], the row between two strips; done:
// [strips][groups], the end of its columns that are written, all 0 at first.
extern "C" __global__ void __launch_bounds__(32 * kWarps, BLOCKS)
    warp_signals(const Pair* __restrict__ pairs, const short* __restrict__ levels, uint64* __restrict__ results,
                 uint32* __restrict__ next_task, uint32 tasks, uint32 most_strips, Cost* edges, uint32 edge_columns,
                 volatile uint32* done, int direction, int band, uint32 limit, uint32 one) {
    // The columns near those that lanes are at, and what enters above them. The first kBlock stand again behind the
    // last.
    __shared__ Level column_ring[kWarps][kGroups][kRing + kBlock];
#if STRIPS
    __shared__ Cost entering_block[kWarps][kBlock];
#endif
    const int lane = threadIdx.x % 32, l = lane % G, group = lane / G;
    Level* const ring = column_ring[threadIdx.x / 32][group];
    const Cost far = farthest(limit);
    for (;;) {
        uint32 task = 0;
        if (lane == 0) task = atomicAdd(next_task, 1u);
        task = __shfl_sync(FULL, task, 0);
#if STRIPS
        const uint32 strip = task / tasks;
        task %= tasks;
        if (strip >= most_strips) return;
#else
        const uint32 strip = 0;
        if (task >= tasks) return;
#endif
        const uint32 slot = (task * kGroups + group) * kPairs;
        Pair pair[kPairs];
        int shortest = 0x7fffffff, longest = 0, rows = 0;
#pragma unroll
        for (int h = 0; h < kPairs; ++h) {
            pair[h] = pairs[slot + h];
            shortest = min(shortest, int(pair[h].columns));
            longest = max(longest, int(pair[h].columns));
            rows = max(rows, int(pair[h].rows));
        }
        const int first = strip * kStrip + l * K;
        int begin = 0, end = longest;  // of the strip's columns
#if STRIPS
        const int strips = (rows + kStrip - 1) / kStrip;
        if (int(strip) >= strips) continue;
        const bool reads = strip > 0, writes = int(strip) + 1 < strips;
        Cost* const edge = edges + size_t(task) * edge_columns;
        volatile uint32* const done_here = done + strip * tasks + task;
        int above_end = longest;  // of the columns of the strip above
#if BAND
        begin = max(0, int(strip * kStrip) - band);
        end = min(longest, int((strip + 1) * kStrip) + band);
        above_end = min(longest, int(strip * kStrip) + band);
#endif
#endif
        Level row[K];
        Cost stored[K];
#pragma unroll
        for (int k = 0; k < K; ++k) {
            int above[kPairs];
#pragma unroll
            for (int h = 0; h < kPairs; ++h) {
                const int i = min(first + k, int(pair[h].rows) - 1);
                above[h] = int(levels[int(pair[h].row_at) + direction * i]) - pair[h].least;
            }
            row[k] = level_of(above);
            stored[k] = FREE_START ? Cost(0) : far;
        }
        Cost corner = FREE_START || first == 0 ? Cost(0) : far;
#if STRIPS && BAND
        if (reads && begin > 0 && l == 0) {
            wait_for(done_here - tasks, min(begin, above_end));
            corner = __ldcg(edge + begin - 1);
        }
#endif
        Cost below = far;  // what goes to the next lane
        const auto take = [&](int j, Level column) {
            Cost up = below, diagonal = corner;
            corner = up;
#pragma unroll
            for (int k = 0; k < K; ++k) {
                const Cost left = stored[k];
                up = cell(row[k], column, diagonal, up, left, one);
#if BAND
                if (uint32(first + k - j + band) > 2 * uint32(band)) up = far;
#endif
                diagonal = left;
                stored[k] = up;
            }
            below = up;
#if STRIPS
            if (writes && l == G - 1) __stcg(edge + j, below);
#endif
        };
        // Brings what is above the first row; `u` is the step within the block.
        const auto receive = [&](int u) {
#if STRIPS
            const Cost top = entering_block[threadIdx.x / 32][u];
#else
            const Cost top = far;
#endif
            const Cost above = __shfl_up_sync(FULL, below, 1, G);
            below = l == 0 ? top : above;
        };
        // The least of what the last column has in this lane, above its first row.
        const auto best = [&](int h) {
            const int last = int(pairs[slot + h].rows) - 1 - first;
            uint32 least = ~0u, at = 0;
#pragma unroll
            for (int k = 0; k < K; ++k) {
                const uint32 here = bits(stored[k], h);
                if ((FREE_END ? k <= last : k == last) && here < least) least = here, at = k;
            }
            return uint64(least) << 32 | (least == ~0u ? ~0u : first + at);
        };
        const auto report = [&](int h, uint64 found) {
            const uint32 index = pairs[slot + h].index;
            if (found != ~0ull && index != ~0u) atomicMin(&results[index], found);
        };
        const int fast_end = least_of_warp(min(shortest - 1, end)) - begin;
        const int steps = largest_of_warp(end - begin) + G - 1;
        for (int t0 = 0; t0 < steps; t0 += kBlock) {
            __syncwarp();
            for (int u = l; u < kBlock; u += G) {
                int above[kPairs];
#pragma unroll
                for (int h = 0; h < kPairs; ++h) {
                    const int j = min(begin + t0 + u, int(pair[h].columns) - 1);
                    above[h] = int(levels[int(pair[h].column_at) + direction * j]) - pair[h].least;
                }
                const Level level = level_of(above);
                const int at = (t0 + u) % kRing;
                ring[at] = level;
                if (at < kBlock) ring[at + kRing] = level;
            }
#if STRIPS
            // After the block before, the last lane has written the columns up to t0 - (G - 1).
            if (writes && t0 >= G && l == G - 1) {
                __threadfence();
                *done_here = min(begin + t0 - (G - 1), end);
            }
            if (reads) wait_for(done_here - tasks, min(begin + t0 + kBlock, above_end));
            if (l < kBlock) {
                const int j = begin + t0 + l;
                entering_block[threadIdx.x / 32][l] = reads && j < above_end ? __ldcg(edge + j) : far;
            }
#endif
            __syncwarp();
#pragma unroll
            for (int k = 0; k < K; ++k) stored[k] = cut(stored[k], far);
            const Level* const mine = ring + (t0 - l) % kRing + (t0 < l ? kRing : 0);
            if (t0 >= G - 1 && t0 + kBlock <= fast_end) {
#pragma unroll 1
                for (int u = 0; u < kBlock; u += UNROLL) {
#pragma unroll
                    for (int v = 0; v < UNROLL; ++v) {
                        receive(u + v);
                        take(begin + t0 + u + v - l, mine[u + v]);
                    }
                }
                continue;
            }
#pragma unroll 1
            for (int u = 0; u < kBlock && t0 + u < steps; ++u) {
                const int j = begin + t0 + u - l;
                const Cost kept = below;
                receive(u);
                if (j < begin || j >= end) {
                    below = kept;
                    continue;
                }
                take(j, mine[u]);
#pragma unroll
                for (int h = 0; h < kPairs; ++h) {
                    if (j + 1 == int(pair[h].columns) && j + 1 < longest) report(h, best(h));
                }
            }
        }
#if STRIPS
        if (writes && l == G - 1) {
            __threadfence();
            *done_here = end;
        }
#endif
        // All lanes are at the last column of the longer pair.
#pragma unroll
        for (int h = 0; h < kPairs; ++h) {
            uint64 found = int(pair[h].columns) == end ? best(h) : ~0ull;
            for (int apart = 1; FREE_END && apart < G; apart *= 2) {
                const uint64 other = __shfl_xor_sync(FULL, found, apart);
                found = min(found, other);
            }
            if (!FREE_END || l == 0) report(h, found);
        }
    }
}
