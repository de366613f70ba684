// Compares the places on the list in full, and sums each segment's qualities.
//
// Method. In `verify`, each workgroup takes a place, and its lanes share the columns. Places that match are written as
// hits, with their scores. In `total`, each lane takes a segment.
//
// Versions: one; few places are left, and it has no figures of its own.
//
// Limits. A place that several anchors found becomes several hits; the host counts them once.

// import host: VERIFY_WIDTH, SUMMED, SUM_TILE
// import scan/shared.wgsl: params, columns_of, joined, index_of
// export: total, verify

@group(0) @binding(1) var<storage, read> qualities: array<u32>;
@group(0) @binding(2) var<storage, read> within: array<u32>;
@group(0) @binding(3) var<storage, read> before: array<vec2u>;
@group(0) @binding(4) var<storage, read> words: array<u32>;
@group(0) @binding(5) var<storage, read> patterns: array<u32>;
@group(0) @binding(6) var<storage, read_write> counts: array<atomic<u32>, 4>;  // places, hits
@group(0) @binding(7) var<storage, read> list: array<vec4u>;
// Two a hit: segment, start, pattern, mismatches; informative columns, low and high word of the sum, 0.
@group(0) @binding(8) var<storage, read_write> hits: array<vec4u>;
@group(0) @binding(9) var<storage, read> offset: array<u32>;
@group(0) @binding(10) var<storage, read_write> totals: array<vec2u>;

var<workgroup> places: u32;
var<workgroup> mismatches: atomic<u32>;
var<workgroup> informative: atomic<u32>;

// Sum of all qualities before a position.
fn sum_before(position: u32) -> vec2u {
    let tile = before[position / (SUM_TILE)];
    var sum = within[position / SUMMED];
    for (var at = position / SUMMED * SUMMED; at < position; at += 1u) {
        sum += (qualities[at / 4u] >> (at % 4u * 8u)) & 0xffu;
    }
    let low = tile.x + sum;
    return vec2u(low, tile.y + select(0u, 1u, low < sum));
}

fn sum_between(begin: u32, end: u32) -> vec2u {
    let a = sum_before(begin);
    let b = sum_before(end);
    return vec2u(b.x - a.x, b.y - a.y - select(0u, 1u, b.x < a.x));
}

@compute @workgroup_size(VERIFY_WIDTH)
fn total(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    let segment = index_of(workgroup, workgroups) * VERIFY_WIDTH + own;
    if segment < params.segments {
        let begin = offset[segment] + select(0u, params.carried, segment == 0u);
        totals[segment] = sum_between(begin, offset[segment + 1u]);
    }
}

@compute @workgroup_size(VERIFY_WIDTH)
fn verify(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    if own == 0u {
        places = min(atomicLoad(&counts[0]), params.room);
        atomicStore(&mismatches, 0u);
        atomicStore(&informative, 0u);
    }
    let end = workgroupUniformLoad(&places);
    for (var place = workgroup.x; place < end; place += workgroups.x) {
        let entry = list[place];
        let first_word = params.letters_at + patterns[params.pattern_at + 2u * entry.y];
        let length = patterns[params.pattern_at + 2u * entry.y + 1u];
        var found = vec2u(0u);
        for (var column = 8u * own; column < length; column += 8u * VERIFY_WIDTH) {
            let at = entry.x + column;
            found += columns_of(joined(words[at / 8u], words[at / 8u + 1u], at), patterns[first_word + column / 8u]);
        }
        atomicAdd(&mismatches, found.x);
        atomicAdd(&informative, found.y);
        workgroupBarrier();
        if own == 0u {
            let columns = vec2u(atomicExchange(&mismatches, 0u), atomicExchange(&informative, 0u));
            if columns.x <= params.max_mismatches && columns.y >= params.min_informative {
                var sum = vec2u(0u);
                if params.scored != 0u {
                    sum = sum_between(entry.x, entry.x + length);
                }
                let slot = atomicAdd(&counts[1], 1u);
                hits[2u * slot] = vec4u(entry.z, entry.x, entry.y, columns.x);
                hits[2u * slot + 1u] = vec4u(columns.y, sum, 0u);
            }
        }
        workgroupBarrier();
    }
}
