// Rows of reads, made once and ready to load: what trees.cu begins with.
//
// Method: a block makes the rows of one work item, for the lanes that walk it. Each of its warps makes four rows of
// every lane, and the first one also the tasks of the lanes (tree_tasks.cuh). Making a row waits for bytes, then for
// tables, then for divisions. trees.cu has few warps, since its rows take most registers; this kernel has many, which
// hide the waiting. One launch makes the rows of all tiers.
//
// Limits: 0.26 ms of the 1.4 ms that 1m x 20 takes on an NVIDIA H200. With six blocks a multiprocessor a lane has 64
// registers, and some are spilled; more warps that wait at once are worth it.

constexpr int kMostQuads = MOST_QUADS;  // warps of a block; a lane's rows need no more

__shared__ double kept_of_quads[kMostQuads][32];  // log10 of what is left along four rows,
__shared__ int folds_of_quads[kMostQuads][32];    // and whether they fold

// The row after the read's last. What comes from above goes down as it is, and what starts here comes up as it is: its
// insertions end with probability 1.
__device__ __forceinline__ Row turning_row() {
    Row row = carrying_row();
    row.im = 1;
    return row;
}

// The extension of an insertion from below, from row `next` to `now`.
__device__ __forceinline__ real extension_from_below(const Row& now, const Row& next) {
    return real(now.ii * next.im / (now.im * next.mm * now.best));
}

// A number for each lane of a warp, summed.
__device__ __forceinline__ uint32 sum_of_warp(uint32 value) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(FULL, value, step);
    return value;
}

extern "C" __global__ void __launch_bounds__(32 * kMostQuads, ROWS_BLOCKS)
    forward_tree_rows(const uint8* __restrict__ buffer, const Tables* __restrict__ tables,
                      const uint2* __restrict__ trees_of_group, const uint2* __restrict__ items,
                      const TreeTier* __restrict__ tiers, int64 tier_count, uint8* __restrict__ made_memory) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    const int lane = threadIdx.x % 32, q = threadIdx.x / 32;
    // The last tier that begins at this item or before it.
    uint32 number = 0;
    for (uint32 first = 0; first < tier_count; first += 32) {
        const uint32 other = first + lane;
        number += __popc(__ballot_sync(FULL, other < tier_count && tiers[other].start <= blockIdx.x));
    }
    const TreeTier& tier = tiers[--number];
    const uint32 rank = blockIdx.x - tier.start;
    uint32 before = 0;  // items of the launch's other tiers that come first
    for (uint32 k = lane; k < tier.launch_tiers; k += 32) {
        const uint32 other = tier.launch_first + k;
        const unsigned long long scaled = (unsigned long long)(rank)*tiers[other].items;
        if (other < number) before += uint32(scaled / tier.items) + 1;
        if (other > number) before += uint32((scaled + tier.items - 1) / tier.items);
    }
    uint8* const made = made_memory + tier.made + size_t(rank + sum_of_warp(before)) * tier.item_bytes;
    const int lanes = int(tier.lanes), rows = int(tier.rows), quads = (rows + 3) / 4;
    const int l = lane % lanes;
    const uint2 item = items[tier.first_item + rank];
    const uint32 at = item.x + lane / lanes;
    const Read read =
        find_read(buffer, header, words(buffer, header.order)[at < tier.last_read ? at : tier.last_read - 1]);
    Quad* const own = reinterpret_cast<Quad*>(made + kTaskBytes) + lane;
    const auto row_at = [&](int i) {
        return i < read.rows ? load_row(buffer, header, *tables, read.first + i) : turning_row();
    };
    float entry = 0;
    if (q < quads) {
        bool folds = true;
        double log_kept = 0;
        Row now = row_at(l * rows + 4 * q);
        entry = real(now.dm) / real(now.mm);
        real made_row[kCoefficients][4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int k = 4 * q + r, i = l * rows + k;
            if (k < rows) {
                const Row next = row_at(i + 1);
                Fold f;
                folds = fold(now, next, f) && folds;
                log_kept += now.log_kept;
                made_row[kFromDeletion][r] = f.from_deletion;
                made_row[kFromInsertion][r] = f.from_insertion;
                made_row[kExtendInsertion][r] = f.extend_insertion;
                made_row[kFromBelow][r] = i == 0 ? real(0) : extension_from_below(now, next);
#if VARYING
                made_row[kExtendDeletion][r] = real(now.dd);
#endif
                now = next;
            } else {
                for (int a = 0; a < kCoefficients; ++a) made_row[a][r] = 0;
            }
        }
#pragma unroll
        for (int a = 0; a < kCoefficients; ++a) {
            own[(a * quads + q) * 32] = {made_row[a][0], made_row[a][1], made_row[a][2], made_row[a][3]};
        }
        kept_of_quads[q][lane] = log_kept;
        folds_of_quads[q][lane] = folds;
    }
    __syncthreads();
    if (q > 0) return;
    double log_kept = 0;
    int folds = 1;
    for (int other = 0; other < quads; ++other) {
        log_kept += kept_of_quads[other][lane];
        folds = folds && folds_of_quads[other][lane];
    }
    // Summed in an order that depends on the shape alone.
    for (int step = 1; step < lanes; step *= 2) {
        log_kept += __shfl_xor_sync(FULL, log_kept, step, lanes);
        folds = __shfl_xor_sync(FULL, folds, step, lanes) && folds;
    }
    const uint2 of_group = trees_of_group[read.group];
    Task task;
    task.log_kept = log_kept;
    task.entry = __shfl_sync(FULL, entry, 0, lanes);
    task.read = read.index;
    task.group = read.group;
    task.tree = of_group.y > 0 ? of_group.x + min(item.y, of_group.y - 1) : 0;
    task.tier = number;
    task.flags = (at < tier.last_read && item.y < of_group.y ? kIsOwn : 0) | (folds ? kFolds : 0);
    reinterpret_cast<Task*>(made)[lane] = task;
}
