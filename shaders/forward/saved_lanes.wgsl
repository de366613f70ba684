// What a lane saves of its strip in memory: its rows, which long_rows.wgsl made, its states between two dispatches, and
// what crosses to the other half.
//
// Each entry holds four rows.

// import host: W, QUADS, NO_LETTER, EMISSIONS, COEFFICIENTS, STATES, BELOW, SUM, CROSSING
// import forward/emissions.wgsl: emissions
// import forward/states.wgsl: Coefficients, States
// import forward/scaling.wgsl: Sum
// import forward/strips.wgsl: strips
// export: load_rows, Progress, load_progress, save_states, save_sum, save_crossing, finish_crossing

// Coefficients of a lane's rows; their emissions go into workgroup memory.
fn load_rows(at: u32, lane: u32) -> Coefficients {
    var rows: Coefficients;
//#for q QUADS
    let from_deletions$q = bitcast<vec4<f32>>(strips[at + (COEFFICIENTS + $qu) * W]);
    let from_insertions$q = bitcast<vec4<f32>>(strips[at + (COEFFICIENTS + QUADS + $qu) * W]);
    let extend_insertions$q = bitcast<vec4<f32>>(strips[at + (COEFFICIENTS + 2u * QUADS + $qu) * W]);
    let extend_deletions$q = bitcast<vec4<f32>>(strips[at + (COEFFICIENTS + 3u * QUADS + $qu) * W]);
//#for letter EMITTED
    let emissions$letter_$q = bitcast<vec4<f32>>(strips[at + (EMISSIONS + $letteru * QUADS + $qu) * W]);
//#end
//#end
//#for k K
//#for letter EMITTED
    emissions[$letter][$k][lane] = emissions$letter_$k.quad.$k.axis;
//#end
    emissions[NO_LETTER][$k][lane] = 0.0;
    rows.from_deletion$k = from_deletions$k.quad.$k.axis;
    rows.from_insertion$k = from_insertions$k.quad.$k.axis;
    rows.extend_insertion$k = extend_insertions$k.quad.$k.axis;
//#if VARYING
    rows.extend_deletion$k = extend_deletions$k.quad.$k.axis;
//#end
//#end
    return rows;
}

// How far a lane has come.
struct Progress {
    states: States,
    exponent: i32,  // of the states
    sum: Sum,
}

fn load_progress(at: u32) -> Progress {
    var progress: Progress;
//#for q QUADS
    let ss$q = bitcast<vec4<f32>>(strips[at + (STATES + $qu) * W]);
    let ds$q = bitcast<vec4<f32>>(strips[at + (STATES + QUADS + $qu) * W]);
//#end
//#for k K
    progress.states.s$k = ss$k.quad.$k.axis;
    progress.states.d$k = ds$k.quad.$k.axis;
//#end
    let of_below = strips[at + BELOW * W];
    progress.states.below = bitcast<vec2<f32>>(of_below.xy);
    progress.exponent = bitcast<i32>(of_below.z);
    let of_sum = strips[at + SUM * W];
    progress.sum = Sum(bitcast<f32>(of_sum.x), bitcast<i32>(of_sum.y));
    return progress;
}

fn save_states(at: u32, states: States, exponent: i32) {
//#for q QUADS
    var states$q = vec4<f32>(0.0, 0.0, 0.0, 0.0);
    var deletions$q = vec4<f32>(0.0, 0.0, 0.0, 0.0);
//#end
//#for k K
    states$k.quad.$k.axis = states.s$k;
    deletions$k.quad.$k.axis = states.d$k;
//#end
//#for q QUADS
    strips[at + (STATES + $qu) * W] = bitcast<vec4<u32>>(states$q);
    strips[at + (STATES + QUADS + $qu) * W] = bitcast<vec4<u32>>(deletions$q);
//#end
    strips[at + BELOW * W] = vec4<u32>(bitcast<vec2<u32>>(states.below), bitcast<u32>(exponent), 0u);
}

// Save a sum, and the step up to which the strip is done.
fn save_sum(at: u32, sum: Sum, t: u32) {
    strips[at + SUM * W] = vec4<u32>(bitcast<u32>(sum.value), bitcast<u32>(sum.exponent), t, 0u);
}

// Save a lane's states where its half ends, until `finish_crossing`.
fn save_crossing(at: u32, states: ptr<function, States>, exponent: i32) {
//#for q QUADS
    var matches$q = vec4<f32>(0.0, 0.0, 0.0, 0.0);
    var deletions$q = vec4<f32>(0.0, 0.0, 0.0, 0.0);
//#end
//#for k K
    matches$k.quad.$k.axis = (*states).s$k;
    deletions$k.quad.$k.axis = (*states).d$k;
//#end
//#for q QUADS
    strips[at + (CROSSING + $qu) * W] = bitcast<vec4<u32>>(matches$q);
    strips[at + (CROSSING + QUADS + $qu) * W] = bitcast<vec4<u32>>(deletions$q);
//#end
    strips[at + (CROSSING + 2u * QUADS) * W] = vec4<u32>(bitcast<u32>(exponent), 0u, 0u, 0u);
}

// What crosses to the other half, for join.wgsl: of a left half S and from_deletion D, of a right half M' and D' of the
// column to come, which has `letter`.
fn finish_crossing(at: u32, rows: Coefficients, lane: u32, is_right: bool, letter: u32) {
//#for q QUADS
    var matches$q = bitcast<vec4<f32>>(strips[at + (CROSSING + $qu) * W]);
    var deletions$q = bitcast<vec4<f32>>(strips[at + (CROSSING + QUADS + $qu) * W]);
//#end
//#for k K
    matches$k.quad.$k.axis *= select(1.0, emissions[letter][$k][lane], is_right);
    deletions$k.quad.$k.axis *= select(rows.from_deletion$k, 1.0, is_right);
//#end
//#for q QUADS
    strips[at + (CROSSING + $qu) * W] = bitcast<vec4<u32>>(matches$q);
    strips[at + (CROSSING + QUADS + $qu) * W] = bitcast<vec4<u32>>(deletions$q);
//#end
}
