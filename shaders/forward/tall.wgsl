// Batch forward in float32: reads of more rows than the lanes of a tile hold.
//
// Method. As in forward.wgsl, but a tile is one read, whose rows are taken strip by strip: G lanes of K rows each. What
// the last row of a strip hands down reaches the next strip through memory. On its way it passes through workgroup
// memory, PART columns at a time.
//
// Versions on an H200 through Vulkan, 1,024 x 1,024 bases, in GCUPS (docs/webgpu.md):
//
//   long.wgsl, the kernel for pairs of any length                                 740
//   a load and a store for each column in the loop                              1,806
//   PART columns at a time through workgroup memory                             2,467
//
// Limits. Reads of up to 2,048 bases: of longer ones float32 holds few scores. Pairs whose sums it does not hold go to
// long.wgsl through the host; there is no list.

// import host: W, G, K, PART, START_VALUE
//#if SHUFFLES
// import host: UNORDERED
// import forward/pass_*.wgsl: in_order
//#end
// import forward/batch.wgsl: batch, work, item_of, find_read, score_index
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
// export: forward_tall

// S and I that enter a strip: work.between columns for each item, of which the last ones are only read ahead. A column
// is written long after it was read, and so lies in the same place.
@group(0) @binding(5) var<storage, read_write> between: array<vec2<f32>>;
// The columns of a part: what enters the first lane, and what leaves the last one.
var<workgroup> entering_part: array<vec2<f32>, PART>;
var<workgroup> leaving_part: array<vec2<f32>, PART>;

// Store the columns that left the last lane in the part before step t, for the next strip.
fn hand_on(between_at: u32, t: u32, lane: u32) {
    let step = t + lane;
    if lane < PART && step >= PART + G - 1u {
        between[between_at + step - (PART + G - 1u)] = leaving_part[lane];
    }
}

// One item: a read against some of its haplotypes.
@compute @workgroup_size(W)
fn forward_tall(
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
    let is_first = lane == 0u;
    let is_last = lane == G - 1u;
    let read = find_read(batch[work.order + batch[work.items + 2u * item]]);
    let block = batch[work.items + 2u * item + 1u];
    let entry = first_deletion(read.first);
    let first_haplotype = batch[work.group_haplotype + read.group] + block * work.haplotypes_each;
    let rounds = min(work.haplotypes_each, batch[work.group_haplotype + read.group + 1u] - first_haplotype);
    let first_score = score_index(read, first_haplotype);
    let between_at = work.list + (item - work.first_item) * work.between;
    if is_first {
        begin_read(0u);
    }

    for (var round = 0u; round < rounds; round++) {
        let offset = batch[work.haplotype_offset + first_haplotype + round];
        let columns = batch[work.haplotype_offset + first_haplotype + round + 1u] - offset;
        let steps = columns + G - 1u;
        let deletion = entry * START_VALUE / f32(max(columns, 1u));
        // The haplotype before this one is done.
        storageBarrier();
        workgroupBarrier();
        for (var column = lane; column < columns; column += G) {
            between[between_at + column] = vec2<f32>(deletion, 0.0);
        }
        var sum = 0.0;
        for (var row = 0u; row < read.rows; row += G * K) {
            // The strip before this one has written what it hands down, and its emissions are no longer needed.
            storageBarrier();
            workgroupBarrier();
            let loaded = load_lane(lane, lane, read.first + row, read.rows - row, read.rows);
            let rows = staged_coefficients(lane);
//#if FLAGS
            load_bases(lane, lane, read.first + row, read.rows - row, read.rows);
            clear_kept(lane);
//#else
            load_emissions(lane, lane, read.first + row, read.rows - row);
//#end
            if round == 0u {
                note_rows(0u, loaded.kept, loaded.unfit);
//#if SHUFFLES
                atomicOr(&unfit[0], select(UNORDERED, 0u, in_order(lane, subgroup_size, subgroup_lane)));
//#end
            }

            var states = States();  // zeros
            let first = work.start_match * START_VALUE + deletion * work.start_deletion;
            states.s0 = select(0.0, first, is_first && row == 0u);
            sum = 0.0;
            var letters = first_letters(work.letters + offset - lane);
            var ahead = between[between_at + min(lane, PART - 1u)];
            var t = 0u;
            for (; t < steps; t += PART) {
                workgroupBarrier();
                hand_on(between_at, t, lane);
                if lane < PART {
                    entering_part[lane] = ahead;
                    ahead = between[between_at + t + PART + lane];
                }
                workgroupBarrier();
                let letters_of_part = next_letters(&letters);
                let left = i32(steps) - i32(t);
                var part = 0.0;
//#if FLAGS
                for (var u = 0u; u < PART; u++) {
                    let above = select(from_above(states.below, lane, u), entering_part[u], is_first);
                    take_letter(&states, rows, letters_of_part.four0 >> (16u * u), lane, above);
                    if is_last {
                        leaving_part[u] = states.below;
                    }
                    part += select(0.0, states.below.y, left > i32(u));
                }
//#else
//#for u PART
                {
                    let letter = (letters_of_part.four$u.quad >> $u.byteu) & 7u;
                    let above = select(from_above(states.below, lane, $uu), entering_part[$u], is_first);
                    take_column(&states, rows, letter, lane, above);
                    if is_last {
                        leaving_part[$u] = states.below;
                    }
                    part += select(0.0, states.below.y, left > $u);
                }
//#end
//#end
                sum += part;
            }
            workgroupBarrier();
            hand_on(between_at, t, lane);
        }

        if is_last {
            put_sum(first_score + round, sum, atomicLoad(&unfit[0]));
        }
    }

    workgroupBarrier();
    if is_last && block == 0u {
        put_kept(read, 0u);
    }
}
