// Before long.wgsl: the rows of all strips, made once.
//
// Method. A workgroup makes the rows of its strip as the tiles do (lanes.wgsl), and puts its lanes' coefficients and
// emissions into `strips`, four rows an entry. Making a row waits for memory and has long arithmetic, so PARTS
// invocations share the rows of a lane.
//
// Versions, for a pair of 100,000 x 100,000 of a profile model on one NVIDIA H200:
//
//     an invocation a lane    0.39 ms
//     six invocations         0.18 ms
//
// Limits. `unfit` says which strips have rows that lanes with exponents do not hold: their pairs go to the CPU.

// import host: W, PARTS, SEGMENT, G, K, QUADS, EMITTED, ITEM_WORDS, ITEM_READ, ITEM_HALF, ITEM_STRIP, RESULT_WORDS
// import host: RESULT_COARSE, RESULT_FINE, RESULT_UNFIT, EMISSIONS, COEFFICIENTS, STRIP_LANE, SUM, UNFINISHED, UNSCALED
// import forward/batch.wgsl: batch, work, out, item_of, find_read
// import forward/emissions.wgsl: emissions
// import forward/lanes.wgsl: Lane, load_lane, load_emissions, holds_fall
// import forward/rows_*.wgsl: first_deletion
// import forward/scaling.wgsl: sum_falls
// import forward/strips.wgsl: strips, first_step, strip_at
// export: forward_long_rows

var<workgroup> of_part: array<Lane, W * PARTS>;  // those of a part follow each other
var<workgroup> of_lane: array<Lane, W>;

// What the parts of a lane made.
fn whole_lane(lane: u32) -> Lane {
    var whole = Lane(vec2<i32>(0, 0), 0u, 0.0);
    for (var index = lane; index < W * PARTS; index += W) {
        whole.kept += of_part[index].kept;
        whole.unfit |= of_part[index].unfit;
        whole.fall += of_part[index].fall;
    }
    whole.unfit |= select(UNSCALED, 0u, holds_fall(whole.fall));
    return whole;
}

// Tell the host of a strip: log10 of what its rows are relative to, and what does not fit them.
fn note_strip(item: u32, index: u32) {
    if index == 0u {
        var total = vec2<i32>(0, 0);
        var unfits = 0u;
        for (var l = 0u; l < W; l++) {
            total += of_lane[l].kept;
            unfits |= of_lane[l].unfit;
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
@compute @workgroup_size(W * PARTS)
fn forward_long_rows(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let lane = index % W;
    let part = index / W;
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
    of_part[index] = load_lane(lane, lane, first, read.rows - row, read.rows, way, part);
    workgroupBarrier();
    for (var entry = part; entry < 4u * QUADS; entry += PARTS) {
        strips[at + (COEFFICIENTS + entry) * W] = staged(entry / QUADS, entry % QUADS, lane);
    }
    let whole = whole_lane(lane);
    if index < W {
        of_lane[lane] = whole;
    }
    workgroupBarrier();
    load_emissions(lane, lane, first, read.rows - row, way, part);
    // All parts of a lane bring the same number. Behind its barrier, all emissions are there.
    let falls = bitcast<vec2<u32>>(sum_falls(whole.fall, lane, lane % SEGMENT));
    for (var entry = part; entry < EMITTED * QUADS; entry += PARTS) {
        strips[at + (EMISSIONS + entry) * W] = staged(entry / QUADS, entry % QUADS, lane);
    }
    note_strip(item, index);
    if index < W {
        strips[at + SUM * W] = vec4<u32>(0u, 0u, first_step(strip), 0u);
        strips[at + STRIP_LANE * W] = vec4<u32>(falls, bitcast<u32>(first_deletion(read.first)), 0u);
    }
}
