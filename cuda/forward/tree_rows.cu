// Rows of reads, made once and ready to load: what trees.cu begins with.
//
// Method: a warp makes the rows of one work item, for the lanes that walk it, and the tasks of these lanes
// (tree_tasks.cuh). A row waits for bytes and then for tables. So a lane makes four rows at once, and the kernel has
// many warps. It divides nothing: the tables have quotients (rows.cuh). One launch makes the rows of all tiers.

// The row after the read's last. What comes from above goes down as it is, and what starts here comes up as it is: its
// insertions end with probability 1.
__device__ __forceinline__ Row turning_row() {
    Row row = carrying_row();
    row.extension = row.im_per_mm = 1;
    return row;
}

// A number for each lane of a warp, summed.
__device__ __forceinline__ uint32 sum_of_warp(uint32 value) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(FULL, value, step);
    return value;
}

extern "C" __global__ void __launch_bounds__(32 * ROWS_WARPS, ROWS_BLOCKS)
    forward_tree_rows(const uint8* __restrict__ buffer, const Tables* __restrict__ tables,
                      const uint2* __restrict__ trees_of_group, const uint2* __restrict__ items,
                      const TreeTier* __restrict__ tiers, int64 tier_count, int64 item_count,
                      uint8* __restrict__ made_memory) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    const int lane = threadIdx.x % 32;
    const uint32 index = blockIdx.x * ROWS_WARPS + threadIdx.x / 32;
    if (index >= item_count) return;
    // The last tier that begins at this item or before it.
    uint32 number = 0;
    for (uint32 first = 0; first < tier_count; first += 32) {
        const uint32 other = first + lane;
        number += __popc(__ballot_sync(FULL, other < tier_count && tiers[other].start <= index));
    }
    const TreeTier& tier = tiers[--number];
    const uint32 rank = index - tier.start;
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
    // Lanes past the read's end, and rows, are read from its last position.
    const auto row_at = [&](const Positions& four, int r, int i) {
        const int back = max(0, i - (read.rows - 1));
        const Row row = row_of(buffer, header, *tables, four, max(0, r - back));
        return i < read.rows ? row : turning_row();
    };
    const auto positions_from = [&](int i) {
        return load_positions(buffer, header, read.first + min(i, read.rows - 1));
    };
    const float entry = real(row_at(positions_from(l * rows), 0, l * rows).dm_per_mm);
    double log_kept = 0;
    int folds = 1;
    // The reads of a tile with several strips have all its lanes: 32.
    const int strips = strips_of(read.rows, lanes, rows);
#pragma unroll 1
    for (int strip = 0; strip < strips; ++strip) {
        Quad* const own = reinterpret_cast<Quad*>(made + kTaskBytes) + strip * kCoefficients * quads * 32 + lane;
        const int first_row = (strip * 32 + l) * rows;
        Row now = row_at(positions_from(first_row), 0, first_row);
#pragma unroll 1
        for (int q = 0; q < quads; ++q) {
            const int first = first_row + 4 * q;
            const Positions next_four = positions_from(first + 1);
            real made_row[kCoefficients][4];
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                const Row next = row_at(next_four, r, first + r + 1);
                const bool is_row = 4 * q + r < rows;
                Fold f;
                const bool folded = fold(now, next, f);
                folds = folds && (folded || !is_row);
                log_kept += is_row ? now.log_kept : 0;
                made_row[kFromDeletion][r] = f.from_deletion;
                made_row[kFromInsertion][r] = f.from_insertion;
                made_row[kExtendInsertion][r] = f.extend_insertion;
                made_row[kFromBelow][r] = first + r == 0 ? real(0) : real(now.extension * next.im_per_mm);
#if VARYING
                made_row[kExtendDeletion][r] = real(now.dd);
#endif
                now = next;
            }
#pragma unroll
            for (int a = 0; a < kCoefficients; ++a) {
                own[(a * quads + q) * 32] = {made_row[a][0], made_row[a][1], made_row[a][2], made_row[a][3]};
            }
        }
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
