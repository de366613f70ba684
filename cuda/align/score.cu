// Scores of alignments: global, or with free ends of the sequence that the rows are.
//
// Method: G neighbouring lanes own a strip of G * K rows of a group, each lane K of them in registers. Column j reaches
// lane l at step j + l, and what leaves a lane's last row goes to the next lane by a shuffle. A group is two pairs in
// halves (halves.cuh) or one (words.cuh). Rows are padded at the top, so that the last row is always the strip's last.
//
// Scores S are kept as S' = S - (i + j) e, where e is the score of a gap's further base. So a gap's extension costs
// nothing, its opening d = gap_extend - gap_open, and no score decreases along a row or column of linear gaps. A cell:
//
//     linear   S' = max(S'[i-1,j-1] + s, S'[i-1,j], S'[i,j-1])
//     affine   H = max(G[i-1,j-1] + s, E, F);  G = H - d;  E = max(E, G[i,j-1]);  F = max(F, G[i-1,j])
//
// Affine scores are kept as G, and s is d more than the score. All are `bias` more, so that none is below 0.
//
// With TRACE all scores are four times as large, and two low bits say where a candidate comes from, so that the maximum
// takes the origin that comes first among equals: kLetter, then a deletion, then an insertion (trace.cuh).

// Ladder, kernels alone on an NVIDIA H200 in GCUPS (10^9 cells a second), pairs of 256 x 256 bases:
//
//     what                                                               linear  affine
//     published, an alignment a thread (H100)                                31       -
//     prototype: a pair of halves a thread, rows between strips in memory 7,780       -
//     this kernel, G x K = 16 x 16                                       11,020   5,770
//                         8 x 32                                         12,410   6,220
//                         4 x 64                                         13,210       -
//     with words in place of halves, 16 x 16                              4,400   2,700
//     with TRACE, 8 x 32, and trace.cu                                    4,220   2,130
//
// What moved it: one prmt.b32 for the scores of both alignments; the sum as IMAD, on another pipe than the maximum
// (`one` keeps the compiler from an addition there); the next row's diagonal before this row's score, without which a
// sixth of the loop is moves; lanes beside each other, so that no row goes through memory. What did not: more warps
// with spilled rows (8 x 32: 11,500 with 5 blocks in place of 4).
//
// Limits: two of the three instructions of two linear cells, and four of six of affine ones, run on a pipe of 64 lanes
// a clock: 16,700 and 8,400 GCUPS at 1.98 GHz. With STRIPS a column waits for a load of the row above: few long pairs
// (16 of 10,000 x 10,000) reach 600.

constexpr int kGroups = 32 / G;                            // of a warp
constexpr int kStrip = G * K;                              // rows
constexpr int kLetters = 32 / kBits;                       // of a word
constexpr int kFill = (G + kBlock - 2) / kBlock * kBlock;  // steps until all lanes have a column

// Of a warp's lanes. The compiler knows that these instructions give all lanes the same: with shuffles in their place,
// loops keep more in registers, and tall rows spill.
#if defined(PAIRHMM_EMULATED) || __CUDA_ARCH__ >= 800
__device__ __forceinline__ int least_of_warp(int value) { return __reduce_min_sync(FULL, value); }
__device__ __forceinline__ int most_of_warp(int value) { return __reduce_max_sync(FULL, value); }
#else
__device__ __forceinline__ int most_of_warp(int value) {
    for (int apart = 1; apart < 32; apart *= 2) value = max(value, __shfl_xor_sync(FULL, value, apart));
    return value;
}
__device__ __forceinline__ int least_of_warp(int value) { return -most_of_warp(-value); }
#endif

// A score, from one that is less (i + j) e; four times as large with TRACE, and so is the extension.
__device__ __forceinline__ int unskewed(uint32 value, uint32 skewed, uint32 extension) {
    constexpr int kTimes = TRACE ? 4 : 1;
    return int(value) / kTimes - int(skewed * (extension / kTimes));
}

#if STRIPS
static_assert(G == 32, "a strip is a warp's");

// Waits until the warp with the strip above has written `columns` of its last row.
__device__ __forceinline__ void wait_for(const volatile uint32* done, uint32 columns) {
    while (*done < columns) __nanosleep(20);
    __threadfence();
}
#endif

// pairs: [tasks * kGroups * kAlignments]; a task is a warp's. scores: by `pair_index`, whose ~0 is written nowhere.
//
// With STRIPS a task is a strip of a group: first that of all groups, then the second. Warps take tasks in this order,
// so that a strip's warp waits for a warp that runs. edges: [groups][edge_columns], the row between two strips (a
// score, and F of affine gaps); done: [strips][groups], columns of it that are written, all 0 at first; scores are all
// lowest.
extern "C" __global__ void __launch_bounds__(128, BLOCKS)
    align_score(const Pair* __restrict__ pairs, const uint32* __restrict__ pair_index, const uint32* __restrict__ words,
                int* __restrict__ scores, uint32* __restrict__ next_task, uint32 tasks, uint32 most_strips,
                uint32* edges, uint32 edge_columns, volatile uint32* done, uint32* trace, uint64* best,
                uint32 trace_steps, uint32 match, uint32 mismatch, uint32 opening, uint32 bias, uint32 extension,
                uint32 one) {
    __shared__ Table table;
    fill(table, match, mismatch);
    __syncthreads();
    const int lane = threadIdx.x % 32, l = lane % G, group = lane / G;
    const uint32 keep = l == 0 ? 0 : 1, minus_opening = both(AFFINE * kStoredCode) - both(opening), low = both(3) * one;
    for (;;) {
        uint32 task = 0;
        if (lane == 0) task = atomicAdd(next_task, 1u);
        task = __shfl_sync(FULL, task, 0);
#if STRIPS
        const uint32 groups = tasks, strip = task / groups;
        task %= groups;
        if (strip >= most_strips) return;
#else
        const uint32 strip = 0;
        if (task >= tasks) return;
#endif
        const uint32 slot = (task * kGroups + group) * kAlignments;
        Pair pair[kAlignments];
        int shortest = 0x7fffffff, longest = 0, rows = 0;
#pragma unroll
        for (int h = 0; h < kAlignments; ++h) {
            pair[h] = pairs[slot + h];
            shortest = min(shortest, int(pair[h].columns));
            longest = max(longest, int(pair[h].columns));
            rows = max(rows, int(pair[h].rows));
        }
        const int fast_end = (least_of_warp(shortest) - 1) / kBlock * kBlock, steps = most_of_warp(longest) + G - 1;
        const uint32 strips = STRIPS ? (rows + kStrip - 1) / kStrip : 1;
        if (strip >= strips) continue;
        uint32 result[kAlignments];
#pragma unroll
        for (int h = 0; h < kAlignments; ++h) result[h] = bias - 2 * opening + kStoredCode;
#if FREE && TRACE
        uint32 result_row[kAlignments] = {};
#endif
        Row row[K];
        uint32 stored[K], corner;
#if AFFINE
        uint32 e[K];
#endif
        const int first = strip * kStrip + l * K;
        int padding[kAlignments];
#pragma unroll
        for (int h = 0; h < kAlignments; ++h) padding[h] = strips * kStrip - int(pair[h].rows);
        // What is left of the first column, in row `first + k`; k is -1 for the row above.
        const auto border = [&](int k) {
            uint32 value[kAlignments];
#pragma unroll
            for (int h = 0; h < kAlignments; ++h) {
                const int i = max(0, first + k + 1 - padding[h]);
#if FREE
                value[h] = bias - opening + uint32(i) * extension + kStoredCode;
#else
                value[h] = bias - opening - (i > 0 ? opening : 0) + kStoredCode;
#endif
            }
            return joined(value);
        };
        corner = border(-1);
#pragma unroll
        for (int k0 = 0; k0 < K; k0 += kLetters) {
            uint32 word[kAlignments];
#pragma unroll
            for (int h = 0; h < kAlignments; ++h)
                word[h] = letters_at<kBits>(words, pair[h].row_letter, first + k0 - padding[h], pair[h].rows);
#pragma unroll
            for (int k = k0; k < k0 + kLetters && k < K; ++k) {
                uint32 letter[kAlignments];
                bool is_row[kAlignments];
#pragma unroll
                for (int h = 0; h < kAlignments; ++h) {
                    letter[h] = word[h] >> (k - k0) * kBits & ((1 << kBits) - 1);
                    is_row[h] = first + k >= padding[h];
                }
                row[k] = row_of(table, letter, is_row);
                stored[k] = border(k);
#if AFFINE
                e[k] = 0;
#endif
            }
        }
        uint32 below = 0, f_below = 0;  // what goes to the next lane
        // Lane 0 gets what is above the first row.
        const uint32 top = l == 0 ? both(bias - 2 * opening + kPassedCode) : 0;
        uint32 entering = top, f_entering = 0;
#if STRIPS
        const bool reads = strip > 0, writes = strip + 1 < strips;
        uint32* const edge = edges + size_t(task) * edge_columns * (1 + AFFINE);
        volatile uint32* const done_here = done + strip * groups + task;
        if (reads) {
            wait_for(done_here - groups, 1);
            entering = l == 0 ? __ldcg(edge) : 0;
            if (AFFINE) f_entering = l == 0 ? __ldcg(edge + 1) : 0;
        }
#endif
        const auto take = [&](int j, const Column& column) {
#if TRACE
            Traced traced;
#endif
            uint32 up = below, f = f_below, x = score(column, row[0]) * one + corner;
            // Of the codes, kLeft and kUp change places.
            corner = TRACE && !AFFINE ? up ^ low : up;
#pragma unroll
            for (int k = 0; k < K; ++k) {
                // Before the score in its place changes, it is the next row's diagonal.
                const uint32 next = k + 1 < K ? score(column, row[k + 1]) * one + stored[k] : 0;
#if AFFINE
                e[k] = larger(e[k], stored[k]);
                f = larger(f, up);
#if TRACE
                note_gaps(traced, k, e[k], f, low);
                e[k] = coded(e[k], low, kLeft), f = coded(f, low, kUp);
#endif
                up = largest(x, e[k], f);
#if TRACE
                note_origin(traced, k, up, low);
                up = coded(up, low, 0);
#endif
                up = up * one + minus_opening;
                stored[k] = up;
#else
                up = largest(x, up, stored[k]);
#if TRACE
                note_origin(traced, k, up, low);
#endif
                stored[k] = TRACE ? coded(up, low, kLeft) : up;
                if (TRACE) up = coded(up, low, kUp);
#endif
                x = next;
            }
            below = up;
            f_below = f;
#if TRACE
            store(traced, trace + trace_at(strip, tasks, task, trace_steps, j + l, lane));
#endif
#if STRIPS
            if (writes && l == G - 1) {
                __stcg(edge + j * (1 + AFFINE), below);
                if (AFFINE) __stcg(edge + j * (1 + AFFINE) + 1, f_below);
            }
#endif
        };
        // Brings what is above the first row.
        const auto receive = [&](int t) {
            if (G > 1) {
                below = __shfl_up_sync(FULL, below, 1, G) * keep + entering;
                if (AFFINE) f_below = __shfl_up_sync(FULL, f_below, 1, G) * keep + f_entering;
            } else {
                below = entering, f_below = f_entering;
            }
#if STRIPS
            if (reads && l == 0 && t + 1 < longest) {
                entering = __ldcg(edge + (t + 1) * (1 + AFFINE));
                if (AFFINE) f_entering = __ldcg(edge + (t + 1) * (1 + AFFINE) + 1);
            }
#endif
        };
        for (int t0 = 0; t0 < steps; t0 += kBlock) {
            uint32 word[kAlignments];
#pragma unroll
            for (int h = 0; h < kAlignments; ++h)
                word[h] = letters_at<kBits>(words, pair[h].column_letter, t0 - l, pair[h].columns);
            Letters letters = interleaved(word);
#if STRIPS
            // After the block before, the last lane has written the columns before t0 - (G - 1).
            if (writes && t0 >= G) {
                if (l == G - 1) {
                    __threadfence();
                    *done_here = min(t0 - (G - 1), longest);
                }
            }
            if (reads) wait_for(done_here - groups, min(t0 + kBlock + 1, longest));
#endif
            if (t0 >= kFill && t0 < fast_end) {
#pragma unroll 1
                for (int t = t0; t < t0 + kBlock; t += 2) {
#pragma unroll
                    for (int u = 0; u < 2; ++u) {
                        const Column column = column_of(table, next_letters(letters));
                        receive(t + u);
                        take(t + u - l, column);
                    }
                }
                continue;
            }
#pragma unroll 1
            for (int t = t0; t < t0 + kBlock && t < steps; ++t) {
                const int j = t - l;
                bool is_column[kAlignments];
#pragma unroll
                for (int h = 0; h < kAlignments; ++h) is_column[h] = j < int(pair[h].columns);
                const Column column = cut(column_of(table, next_letters(letters)), is_column);
                const uint32 kept = below, f_kept = f_below;
                receive(t);
                if (j < 0 || j >= longest) {
                    below = kept, f_below = f_kept;
                    continue;
                }
                take(j, column);
#pragma unroll
                for (int h = 0; h < kAlignments; ++h) {
                    if (j + 1 != int(pair[h].columns)) continue;
#if FREE
#pragma unroll
                    for (int k = 0; k < K; ++k) {
                        const int i = max(0, first + k + 1 - padding[h]);
                        const uint32 here = part(stored[k], h) - uint32(i) * extension;
#if TRACE
                        if (here > result[h]) result_row[h] = i;
#endif
                        result[h] = max(result[h], here);
                    }
#else
                    result[h] = part(below, h);
#endif
                }
            }
        }
#if STRIPS
        if (writes && l == G - 1) {
            __threadfence();
            *done_here = longest;
        }
#endif
#pragma unroll
        for (int h = 0; h < kAlignments; ++h) {
            const uint32 index = pair_index[slot + h], skewed = pair[h].columns + (FREE ? 0 : pair[h].rows);
            const uint32 code = AFFINE || FREE ? kStoredCode : kPassedCode;
#if FREE && !TRACE
            for (int apart = 1; apart < G; apart *= 2)
                result[h] = max(result[h], __shfl_xor_sync(FULL, result[h], apart));
#endif
            const int score = unskewed(result[h] - code + opening - bias, skewed, extension);
            if (index == ~0u) continue;
#if FREE && TRACE
            // Of equal scores that of the first row is the highest.
            atomicMax(&best[index], uint64(uint32(score) ^ 0x80000000u) << 32 | (0xffffffffu - result_row[h]));
#elif FREE && STRIPS
            if (l == G - 1) atomicMax(&scores[index], score);
#else
            if (l == G - 1 && strip + 1 == strips) scores[index] = score;
#endif
        }
    }
}
