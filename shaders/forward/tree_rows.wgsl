// Rows of reads, made once and ready to load: what trees.wgsl begins with.
//
// Method. A workgroup makes the rows of one work item (tree_tasks.wgsl), four rows an invocation. Making a row waits for
// bytes, then for tables, then for divisions. trees.wgsl has few lanes, since its rows take most registers;
// here many invocations hide the waiting. One kernel serves all numbers of rows, and the model's rows_*.wgsl is in no
// other kernel of trees.
//
// Versions: this is the first one. On one NVIDIA H200 it takes 0.13 ms of a call for s150 (10,000 items), and 0.30 ms for
// 20 copies of 1m (21,244 items in four dispatches).
//
// Limits. An item has up to 27 kB, more than half of which are emissions: 20 copies of 1m write 430 MB.

// needs host: W, MAKERS, TREE_TIERS, TREES_OF_GROUP, UNSCALED, UNTURNED, LEAST_OPENING, MADE_ROWS
// needs host: MADE_FROM_DELETION, MADE_FROM_INSERTION, MADE_EXTEND_INSERTION, MADE_FROM_BELOW, MADE_EMISSIONS
//#if VARYING
// needs host: MADE_EXTEND_DELETION
//#end
//#if MASKED
// needs host: LETTERS
// needs forward/tree_tasks.wgsl: put_masks
//#end
// needs forward/batch.wgsl: batch, work, Read, find_read, item_of
// needs forward/row.wgsl: Row, carrying_row
// needs forward/rows_*.wgsl: load_row, first_deletion, relative_emissions
// needs forward/sums.wgsl: unfit, begin_read, note_rows, put_kept
// needs forward/tree_tasks.wgsl: scratch, Task, OWN_READ, put_task, made_of_place, place_of
// gives: forward_tree_rows

// Row `i` of a read in both orders.
fn row_of(read: Read, i: u32) -> Row {
    var row = carrying_row();
    if i < read.rows {
        row = load_row(read.first + i, i + 1u == read.rows);
    }
    // What starts behind the read's end comes up as it is: its insertions end with probability 1.
    if i + 1u >= read.rows {
        row.from_insertion = row.extend_insertion;
    }
    row.unfit |= select(UNSCALED, 0u, row.opening >= LEAST_OPENING) | select(UNTURNED, 0u, row.from_below >= 0.0);
    row.from_below = select(row.from_below, 0.0, i == 0u);
    return row;
}

fn emissions_of(read: Read, i: u32) -> array<f32, 5> {
    if i < read.rows {
        return relative_emissions(read.first + i);
    }
    return array<f32, 5>();
}

//#if MASKED
var<workgroup> masks: array<array<atomic<u32>, W>, LETTERS>;

fn begin_masks(index: u32) {
//#for letter LETTERS
    atomicStore(&masks[$letter][index], 0u);
//#end
}

//#end
// Makes four rows of a lane, from its row `k` on, which is row `i` of the read.
fn make_rows(entry: u32, stride: u32, read: Read, i: u32, lane: u32, k: u32, slot: u32) {
//#for r QUAD
    let row$r = row_of(read, i + $ru);
    let relative$r = emissions_of(read, i + $ru);
//#end
    scratch[entry + MADE_FROM_DELETION * stride] =
        vec4<f32>(row0.from_deletion, row1.from_deletion, row2.from_deletion, row3.from_deletion);
    scratch[entry + MADE_FROM_INSERTION * stride] =
        vec4<f32>(row0.from_insertion, row1.from_insertion, row2.from_insertion, row3.from_insertion);
    scratch[entry + MADE_EXTEND_INSERTION * stride] =
        vec4<f32>(row0.extend_insertion, row1.extend_insertion, row2.extend_insertion, row3.extend_insertion);
    scratch[entry + MADE_FROM_BELOW * stride] =
        vec4<f32>(row0.from_below, row1.from_below, row2.from_below, row3.from_below);
//#if VARYING
    scratch[entry + MADE_EXTEND_DELETION * stride] =
        vec4<f32>(row0.extend_deletion, row1.extend_deletion, row2.extend_deletion, row3.extend_deletion);
//#end
//#if MASKED
    let ones = vec4<f32>(1.0, 1.0, 1.0, 1.0);
    var other = ones;
//#end
//#for letter LETTERS
    let four$letter = vec4<f32>(relative0[$letter], relative1[$letter], relative2[$letter], relative3[$letter]);
//#if MASKED
    let is_one$letter = four$letter == ones;
    atomicOr(&masks[$letter][lane], dot(vec4<u32>(is_one$letter), vec4<u32>(1u, 2u, 4u, 8u)) << k);
    other = select(four$letter, other, is_one$letter);
//#else
    scratch[entry + (MADE_EMISSIONS + $letteru) * stride] = four$letter;
//#end
//#end
//#if MASKED
    scratch[entry + MADE_EMISSIONS * stride] = other;
//#end
    // The last four may be more than the lane has.
    var kept = vec2<i32>(0, 0);
    var flags = 0u;
//#for r QUAD
    if k + $ru < work.lane_rows {
        kept += row$r.kept;
        flags |= row$r.unfit;
    }
//#end
    note_rows(slot, kept, flags);
}

@compute @workgroup_size(MAKERS)
fn forward_tree_rows(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let number = item_of(workgroup, workgroups);
    if number >= work.end_item {
        return;
    }
    var tier = 0u;
    var before = 0u;  // items of the tiers before it
    for (; tier + 1u < TREE_TIERS && number >= work.tiers[2u * tier].x; tier++) {
        before = work.tiers[2u * tier].x;
    }
    let of_tier = work.tiers[2u * tier];  // the words of TREE_TIER
    let lanes = of_tier.z;
    let rank = number - before;
    let made = made_of_place(place_of(tier, of_tier.x - before, rank));
    let item = work.items + 2u * (of_tier.y + rank);
    let block = batch[item + 1u];

    // An invocation makes four rows of a lane. Neighbours have neighbouring lanes.
    let lane = index % W;
    let k = index / W * 4u;
    let at = batch[item] + lane / lanes;
    let read = find_read(batch[work.order + min(at, of_tier.w - 1u)]);
    if index < W {
        begin_read(index);
//#if MASKED
        begin_masks(index);
//#end
    }
    workgroupBarrier();
    if k < work.lane_rows {
        let stride = W * ((work.lane_rows + 3u) / 4u);
        let entry = made + MADE_ROWS + W * (k / 4u) + lane;
        make_rows(entry, stride, read, lane % lanes * work.lane_rows + k, lane, k, lane / lanes);
    }
    workgroupBarrier();
    if index >= W {
        return;
    }
    // One invocation a lane.
    let of_group = work.of_group + TREES_OF_GROUP * read.group;
    let trees = batch[of_group + 1u];  // pairs of them
    let is_own = at < of_tier.w && block < trees;
    if at < of_tier.w && block == 0u && lane % lanes == 0u {
        put_kept(read, lane / lanes);
    }
    let flags = atomicLoad(&unfit[lane / lanes]) | select(0u, OWN_READ, is_own);
    // Lanes without a read, or without such trees, walk others along.
    let tree = select(0u, batch[of_group] + min(block, max(trees, 1u) - 1u), trees > 0u);
//#if MASKED
    put_masks(made, lane, array<u32, LETTERS>(
//#for letter LETTERS
        atomicLoad(&masks[$letter][lane]),
//#end
    ));
//#end
    put_task(made, lane, Task(read.index, read.group, tree, tier, flags, first_deletion(read.first)));
}
