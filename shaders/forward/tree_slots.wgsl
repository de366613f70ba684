// Scratch memory of a workgroup that walks trees: states at open branches, and what the left halves hand to the joins.
//
// A slot has entries for S of four rows each, then for D, and one for what goes down between lanes and for a branch's
// sums. All lanes of an entry are neighbours, because the lanes restore and join at once. Behind the slots lie numbers
// of lanes, four to an entry.

// import host: W, QUADS, LANE_ENTRIES
// import forward/states.wgsl: Coefficients, States, Matches, LastRow
// import forward/tree_tasks.wgsl: scratch
// export: slot_of, save_states, restore_states, Handed, handed_by, leaf_of, save_leaf, join, put_number, number_of
// export: numbers_of

// Where a lane's first entry of a branch's slot lies; the slots begin at `at`.
fn slot_of(at: u32, slot: u32, lane: u32) -> u32 {
    return at + slot * (W * LANE_ENTRIES) + lane;
}

fn save_states(at: u32, states: ptr<function, States>, sums: vec2<f32>) {
//#for q QUADS
    var s$q = vec4<f32>(0.0, 0.0, 0.0, 0.0);
    var d$q = vec4<f32>(0.0, 0.0, 0.0, 0.0);
//#end
//#for k K
    s$k.quad.$k.axis = (*states).s$k;
    d$k.quad.$k.axis = (*states).d$k;
//#end
//#for q QUADS
    scratch[at + W * $qu] = s$q;
    scratch[at + W * (QUADS + $qu)] = d$q;
//#end
    scratch[at + W * 2u * QUADS] = vec4<f32>(sums, (*states).below);
}

fn restore_states(at: u32, states: ptr<function, States>) -> vec2<f32> {
//#for q QUADS
    let s$q = scratch[at + W * $qu];
    let d$q = scratch[at + W * (QUADS + $qu)];
//#end
    let last = scratch[at + W * 2u * QUADS];
//#for k K
    (*states).s$k = s$k.quad.$k.axis;
    (*states).d$k = d$k.quad.$k.axis;
//#end
    (*states).below = last.zw;
    return last.xy;
}

// What a left half hands to the joins: S, and from_deletion D one row further down, where its partner D' lies.
struct Handed {
    above: vec4<f32>,  // S, from_deletion D and I that go down from the lane above, whose columns are one more
//#for q QUADS
    s$q: vec4<f32>,
    d$q: vec4<f32>,
//#end
}

// `above` is still that of the lane below.
fn handed_by(states: ptr<function, States>, rows: Coefficients) -> Handed {
    var handed = Handed();  // zeros
//#for k K
    handed.s$k.quad.$k.axis = (*states).s$k;
    handed.d$k.after.quad.$k.after.axis = (*states).d$k * rows.from_deletion$k;
//#end
    handed.above = vec4<f32>((*states).below.x, handed.d0.x, (*states).below.y, 0.0);
    handed.d0.x = 0.0;
    return handed;
}

// Where a lane's first entry of a leaf's slot lies; the slots begin at `at`.
fn leaf_of(at: u32, leaf: u32, lane: u32) -> u32 {
    return at + leaf * (W * LANE_ENTRIES) + lane;
}

fn save_leaf(at: u32, handed: Handed) {
//#for q QUADS
    scratch[at + W * $qu] = handed.s$q;
    scratch[at + W * (QUADS + $qu)] = handed.d$q;
//#end
    scratch[at + W * 2u * QUADS] = handed.above;
}

// A lane's part of a join, before a column of the right half in which it has these matches. `last` is the last row of
// the column before it, which meets what the left half's lane above hands down. The left half has its rows in the
// other order.
fn join(left: u32, states: ptr<function, States>, matches: Matches, last: LastRow, rows: Coefficients) -> f32 {
    let above = scratch[left + W * 2u * QUADS];
    var inserted = 0.0;
//#for k K
    inserted = rows.from_insertion$k * last.i;
//#end
    var matched = above.x * last.m;
    var deleted = fma(above.y, last.d, above.z * inserted);
//#for q QUADS
    let s$q = scratch[left + W * $qu];
    let d$q = scratch[left + W * (QUADS + $qu)];
//#end
//#for k K
    matched = fma(matches.m$k, s$k.back.quad.$k.back.axis, matched);
    deleted = fma((*states).d$k, d$k.back.quad.$k.back.axis, deleted);
//#end
    return matched + deleted;
}

// Numbers of lanes: `index` of those that begin at `at`.
fn put_number(at: u32, index: u32, lane: u32, value: f32) {
    scratch[at + index * (W / 4u) + lane / 4u][lane % 4u] = value;
}

fn number_of(at: u32, index: u32, lane: u32) -> f32 {
    return scratch[at + index * (W / 4u) + lane / 4u][lane % 4u];
}

// Those of four lanes from `lane` on, a multiple of 4.
fn numbers_of(at: u32, index: u32, lane: u32) -> vec4<f32> {
    return scratch[at + index * (W / 4u) + lane / 4u];
}
