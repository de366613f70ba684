// Whole matrices of every pair of a batch in float32.
//
// Method: a block is one warp, and takes a tile of 32 / G reads against some haplotypes of their group (a work item). G
// lanes own a read, each lane K of its rows in registers; S and I go down to the next lane by two shuffles a column.
// What a column does to a lane, and how many warps a multiprocessor must hold, stands in the file before this one:
// letters.cuh, or pdhmm.cuh for partially determined haplotypes. It is compiled for each shape (G, K) that a batch
// needs. Haplotypes of a warp may differ in length: the loop runs to each length in turn. With TALL, a read of more
// than 32 K rows is cut into strips; the row between two strips goes through memory.
//
// Ladder, kernels alone on an NVIDIA H200 in GCUPS (10^9 cells a second). "128 x 128" are 32 reads x 32 haplotypes a
// group.
//
//     what                                                          128 x 128  256 x 256  512 x 512
//     gpuPairHMM at 3965d2d, on the same kind of machine                2,335      2,480      2,575
//     first prototype, 7 operations a cell                              2,686      2,948          -
//     prototype, 5 operations a cell (rows.cuh)                         3,579      3,716      3,544
//     this kernel (benchmarks/results/device-nvidia-h200-cuda.tsv)      3,805      3,812      3,899
//
// Letters padded on both sides of a haplotype, so that no step has a branch, gave 7%; 8 columns unrolled 8% over 4.
// benchmarks/forward-gpu.md has what else was tried.
//
// Limits: five floating-point instructions a cell would allow 6,700 GCUPS on an H200; 58% is reached, since the five
// read 13 registers a row and dispatch stalls take 27 to 33% of the issue slots. 1,024 x 1,024 bases (two strips) reach
// 3,651: a step takes 97 instructions instead of 92. Only reads that must begin at a haplotype's first letter come
// here; trees.cu takes the others. No state has an exponent: they start at 2^kStartExponent, and a pair whose sum falls
// below kLeastSum (a score about 62 below that of a perfect match) goes on a list for scaled.cu.

constexpr int kStartExponent = START_EXPONENT;
constexpr float kLeastSum = LEAST_SUM;
constexpr int kPart = PART;  // columns of one loop iteration

// Sum of M + I over the columns of the read's last row, relative to 2^kStartExponent. Lane G - 1 has the complete sum.
// `steps` is columns + G - 1, or 0 for lanes without a haplotype. between[column] (TALL only, from column 1 - G on)
// holds what enters lane 0: S and I of the strip's first row. What leaves lane G - 1 overwrites it.
// Of a haplotype's columns, those that it shares with the one before it are not computed again.
__device__ __forceinline__ float sum_columns(const Lane& lane, const Path& path, float deletion, float first,
                                             const uint8* letters, int steps, float2* between) {
    const int l = threadIdx.x % G;
    States state;
    clear(state);
    state.s[0] = first;
    const float keep = l == 0 ? 0.0f : 1.0f;
    // Many columns may add nearly the same. So the sum is made of sums of kPart columns each, which rounds less often.
    // Where these parts end does not depend on the warp's other haplotypes, so the score does not either.
    float part = 0, sum = 0, result = 0;
    const int done = path.begin(state, sum);  // a multiple of kPart
    const uint8* column = letters + done - l;
    steps -= done;
    // A letter, and what enters, are read one column before they are used.
    uint32 next = column[0];
    float2 next_entering = make_float2(deletion, 0);
#if TALL
    if (l == 0) next_entering = between[0];
#endif
    const auto next_column = [&](int t, bool in_run) {
        const uint32 letter = next;
        next = column[t + 1];
        const float2 entering = next_entering;
#if TALL
        if (l == 0) next_entering = between[t + 1];
#endif
        const float s = multiply_add(__shfl_up_sync(FULL, state.s_below, 1, G), keep, entering.x);
        const float i = multiply_add(__shfl_up_sync(FULL, state.i_below, 1, G), keep, entering.y);
        lane.advance(state, letter, s, i, in_run);
        part += state.i_below;
#if TALL
        if (l == G - 1) between[t - (G - 1)] = make_float2(state.s_below, state.i_below);
#endif
    };
    for (int t = 0, end; (end = next_end(path.stop(done + t, done + steps) - done, t)) > t;) {
        while (t < end) {
            if (t % kPart == 0 && t + kPart <= end && lane.runs(next)) {
#pragma unroll
                for (int u = 0; u < kPart; ++u) next_column(t + u, true);
                t += kPart;
            } else {
                next_column(t++, false);
            }
            if (t % kPart == 0) {
                sum += part;
                part = 0;
            }
        }
        path.pass(done + t, state, sum);
        if (steps == t) result = sum + part;
    }
    return result;
}

// Tiles of reads against some of their haplotypes: a block takes every gridDim.x-th item.
// items: x is its first read (an index into order), y the number of its block of `haplotypes_each` haplotypes of the
// group.
// last_read: one past the tier's last read in order. listed, list: number, and pairs (read, haplotype), for
// forward_scaled.
// between: with TALL, `widest` columns for each block, and G before and after them. Without, the block's `widest`
// float2 for states.
extern "C" __global__ void __launch_bounds__(32, kBlocks)
    forward_fast(const uint8* __restrict__ buffer, const Tables* __restrict__ tables, const uint2* __restrict__ items,
                 int64 item_count, int64 last_read, int64 haplotypes_each, uint32* listed, uint2* list, float2* between,
                 int64 widest, double* scores, uint8* precision) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    volatile Task& task = reinterpret_cast<Task*>(reinterpret_cast<uint8*>(shared) + kEmissionBytes)[threadIdx.x / G];
    const bool writes = threadIdx.x % G == G - 1;
    Lane lane;
    const auto load = [&](const Read& read, int row) {
        const Strip strip = lane.load(buffer, header, *tables, read, row);
        const float entry = __shfl_sync(FULL, strip.entry, 0, G);
        if (writes) {
            task.log_kept = (row == 0 ? 0.0 : task.log_kept) + strip.log_kept;
            task.folds = (row == 0 || task.folds) && strip.folds;
            task.scales = !TALL && strip.scales;
            if (row == 0) task.entry = entry;
        }
        __syncwarp();
    };
#if TALL
    between += size_t(blockIdx.x) * (widest + 2 * G) + G;
#endif
    const auto letters_of = [&](uint32 haplotype) {
        const uint32* offset = words(fresh(buffer), header.haplotype_offset) + haplotype;
        return int(offset[1] - offset[0]);
    };
    const Path path{task, buffer, between, widest};
    for (uint32 index = blockIdx.x; index < item_count; index = task.item + gridDim.x) {
        __syncwarp();  // all lanes have read the item
        const uint2 item = items[index];
        const uint32 last = uint32(last_read), each = uint32(haplotypes_each);
        const uint32 at = item.x + threadIdx.x / G;
        const Read read = find_read(buffer, header, words(buffer, header.order)[at < last ? at : last - 1]);
        const uint32 group_end = words(buffer, header.group_haplotype)[read.group + 1];
        const uint32 first = words(buffer, header.group_haplotype)[read.group] + item.y * each;
        const uint32 end = min(first + each, group_end);
        if (writes) {
            task.read = read.index;
            task.item = index;
            task.first = task.haplotype = first;
            task.end = at < last ? end : 0;
            task.score = uint32(score_index(buffer, header, read, first));
        }
#if !TALL
        load(read, 0);
#endif
        __syncwarp();
        while (__any_sync(FULL, task.haplotype < task.end)) {
            const bool works = task.haplotype < task.end;
            const uint32 haplotype = path.haplotype(works ? task.haplotype : 0);
            const int columns = letters_of(haplotype);
            const uint8* letters = buffer + header.letters + words(buffer, header.haplotype_offset)[haplotype];
            const float divisor = Path::kShares ? 1 : float(columns);
            const float start = threadIdx.x % G == 0 ? exp2f(kStartExponent) : 0.0f;
#if TALL
            const Read read = find_read(buffer, header, task.read);
            float sum = 0;
            for (int row = 0; row < read.rows; row += G * K) {
                load(read, row);
                float first = 0;
                if (row == 0) {
                    const float deletion = task.entry * exp2f(kStartExponent) / divisor;
                    first =
                        float(header.start_match) * start + (start > 0 ? deletion : 0) * float(header.start_deletion);
                    for (int t = threadIdx.x; t < columns; t += G) between[t] = make_float2(deletion, 0);
                }
                __syncwarp();
                sum = sum_columns(lane, path, 0, first, letters, columns + G - 1, between);
                __syncwarp();
            }
#else
            const float deletion = task.entry * start / divisor;
            const float first = float(header.start_match) * start + deletion * float(header.start_deletion);
            const float sum = sum_columns(lane, path, deletion, first, letters, works ? columns + G - 1 : 0, between);
#endif
            if (writes && task.haplotype < task.end) {
                const uint32 haplotype = path.haplotype(task.haplotype),
                             score = task.score + haplotype - task.haplotype;
                const bool held = task.folds && sum >= kLeastSum && sum < infinity();
                const double mean = Path::kShares ? double(sum) / letters_of(haplotype) : double(sum);
                scores[score] = held ? log10(mean) - kStartExponent * LOG10_2 + task.log_kept : double(not_a_number());
                precision[score] = held ? PRECISION_FAST : PRECISION_NONE;
                if (!held && task.folds && task.scales) list[atomicAdd(listed, 1u)] = make_uint2(task.read, haplotype);
            }
            __syncwarp();
            if (writes) {
                task.haplotype = task.haplotype + 1;
                task.score = task.score + 1;
            }
            __syncwarp();
        }
    }
}
