// Rows of reads, made once and ready to load: what trees.wgsl begins with.
//
// Method. A workgroup makes the rows of one work item (tree_tasks.wgsl), one row an invocation and round. Making a row
// waits for bytes, then for tables, then for divisions. trees.wgsl has few lanes, since its rows take most registers;
// here many invocations hide the waiting. One kernel serves all numbers of rows, and the model's rows_*.wgsl is in no
// other kernel of trees.
//
// Versions, for s150 (10,000 items) and 20 copies of 1m (21,244 items) on one NVIDIA H200:
//
//     eight rows of each lane at once                                          0.13 ms   0.30 ms
//     emissions as masks; four rows at once, all loads of a row at once        0.14 ms   0.25 ms
//     no atomics for each row; what a task needs is read once a lane           0.13 ms   0.24 ms
//
// Limits. It waits for bytes and tables. An item has up to 13 kB, or 27 kB where rows have more than two emissions.

// import host: W, MAKERS, TREE_TIERS, TREES_OF_GROUP, UNSCALED, UNTURNED, LEAST_OPENING, MADE_ROWS
// import host: MADE_FROM_DELETION, MADE_FROM_INSERTION, MADE_EXTEND_INSERTION, MADE_FROM_BELOW, MADE_EMISSIONS
//#if VARYING
// import host: MADE_EXTEND_DELETION
//#end
//#if MASKED
// import host: LETTERS
// import forward/tree_tasks.wgsl: put_masks
//#end
// import forward/batch.wgsl: batch, work, Read, find_read, item_of
// import forward/row.wgsl: Row, carrying_row
// import forward/rows_*.wgsl: load_row, first_deletion, relative_emissions
// import forward/sums.wgsl: unfit, begin_read, note_rows, put_kept
// import forward/tree_tasks.wgsl: scratch, Task, OWN_READ, put_task, made_of_place, place_of
// export: forward_tree_rows

// Where an array's number of a lane's row lies.
struct Place {
    entry: u32,  // that of the array with number 0
    part: u32,
    stride: u32,  // entries from an array to the next
}

fn put(place: Place, array_number: u32, value: f32) {
    scratch[place.entry + array_number * place.stride][place.part] = value;
}

// Row `i` of a read, for both orders.
fn in_both_orders(made: Row, read: Read, i: u32) -> Row {
    var row = made;
    // What starts behind the read's end comes up as it is: its insertions end with probability 1.
    if i + 1u >= read.rows {
        row.from_insertion = row.extend_insertion;
    }
    row.unfit |= select(UNSCALED, 0u, row.opening >= LEAST_OPENING) | select(UNTURNED, 0u, row.from_below >= 0.0);
    row.from_below = select(row.from_below, 0.0, i == 0u);
    return row;
}

// What invocations tell of their rows: one entry each, and the four of a lane are neighbours.
var<workgroup> kept_of: array<vec2<i32>, MAKERS>;
var<workgroup> flags_of: array<u32, MAKERS>;
//#if MASKED
var<workgroup> masks_of: array<array<u32, MAKERS>, LETTERS>;
//#end

fn put_row(place: Place, row: Row, relative: array<f32, 5>) {
    put(place, MADE_FROM_DELETION, row.from_deletion);
    put(place, MADE_FROM_INSERTION, row.from_insertion);
    put(place, MADE_EXTEND_INSERTION, row.extend_insertion);
    put(place, MADE_FROM_BELOW, row.from_below);
//#if VARYING
    put(place, MADE_EXTEND_DELETION, row.extend_deletion);
//#end
//#if MASKED
    // The emission that is not 1.
    var other = 1.0;
//#for letter LETTERS
    other = select(relative[$letter], other, relative[$letter] == 1.0);
//#end
    put(place, MADE_EMISSIONS, other);
//#else
//#for letter EMITTED
    put(place, MADE_EMISSIONS + $letteru, relative[$letter]);
//#end
//#end
}

// The read at a place in the order of the tiles; behind a tier's last one, that one.
fn read_at(place: u32, end: u32) -> Read {
    return find_read(batch[work.order + min(place, end - 1u)]);
}

var<workgroup> made_at: u32;  // where the item begins

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
    if index == 0u {
        made_at = made_of_place(place_of(tier, of_tier.x - before, rank));
    }
    let item = work.items + 2u * (of_tier.y + rank);
    let block = batch[item + 1u];

    // An invocation makes rows of one lane. Four rows of a lane are neighbours, and so are all lanes.
    let lane = index / 4u % W;
    let first_read = batch[item];
    let read = read_at(first_read + lane / lanes, of_tier.w);
    // The first invocations have a lane each, too. What its task needs comes before any row: memory is slow.
    let own_at = first_read + index % W / lanes;
    var own = Read();
    var entry = 0.0;
    var first_tree = 0u;
    var trees = 0u;  // pairs of them
    if index < W {
        begin_read(index);
        own = read_at(own_at, of_tier.w);
        entry = first_deletion(own.first);
        let of_group = work.of_group + TREES_OF_GROUP * own.group;
        first_tree = batch[of_group];
        trees = batch[of_group + 1u];
    }
    workgroupBarrier();
    let made = made_at;
    let stride = W * ((work.lane_rows + 3u) / 4u);
    var kept = vec2<i32>(0, 0);
    var flags = 0u;
//#if MASKED
//#for letter LETTERS
    var mask$letter = 0u;
//#end
//#end
    for (var k = index / (4u * W) * 4u + index % 4u; k < work.lane_rows; k += MAKERS / W) {
        let i = lane % lanes * work.lane_rows + k;
        var row = carrying_row();
        var relative = array<f32, 5>();
        if i < read.rows {
            relative = relative_emissions(read.first + i);
            row = load_row(read.first + i, i + 1u == read.rows);
        }
        row = in_both_orders(row, read, i);
        put_row(Place(made + MADE_ROWS + W * (k / 4u) + lane, k % 4u, stride), row, relative);
        kept += row.kept;
        flags |= row.unfit;
//#if MASKED
//#for letter LETTERS
        mask$letter |= select(0u, 1u << k, relative[$letter] == 1.0);
//#end
//#end
    }
    kept_of[index] = kept;
    flags_of[index] = flags;
//#if MASKED
//#for letter LETTERS
    masks_of[$letter][index] = mask$letter;
//#end
//#end
    workgroupBarrier();
    // One invocation a lane, from here on.
    if index < W {
        kept = vec2<i32>(0, 0);
        flags = 0u;
        for (var maker = 4u * index; maker < MAKERS; maker += 4u * W) {
//#for r QUAD
            kept += kept_of[maker + $ru];
            flags |= flags_of[maker + $ru];
//#end
        }
        note_rows(index / lanes, kept, flags);
    }
    workgroupBarrier();
    if index >= W {
        return;
    }
    let is_own = own_at < of_tier.w && block < trees;
    if own_at < of_tier.w && block == 0u && index % lanes == 0u {
        put_kept(own, index / lanes);
    }
    flags = atomicLoad(&unfit[index / lanes]) | select(0u, OWN_READ, is_own);
    // Lanes without a read, or without such trees, walk others along.
    let tree = select(0u, first_tree + min(block, max(trees, 1u) - 1u), trees > 0u);
//#if MASKED
    var of_letter = array<u32, LETTERS>();
    for (var maker = 4u * index; maker < MAKERS; maker += 4u * W) {
//#for letter LETTERS
//#for r QUAD
        of_letter[$letter] |= masks_of[$letter][maker + $ru];
//#end
//#end
    }
    put_masks(made, index, of_letter);
//#end
    put_task(made, index, Task(own.index, own.group, tree, tier, flags, entry));
}
