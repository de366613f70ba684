// Before long.wgsl: the rows of all strips, made once.
//
// Method. A workgroup makes the rows of its strip as the tiles do (lanes.wgsl), and puts its lanes' coefficients and
// emissions into `strips`, four rows an entry.
//
// Versions: one; a small part of a long pair's time, and no figures of its own.
//
// Limits. `unfit` says which strips have rows that lanes with exponents do not hold: their pairs go to the CPU.

// needs host: W, G, K, QUADS, EMITTED, ITEM_WORDS, ITEM_READ, ITEM_HALF, ITEM_STRIP, RESULT_WORDS, RESULT_COARSE
// needs host: RESULT_FINE, RESULT_UNFIT, EMISSIONS, COEFFICIENTS, STRIP_LANE, SUM, UNFINISHED
// needs forward/batch.wgsl: batch, work, out, item_of, find_read
// needs forward/emissions.wgsl: emissions
// needs forward/lanes.wgsl: Lane, load_lane, load_emissions
// needs forward/rows_*.wgsl: first_deletion
// needs forward/scaling.wgsl: sum_falls
// needs forward/strips.wgsl: strips, first_step, strip_at
// gives: forward_long_rows

var<workgroup> kept_coarse: array<i32, W>;
var<workgroup> kept_fine: array<i32, W>;
var<workgroup> unfit: array<u32, W>;

// Tell the host of a strip: log10 of what its rows are relative to, and what does not fit them.
fn note_strip(item: u32, loaded: Lane, lane: u32) {
    kept_coarse[lane] = loaded.kept.x;
    kept_fine[lane] = loaded.kept.y;
    unfit[lane] = loaded.unfit;
    workgroupBarrier();
    if lane == 0u {
        var total = vec2<i32>(0, 0);
        var unfits = 0u;
        for (var l = 0u; l < W; l++) {
            total += vec2<i32>(kept_coarse[l], kept_fine[l]);
            unfits |= unfit[l];
        }
        let result = work.kept + RESULT_WORDS * item;
        out[result + RESULT_COARSE] = bitcast<u32>(total.x);
        out[result + RESULT_FINE] = bitcast<u32>(total.y);
        out[result + RESULT_UNFIT] = unfits | UNFINISHED;
    }
}

// Four rows of what `load_lane` and `load_emissions` staged.
fn staged(kind: u32, q: u32, lane: u32) -> vec4<u32> {
    return bitcast<vec4<u32>>(vec4<f32>(
        emissions[kind][4u * q][lane],
        emissions[kind][4u * q + 1u][lane],
        emissions[kind][4u * q + 2u][lane],
        emissions[kind][4u * q + 3u][lane],
    ));
}

// The rows of one strip.
@compute @workgroup_size(W)
fn forward_long_rows(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let item = item_of(workgroup, workgroups);
    if item >= work.end_item {
        return;
    }
    let item_at = work.items + ITEM_WORDS * item;
    let read = find_read(batch[item_at + ITEM_READ]);
    let strip = batch[item_at + ITEM_STRIP];
    let row = strip * (G * K);
    let at = strip_at(item, lane);
    // A right half takes the read from its last row up.
    let is_right = batch[item_at + ITEM_HALF] != 0u;
    let first = read.first + select(row, read.rows - 1u - row, is_right);
    let way = select(1, -1, is_right);
    let loaded = load_lane(lane, lane, first, read.rows - row, read.rows, way);
    for (var q = 0u; q < QUADS; q++) {
        for (var kind = 0u; kind < 4u; kind++) {
            strips[at + (COEFFICIENTS + kind * QUADS + q) * W] = staged(kind, q, lane);
        }
    }
    load_emissions(lane, lane, first, read.rows - row, way);
    for (var q = 0u; q < QUADS; q++) {
        for (var letter = 0u; letter < EMITTED; letter++) {
            strips[at + (EMISSIONS + letter * QUADS + q) * W] = staged(letter, q, lane);
        }
    }
    let falls = bitcast<vec2<u32>>(sum_falls(loaded.fall, lane));
    note_strip(item, loaded, lane);
    strips[at + SUM * W] = vec4<u32>(0u, 0u, first_step(strip), 0u);
    strips[at + STRIP_LANE * W] = vec4<u32>(falls, bitcast<u32>(first_deletion(read.first)), 0u);
}
