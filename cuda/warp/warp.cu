// Dynamic time warping: costs alone, and the row that a path ends in.
//
// Method: G neighbouring lanes own a strip of G * K rows of a group, each lane K of them in registers. A lane takes two
// columns at a step, so that two chains of minima and sums run side by side. Columns j and j + 1 (j even) reach lane l
// at step j / 2 + l, and what leaves a lane's last row goes to the next lane by shuffles. A group is two pairs in
// halves (halves.cuh) or one (floats.cuh, words.cuh). Rows are padded at the bottom, where they change nothing above.
//
//     D[i,j] = |row[i] - column[j]| + min(D[i-1,j-1], D[i-1,j], D[i,j-1])
//
// Measured on an NVIDIA H200, 10^9 cells a second (benchmarks/dp-gpu.md):
//
//                                                             256 x 256   10,000 x 10,000
//     a thread a pair, borders in memory (a prototype)            6,950             -
//     lanes share a pair; halves, one column a step              10,300         9,190
//     two columns a step                                         10,260         9,860
//     the same in floats                                          6,670         5,950
//
// Limits: the caller sees to it that costs fit the form, and computes again what comes out at or above its limit.
//
// FREE_START: a path may begin in any row of the first column. FREE_END: it may end in any row of the last column; else
// in the last row. BAND: cells with |i - j| > band are on no path.

constexpr int kGroups = 32 / G;          // of a warp
constexpr int kStrip = G * K;            // rows
constexpr int kBlock = 16;               // columns that are fetched together
constexpr int kAcross = 2;               // columns of a step
constexpr int kLag = kAcross * (G - 1);  // columns that the last lane is behind the first
constexpr int kRing = G < 16 ? 32 : 4 * G;
constexpr int kWarps = 4;  // of a block of threads
static_assert(kRing >= kLag + kBlock, "all lanes find their columns");

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
        Cost below[kAcross] = {far, far};  // what goes to the next lane
        // A row's cells in the columns from `j` on, where `up` is above them; it becomes what is above the next row.
        const auto take_row = [&](int k, int j, int columns, const Level* column, Cost* diagonal, Cost* up) {
            Cost left = stored[k];
#pragma unroll
            for (int c = 0; c < columns; ++c) {
                Cost here = cell(row[k], column[c], diagonal[c], up[c], left, one);
#if BAND
                if (uint32(first + k - (j + c) + band) > 2 * uint32(band)) here = far;
#endif
                diagonal[c] = left;
                up[c] = left = here;
            }
            stored[k] = left;
        };
        const auto pass_on = [&](int j, int c) {
#if STRIPS
            if (writes && l == G - 1) __stcg(edge + j + c, below[c]);
#endif
        };
        const auto take = [&](int j, const Level* columns) {
            const Level column[kAcross] = {columns[0], columns[1]};
            Cost diagonal[kAcross] = {corner, below[0]};
            corner = below[1];
#pragma unroll
            for (int k = 0; k < K; ++k) take_row(k, j, kAcross, column, diagonal, below);
            pass_on(j, 0);
            pass_on(j, 1);
        };
        const auto take_one = [&](int j, int c, Level column) {
            Cost diagonal = corner;
            corner = below[c];
#pragma unroll
            for (int k = 0; k < K; ++k) take_row(k, j + c, 1, &column, &diagonal, below + c);
            pass_on(j, c);
        };
        // Brings what is above the first row; `u` is the first column within the block.
        const auto receive = [&](int u) {
#pragma unroll
            for (int c = 0; c < kAcross; ++c) {
#if STRIPS
                const Cost top = entering_block[threadIdx.x / 32][u + c];
#else
                const Cost top = far;
#endif
                const Cost above = __shfl_up_sync(FULL, below[c], 1, G);
                below[c] = l == 0 ? top : above;
            }
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
        const int steps = largest_of_warp(end - begin) + kLag;
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
            // After the block before, the last lane has written the columns up to t0 - kLag.
            if (writes && t0 > kLag && l == G - 1) {
                __threadfence();
                *done_here = min(begin + t0 - kLag, end);
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
            const int here = begin + t0 - kAcross * l;  // the lane's first column
            const Level* const mine = ring + (here - begin) % kRing + (here < begin ? kRing : 0);
            if (t0 >= kLag && t0 + kBlock <= fast_end) {
#pragma unroll 1
                for (int u = 0; u < kBlock; u += kAcross) {
                    receive(u);
                    take(here + u, mine + u);
                }
                continue;
            }
#pragma unroll 1
            for (int u = 0; u < kBlock && t0 + u < steps; u += kAcross) {
                const Cost kept[kAcross] = {below[0], below[1]};
                receive(u);
#pragma unroll
                for (int c = 0; c < kAcross; ++c) {
                    const int j = here + u + c;
                    if (j < begin || j >= end) {
                        below[c] = kept[c];
                        continue;
                    }
                    take_one(here + u, c, mine[u + c]);
#pragma unroll
                    for (int h = 0; h < kPairs; ++h) {
                        if (j + 1 == int(pair[h].columns) && j + 1 < longest) report(h, best(h));
                    }
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
