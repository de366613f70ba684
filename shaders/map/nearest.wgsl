// The targets with the most equal slots with each query.
//
// Method. A target's key has its equal slots, and below them how early it is, so that no two keys are equal. A workgroup
// has a query, and looks for the largest key, then for the largest one below it, and so on. The counts of a query stay in
// a cache, and to look at them takes much less time than to make them.
//
// Versions: one.
//
// Limits. A query is one workgroup's, so a few queries do not fill a device. Each of the targets that are wanted takes
// another look at all counts.

// import host: NearestParams, PLACE_BITS
// export: nearest

@group(0) @binding(0) var<uniform> params: NearestParams;
@group(0) @binding(1) var<storage, read> counts: array<vec2u>;  // [queries][params.stride], four counts in each
@group(0) @binding(2) var<storage, read_write> found: array<u32>;  // [queries][params.wanted] keys; 0 is none

const LAST_PLACE = (1u << PLACE_BITS) - 1;

var<workgroup> best: array<u32, 256>;

fn key_of(equal: u32, target_: u32, limit: u32) -> u32 {
    let key = equal << PLACE_BITS | (LAST_PLACE - target_);
    return select(0u, key, target_ < params.targets && key < limit);
}

@compute @workgroup_size(256)
fn nearest(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let query = workgroup.y * workgroups.x + workgroup.x;
    if query >= params.queries {
        return;
    }
    var limit = 0xffffffffu;
    for (var rank = 0u; rank < params.wanted; rank++) {
        var key = 0u;
        for (var column = lane; column < params.stride; column += 256) {
            let four = counts[query * params.stride + column];
            key = max(key, key_of(four.x & 0xffffu, 4 * column, limit));
            key = max(key, key_of(four.x >> 16, 4 * column + 1, limit));
            key = max(key, key_of(four.y & 0xffffu, 4 * column + 2, limit));
            key = max(key, key_of(four.y >> 16, 4 * column + 3, limit));
        }
        best[lane] = key;
        for (var half = 128u; half > 0; half /= 2) {
            workgroupBarrier();
            if lane < half {
                best[lane] = max(best[lane], best[lane + half]);
            }
        }
        limit = workgroupUniformLoad(&best[0]);
        if lane == 0 {
            found[(params.first_query + query) * params.wanted + rank] = limit;
        }
    }
}
