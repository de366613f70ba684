// What tree_rows.wgsl hands to trees.wgsl: the rows of each work item, ready to load, and what its lanes work at.
//
// The items of a dispatch lie in `scratch`, behind the scratch memory of its workgroups. An item has a task for each
// lane, with MASKED its masks (emissions.wgsl), and then arrays of numbers for each row, four rows to an entry. All
// lanes of an entry's rows are neighbours.
//
// Items of several tiers are merged: an item's place follows from its rank in its tier. A tier has its long items
// first, so the dispatch has, too.

// import host: W, TREE_TIERS
// import forward/batch.wgsl: work
//#if MASKED
// import host: LETTERS, TASK_ENTRIES
// export: put_masks, mask_of
//#end
// export: scratch, Task, OWN_READ, put_task, task_of, made_of_place, place_of

@group(0) @binding(6) var<storage, read_write> scratch: array<vec4<f32>>;

// What a lane works at.
struct Task {
    read: u32,   // its index
    group: u32,
    tree: u32,   // number of the pair of trees
    tier: u32,   // of the dispatch
    flags: u32,  // why its read has no scores here (`unfit`), and OWN_READ
    entry: f32,  // dm / mm of the read's first row
}

const OWN_READ = 32u;  // the lane's read is its own, and has this pair of trees
const ONE_TIER = 64u;

// An integer as two numbers that float32 holds: bits that are no number may change on their way.
fn halves(value: u32) -> vec2<f32> {
    return vec2<f32>(f32(value >> 16u), f32(value & 0xffffu));
}

fn whole(value: vec2<f32>) -> u32 {
    return (u32(value.x) << 16u) | u32(value.y);
}

// `made` is where the item's part of `scratch` begins.
fn put_task(made: u32, lane: u32, task: Task) {
    scratch[made + lane] = vec4<f32>(task.entry, f32(task.flags + ONE_TIER * task.tier), halves(task.read));
    scratch[made + W + lane] = vec4<f32>(halves(task.group), halves(task.tree));
}

fn task_of(made: u32, lane: u32) -> Task {
    let first = scratch[made + lane];
    let second = scratch[made + W + lane];
    let bits = u32(first.y);
    return Task(whole(first.zw), whole(second.xy), whole(second.zw), bits / ONE_TIER, bits % ONE_TIER, first.x);
}

//#if MASKED
// The masks of a lane's rows, as numbers of half their bits.
fn put_masks(made: u32, lane: u32, of_letter: array<u32, LETTERS>) {
//#for letter LETTERS
    scratch[made + W * (TASK_ENTRIES + $letteru / 2u) + lane][2u * ($letteru % 2u)] = halves(of_letter[$letter]).x;
    scratch[made + W * (TASK_ENTRIES + $letteru / 2u) + lane][2u * ($letteru % 2u) + 1u] = halves(of_letter[$letter]).y;
//#end
}

fn mask_of(made: u32, lane: u32, letter: u32) -> u32 {
    let entry = scratch[made + W * (TASK_ENTRIES + letter / 2u) + lane];
    return whole(select(entry.xy, entry.zw, letter % 2u == 1u));
}
//#end

// Where the item at a place of the dispatch has its part of `scratch`.
fn made_of_place(place: u32) -> u32 {
    return work.made + place * work.made_entries;
}

// The place of a tier's item in the dispatch, from its rank among the tier's items, of which there are `items`.
fn place_of(tier: u32, items: u32, rank: u32) -> u32 {
    var place = rank;
    var before = 0u;
    for (var other = 0u; other < TREE_TIERS && work.tiers[2u * other].x > before; other++) {
        let of_other = work.tiers[2u * other].x - before;
        before += of_other;
        if other < tier {
            place += rank * of_other / items + 1u;
        } else if other > tier {
            place += (rank * of_other + items - 1u) / items;
        }
    }
    return place;
}
