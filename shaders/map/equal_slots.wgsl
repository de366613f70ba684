// Equal slots of queries and targets.
//
// Method. A workgroup has a tile of 64 queries and 64 targets, and an invocation 4 of each. The words of the tile's
// sketches come to workgroup memory STEP at a time, and each is then compared 64 times. All planes of a word follow one
// another, so that differing slots are counted once for all planes.
//
// Versions: one.
//
// Limits. 256 words are counted for a pair at 8,192 slots of 1 bit. NVIDIA's GPUs count 16 words in a cycle and
// multiprocessor, which is what limits them.

// import host: BITS, STEP, TILE, STRIDE, CompareParams
// export: equal_slots

@group(0) @binding(0) var<uniform> params: CompareParams;
@group(0) @binding(1) var<storage, read> queries: array<u32>;  // [queries][BITS][words]
@group(0) @binding(2) var<storage, read> targets: array<u32>;  // likewise
@group(0) @binding(3) var<storage, read_write> found: array<vec2u>;  // [queries][params.stride], four counts in each

var<workgroup> own: array<vec4u, STEP * STRIDE>;  // [STEP][STRIDE], four sketches in each
var<workgroup> theirs: array<vec4u, STEP * STRIDE>;

// Where word `row` of a sketch is. Rows are counted as words are compared: all planes of 32 slots, then the next slots.
fn place(row: u32) -> u32 {
    return row % BITS * params.words + row / BITS;
}

@compute @workgroup_size(256)
fn equal_slots(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let across = (params.targets + TILE - 1) / TILE;
    let number = workgroup.y * workgroups.x + workgroup.x;
    let first_query = params.first_query + number / across * TILE;
    let first_target = number % across * TILE;
    if first_query >= params.end_query {
        return;
    }
    let rows = params.words * BITS;
    let query = lane / 16;
    let target_ = lane % 16;
//#for i EACH
    var differs$i = vec4u();
    var counts$i = vec4u();
//#end
//#if MANY_PLANES
    var plane = 0u;
//#end
    for (var row = 0u; row < rows; row += STEP) {
        for (var at = lane; at < STEP * TILE; at += 256) {
            let here = row + at % STEP;
            let sketch = at / STEP;
            if here < rows {
                let word = place(here);
                let cell = at % STEP * STRIDE + sketch / 4;
                let from_query = min(first_query + sketch, params.end_query - 1);
                let from_target = min(first_target + sketch, params.targets - 1);
                own[cell][sketch % 4] = queries[from_query * rows + word];
                theirs[cell][sketch % 4] = targets[from_target * rows + word];
            }
        }
        workgroupBarrier();
        let end = min(STEP, rows - row);
        for (var step = 0u; step < end; step++) {
            let a = own[step * STRIDE + query];
            let b = theirs[step * STRIDE + target_];
//#if MANY_PLANES
//#for i EACH
            differs$i |= vec4u(a[$i]) ^ b;
//#end
            plane++;
            if plane == BITS {
                plane = 0;
//#for i EACH
                counts$i += countOneBits(differs$i);
                differs$i = vec4u();
//#end
            }
//#else
//#for i EACH
            counts$i += countOneBits(vec4u(a[$i]) ^ b);
//#end
//#end
        }
        workgroupBarrier();
    }
    let slots = vec4u(32 * params.words);
    let column = first_target / 4 + target_;
    if column >= params.stride {
        return;
    }
//#for i EACH
    let query$i = first_query + 4 * query + $i;
    if query$i < params.end_query {
        let equal = slots - counts$i;
        found[(query$i - params.first_query) * params.stride + column] =
            vec2u(equal.x | equal.y << 16, equal.z | equal.w << 16);
    }
//#end
}
