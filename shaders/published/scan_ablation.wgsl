// The published brute force, which scan/match.wgsl is measured beside (`pairhmm bench scan`).
//
// Method. Each workgroup takes a (segment, pattern), in rows of a pattern each. Its lanes compare the pattern at every
// position. The best match is the leftmost of those with the largest sum of qualities.
//
// Versions on an H200 through Vulkan, the reference workload, in seconds (docs/scan.md):
//
//   brute force: a dispatch a segment       2.310
//   + prefix sums (scan/sums.wgsl)          2.301
//   + flattened arrays: one for all         1.834
//   ours (scan/match.wgsl)                  0.0107
//
// Limits. No mismatches, one strand, and sums of a match below 2^32.

// import host: Brute, SUMMED, SUM_TILE
// export: brute_force

@group(0) @binding(1) var<uniform> brute: Brute;
@group(0) @binding(2) var<storage, read> letters: array<u32>;  // of a byte each, as qualities
@group(0) @binding(3) var<storage, read> qualities: array<u32>;
@group(0) @binding(4) var<storage, read> offset: array<u32>;
@group(0) @binding(5) var<storage, read> pattern_letters: array<u32>;
@group(0) @binding(6) var<storage, read> pattern_offset: array<u32>;
@group(0) @binding(7) var<storage, read> within: array<u32>;
@group(0) @binding(8) var<storage, read> before: array<vec2u>;
// [segments * patterns][2] the best match's sum, and 1 + where it starts in the segment; zeros without one.
@group(0) @binding(9) var<storage, read_write> best: array<vec2u>;

const W = 256u;

var<workgroup> most: atomic<u32>;      // 1 + the largest sum
var<workgroup> leftmost: atomic<u32>;  // of those

// Sum of all qualities before a position, modulo 2^32: what lies under a match is less.
fn sum_before(position: u32) -> u32 {
    var sum = before[position / (SUM_TILE)].x + within[position / SUMMED];
    for (var at = position / SUMMED * SUMMED; at < position; at += 1u) {
        sum += (qualities[at / 4u] >> (at % 4u * 8u)) & 0xffu;
    }
    return sum;
}

fn score(start: u32, end: u32) -> u32 {
    if brute.summed != 0u {
        return sum_before(end) - sum_before(start);
    }
    var sum = 0u;
    for (var at = start; at < end; at += 1u) {
        sum += (qualities[at / 4u] >> (at % 4u * 8u)) & 0xffu;
    }
    return sum;
}

fn fits(start: u32, first: u32, length: u32) -> bool {
    for (var column = 0u; column < length; column += 1u) {
        let letter = letters[(start + column) / 4u] >> ((start + column) % 4u * 8u);
        let other = pattern_letters[(first + column) / 4u] >> ((first + column) % 4u * 8u);
        if (letter & other & 15u) == 0u {
            return false;
        }
    }
    return true;
}

@compute @workgroup_size(W)
fn brute_force(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) own: u32) {
    let segment = brute.first_segment + workgroup.y;
    let pattern = workgroup.x;
    let begin = offset[segment];
    let end = offset[segment + 1u];
    let first = pattern_offset[pattern];
    let length = pattern_offset[pattern + 1u] - first;
    if own == 0u {
        atomicStore(&most, 0u);
        atomicStore(&leftmost, 0xffffffffu);
    }
    workgroupBarrier();
    var own_most = 0u;
    var own_start = 0u;
    for (var start = begin + own; start + length <= end; start += W) {
        if fits(start, first, length) {
            let sum = score(start, start + length) + 1u;
            if sum > own_most {
                own_most = sum;
                own_start = start - begin;
            }
        }
    }
    atomicMax(&most, own_most);
    workgroupBarrier();
    if own_most > 0u && own_most == atomicLoad(&most) {
        atomicMin(&leftmost, own_start);
    }
    workgroupBarrier();
    if own == 0u && atomicLoad(&most) > 0u {
        best[segment * brute.patterns + pattern] = vec2u(atomicLoad(&most) - 1u, atomicLoad(&leftmost) + 1u);
    }
}
