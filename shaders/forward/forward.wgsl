// Batch forward in float32: reads that fit the lanes of a tile.
//
// Method. A workgroup is a tile of W / G reads (tiles.wgsl). A read's G lanes take the columns of a haplotype one after
// the other: column j reaches lane l at step j + l. A lane computes S and I of the next lane's first row and hands them
// down. Haplotypes of a tile may differ in length: steps go on to the longest one's end, and what lies past a read's
// own haplotype is not added to its sum. Row coefficients and states stay in registers, emissions in workgroup memory.
//
// States have no exponent. They start at 2^START_EXPONENT; a pair whose sum falls below LEAST_SUM (a score about 62
// below that of a perfect match) goes on a list for scaled.wgsl.
//
// Versions on an H200 through Vulkan, in GCUPS (benchmarks/forward-gpu.md has more):
//
//   prototype, 128 x 128 bases, 8 lanes of 16 rows, 8 columns a loop iteration   1,946
//   10 rows a lane, emissions loaded one at a time                               2,725
//   16 rows a lane, rows of emissions not a power of two apart (STORED_ROWS)     2,907
//   s150, 12 columns a loop iteration (PART), as now                             3,117
//
// Limits. The driver chooses the registers: from 20 rows a lane on a cell takes 1.3 times as long. Reads of more than
// 32 * 19 = 608 rows go to tall.wgsl.

// import host: W, G, PART, START_VALUE
//#if SHUFFLES
// import host: UNORDERED
// import forward/pass_*.wgsl: in_order
//#end
// import forward/batch.wgsl: batch, work, item_of, find_read, score_index
// import forward/tiles.wgsl: largest_of_tile
// import forward/lanes.wgsl: load_lane
// import forward/rows_*.wgsl: first_deletion
// import forward/states.wgsl: States, staged_coefficients
//#if FLAGS
// import forward/flags.wgsl: load_bases, clear_kept, take_letter
//#else
// import forward/lanes.wgsl: load_emissions
// import forward/states.wgsl: take_column
//#end
// import forward/letters.wgsl: first_letters, next_letters
// import forward/pass_*.wgsl: from_above
// import forward/sums.wgsl: unfit, begin_read, note_rows, put_kept, put_sum
//#if FLAGS
//#else
// import forward/lists.wgsl: List, enlist
//#end
// export: forward

// One item: a tile of reads against some of their haplotypes.
@compute @workgroup_size(W)
fn forward(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
//#if SHUFFLES
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
//#end
) {
    let item = item_of(workgroup, workgroups);
    if item >= work.end_item {
        return;
    }
    let slot = lane / G;
    let is_first = lane % G == 0u;
    let is_last = lane % G == G - 1u;
    let at = batch[work.items + 2u * item] + slot;
    let block = batch[work.items + 2u * item + 1u];
    let read = find_read(batch[work.order + min(at, work.last - 1u)]);

    if is_first {
        begin_read(slot);
    }
    workgroupBarrier();
    let loaded = load_lane(lane, lane % G, read.first, read.rows, read.rows);
    let rows = staged_coefficients(lane);
//#if FLAGS
    load_bases(lane, lane % G, read.first, read.rows, read.rows);
//#else
    load_emissions(lane, lane % G, read.first, read.rows);
//#end

    note_rows(slot, loaded.kept, loaded.unfit);
//#if SHUFFLES
    atomicOr(&unfit[slot], select(UNORDERED, 0u, in_order(lane, subgroup_size, subgroup_lane)));
//#end
    workgroupBarrier();
    if is_last && at < work.last && block == 0u {
        put_kept(read, slot);
    }

    let entry = first_deletion(read.first);
    let group_end = batch[work.group_haplotype + read.group + 1u];
    let first_haplotype = batch[work.group_haplotype + read.group] + block * work.haplotypes_each;
    let first_score = score_index(read, first_haplotype);
    for (var round = 0u; round < work.haplotypes_each; round++) {
        let haplotype = first_haplotype + round;
        let works = at < work.last && haplotype < group_end;
        let offset = batch[work.haplotype_offset + select(0u, haplotype, works)];
        let columns = batch[work.haplotype_offset + select(0u, haplotype, works) + 1u] - offset;
        let steps = select(0u, columns + G - 1u, works);
        let longest = largest_of_tile(steps, lane);
        if longest == 0u {
            break;
        }

        let start = select(0.0, START_VALUE, is_first);
        let deletion = entry * start / f32(max(columns, 1u));
        var states = States();  // zeros
//#if FLAGS
        clear_kept(lane);
//#end
        states.s0 = work.start_match * start + deletion * work.start_deletion;
        // Many columns may add nearly the same to the sum, so it is summed in parts.
        var sum = 0.0;
        var letters = first_letters(work.letters + offset - lane % G);
        for (var t = 0u; t < longest; t += PART) {
            let letters_of_part = next_letters(&letters);
            let left = i32(steps) - i32(t);
            var part = 0.0;
//#if FLAGS
            for (var u = 0u; u < PART; u++) {
                let above = from_above(states.below, lane, u);
                let entering = vec2<f32>(select(above.x, deletion, is_first), select(above.y, 0.0, is_first));
                take_letter(&states, rows, letters_of_part.four0 >> (16u * u), lane, entering);
                part += select(0.0, states.below.y, left > i32(u));
            }
//#else
//#for u PART
            {
                let letter = (letters_of_part.four$u.quad >> $u.byteu) & 7u;
                let above = from_above(states.below, lane, $uu);
                let entering = vec2<f32>(select(above.x, deletion, is_first), select(above.y, 0.0, is_first));
                take_column(&states, rows, letter, lane, entering);
                part += select(0.0, states.below.y, left > $u);
            }
//#end
//#end
            sum += part;
        }

        if works && is_last {
            let unfits = atomicLoad(&unfit[slot]);
//#if FLAGS
            put_sum(first_score + round, sum, unfits);
//#else
            let held = put_sum(first_score + round, sum, unfits);
            if !held && unfits == 0u {
                enlist(List(work.rescuer, work.list), read.index, haplotype);
            }
//#end
        }
    }
}
