// A Jacobi pass that blends the positions of samples with those of their neighbours.
//
// Method. An invocation has a sample, and adds up its neighbours in blocks of BLOCK: so sums of many are as exact as need
// be. cuda/map/place_blend.cu counts the bytes.
//
// Versions: one.
//
// Limits. A sample with very many neighbours keeps one invocation busy while the others are done.

// import host: BlendParams, WIDTH, BLOCK
// export: blend

@group(0) @binding(0) var<uniform> params: BlendParams;
@group(0) @binding(1) var<storage, read> given: array<u32>;  // neighbours and offsets
@group(0) @binding(2) var<storage, read> start: array<vec2f>;
@group(0) @binding(3) var<storage, read> before: array<vec2f>;
@group(0) @binding(4) var<storage, read_write> placed: array<vec2f>;

@compute @workgroup_size(WIDTH)
fn blend(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    let row = (workgroup.x + workgroup.y * workgroups.x) * WIDTH + own;
    if row >= params.samples {
        return;
    }
    let zero = given[params.offsets_at];
    let begin = given[params.offsets_at + row] - zero;
    let end = given[params.offsets_at + row + 1u] - zero;
    var position = start[params.first + row];
    if begin < end {
        var sum = vec2f(0.0);
        for (var first = begin; first < end; first += BLOCK) {
            var block = vec2f(0.0);
            for (var i = first; i < min(first + BLOCK, end); i++) {
                block += before[given[params.values_at + i]];
            }
            sum += block;
        }
        position = (1.0 - params.alpha) * position + params.alpha * (sum / f32(end - begin));
    }
    placed[params.first + row] = position;
}
