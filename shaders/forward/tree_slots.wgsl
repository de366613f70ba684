// Scratch memory of a workgroup that walks trees: states at open branches, and what halves hand to the joins.
//
// A slot of a branch has LANE_ENTRIES entries for each lane, end to end, because lanes save and restore one after the
// other: S of its rows in fours, D in fours, and its sums. Slots of leaves have the same entries, each for all lanes, because
// lanes join at once. Behind the slots lie numbers of lanes, four to an entry.

// needs host: W, K, QUADS, LANE_ENTRIES
// needs forward/states.wgsl: Coefficients, States
// needs forward/emissions.wgsl: emissions
// gives: slot_of, save_states, restore_states, leaf_of, save_left_leaf, save_right_leaf, sum_of_leaf
// gives: put_sum_of_leaf, join, put_number, number_of
// gives: save_from_below, from_below_of

@group(0) @binding(6) var<storage, read_write> scratch: array<vec4<f32>>;

// Where a lane's part of a slot begins; the slots begin at `at`.
fn slot_of(at: u32, slot: u32, lane: u32) -> u32 {
    return at + (slot * W + lane) * LANE_ENTRIES;
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
    scratch[at + $qu] = s$q;
    scratch[at + QUADS + $qu] = d$q;
//#end
    scratch[at + 2u * QUADS] = vec4<f32>(sums, 0.0, 0.0);
}

fn restore_states(at: u32, states: ptr<function, States>) -> vec2<f32> {
//#for q QUADS
    let s$q = scratch[at + $qu];
    let d$q = scratch[at + QUADS + $qu];
//#end
//#for k K
    (*states).s$k = s$k.quad.$k.axis;
    (*states).d$k = d$k.quad.$k.axis;
//#end
    return scratch[at + 2u * QUADS].xy;
}

// Where a lane's first entry of a leaf's slot lies; the slots begin at `at`.
fn leaf_of(at: u32, leaf: u32, lane: u32) -> u32 {
    return at + leaf * (W * LANE_ENTRIES) + lane;
}

// What a left half hands to the joins: S, and from_deletion D one row further down, where its partner D' lies. `at` is
// in the lane that has the same rows of the right half.
fn save_left_leaf(
    at: u32,
    states: ptr<function, States>,
    rows: Coefficients,
    is_first: bool,
    is_last: bool,
    sum: f32,
) {
//#for q QUADS
    var s$q = vec4<f32>(0.0, 0.0, 0.0, 0.0);
//#end
//#for k K
    s$k.quad.$k.axis = (*states).s$k;
    // The lane above writes a lane's first one.
    if $ku + 1u < K || !is_last {
        let to = at - ($ku + 1u) / K + W * (QUADS + ($ku + 1u) % K / 4u);
        scratch[to][($ku + 1u) % K % 4u] = (*states).d$k * rows.from_deletion$k;
    }
//#end
    if is_first {
        s0.x = 0.0;  // what starts behind the cut is in the right half's sum
        scratch[at + W * QUADS].x = 0.0;
    }
//#for q QUADS
    scratch[at + W * $qu] = s$q;
//#end
    scratch[at + W * 2u * QUADS] = vec4<f32>(sum, 0.0, 0.0, 0.0);
}

// What a right half hands to the joins: m of its last column, and D'.
fn save_right_leaf(at: u32, states: ptr<function, States>, letter: u32, lane: u32) {
//#for q QUADS
    var m$q = vec4<f32>(0.0, 0.0, 0.0, 0.0);
    var d$q = vec4<f32>(0.0, 0.0, 0.0, 0.0);
//#end
//#for k K
    m$k.quad.$k.axis = (*states).s$k * emissions[letter][$k][lane];
    d$k.quad.$k.axis = (*states).d$k;
//#end
//#for q QUADS
    scratch[at + W * $qu] = m$q;
    scratch[at + W * (QUADS + $qu)] = d$q;
//#end
}

// The sum that a half handed over.
fn sum_of_leaf(at: u32) -> f32 {
    return scratch[at + W * 2u * QUADS].x;
}

fn put_sum_of_leaf(at: u32, sum: f32) {
    scratch[at + W * 2u * QUADS] = vec4<f32>(sum, 0.0, 0.0, 0.0);
}

// A lane's part of a join. The left half has its rows in the other order.
fn join(left: u32, right: u32) -> f32 {
    var matched = 0.0;
    var deleted = 0.0;
//#for q QUADS
    let s$q = scratch[left + W * $qu];
    let d$q = scratch[left + W * (QUADS + $qu)];
    let m$q = scratch[right + W * $qu];
    let e$q = scratch[right + W * (QUADS + $qu)];
//#end
//#for k K
    matched = fma(m$k.quad.$k.axis, s$k.back.quad.$k.back.axis, matched);
    deleted = fma(e$k.quad.$k.axis, d$k.back.quad.$k.back.axis, deleted);
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

// Extensions of insertions from below, by the rows of each lane.
fn save_from_below(at: u32, lane: u32, k: u32, value: f32) {
    scratch[at + lane * QUADS + k / 4u][k % 4u] = value;
}

fn from_below_of(at: u32, lane: u32, k: u32) -> f32 {
    return scratch[at + lane * QUADS + k / 4u][k % 4u];
}
