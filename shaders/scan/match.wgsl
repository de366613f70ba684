// The search: places where a pattern may match, on the list that verify.wgsl compares whole.
//
// Method. A workgroup has a tile of positions. It looks up the BASES letters at each of them in the index
// (docs/scan.md), whose anchors say which patterns could lie there. It lists the anchors of the whole tile before it
// shares them out, so that a position with many keeps no lane waiting. A place is compared by the 16 letters behind its
// anchor, then by its first PROMISING words. Patterns without an anchor are tried at every position.
//
// Versions on an H200 through Vulkan, the reference workload from host to hits, in seconds (benchmarks/README.md):
//
//   brute force          2.310
//   + prefix sums        2.301
//   + flattened arrays   1.834
//   + anchors (this)     0.0107, of which all kernels take 0.0022
//
// Limits. Ns cost time: with each N, more of what is looked up has to be examined. Patterns without anchors (short, or
// full of ambiguous letters) cost 16 letters at every position.

// import host: BASES, TILE
// import scan/shared.wgsl: params, ONES, columns_of, joined, index_of
// export: match_tile

@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> with_letters: array<u32>;
@group(0) @binding(3) var<storage, read> offset: array<u32>;
@group(0) @binding(4) var<storage, read> index: array<u32>;
@group(0) @binding(5) var<storage, read> patterns: array<u32>;
@group(0) @binding(6) var<storage, read_write> counts: array<atomic<u32>, 4>;
@group(0) @binding(7) var<storage, read_write> list: array<vec4u>;  // start, pattern, segment, 0

const W = 256u;
const EACH = TILE / W;
const TILE_WORDS = TILE / 8u + 4u;
const BLOCK = 32u;      // letters of a bit of with_letters
const PROMISING = 16u;  // words that are compared before a place gets on the list

var<workgroup> tile_letters: array<u32, TILE_WORDS>;
var<workgroup> digits: array<u32, TILE_WORDS>;
var<workgroup> begins: array<u32, TILE>;  // where each position's anchors begin among all that the tile lists,
var<workgroup> firsts: array<u32, TILE>;  // and in the index
var<workgroup> sums: array<u32, W>;
var<workgroup> telling: atomic<u32>;

// A C G T are 0 1 2 3; N, and what is looked up as N, is 4.
fn digits_of(word: u32) -> u32 {
    let a = word & ONES;
    let c = (word >> 1u) & ONES;
    let g = (word >> 2u) & ONES;
    let t = (word >> 3u) & ONES;
    let all = a + c + g + t;
    let one = all & ~(all >> 1u) & ONES;  // 1 is the only odd number without the next bit
    return (((c | t) + 2u * (g | t)) & (15u * one)) | (4u * (ONES & ~one));
}

fn sample_letters(position: u32) -> u32 {
    return joined(words[position / 8u], words[position / 8u + 1u], position);
}

fn tells(block: u32) -> bool {
    return ((with_letters[block / 32u] >> (block % 32u)) & 1u) != 0u;
}

// The first block from one on with letters other than N, or one at or behind `end`.
fn next_telling(from_block: u32, end: u32) -> u32 {
    var block = from_block;
    while block < end {
        let left = with_letters[block / 32u] >> (block % 32u);
        if left != 0u {
            return block + countTrailingZeros(left);
        }
        block = (block / 32u + 1u) * 32u;
    }
    return block;
}

// Whether a pattern fits in its first columns where the sample has letters: runs of N, which every pattern fits, are
// passed over.
fn promising(start: u32, length: u32, first_word: u32) -> bool {
    let end = start + length;
    var found = vec2u(0u);
    var compared = 0u;
    var at = start;
    while at < end {
        if !tells(at / BLOCK) && !tells((at + 7u) / BLOCK) {
            let next = next_telling((at + 7u) / BLOCK + 1u, (end + BLOCK - 1u) / BLOCK) * BLOCK;
            at = start + (next - start) / 8u * 8u;
            continue;
        }
        found += columns_of(sample_letters(at), patterns[first_word + (at - start) / 8u]);
        compared += 1u;
        if found.x > params.max_mismatches {
            return false;
        }
        if compared == PROMISING {
            return true;
        }
        at += 8u;
    }
    return found.y >= params.min_informative;
}

// The segment that a position lies in.
fn segment_of(position: u32) -> u32 {
    var low = 0u;
    var high = params.segments;  // offset[low] <= position < offset[high]
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if offset[middle] <= position {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Puts the place that a handle at a position stands for on the list, unless it is seen to be no match; `behind` is
// where in the tile the handle's 16 letters begin.
fn examine(handle: u32, position: u32, behind: u32) {
    let word = behind / 8u;
    let near = columns_of(joined(tile_letters[word], tile_letters[word + 1u], behind), patterns[4u * handle]).x;
    let behind_near = joined(tile_letters[word + 1u], tile_letters[word + 2u], behind);
    let far = columns_of(behind_near, patterns[4u * handle + 1u]).x;
    let before = patterns[4u * handle + 3u];
    if near + far > params.max_mismatches || position < before {
        return;
    }
    let start = position - before;
    let segment = segment_of(position);
    let pattern = patterns[4u * handle + 2u];
    let length = patterns[params.pattern_at + 2u * pattern + 1u];
    if start < offset[segment] || start + length > offset[segment + 1u] {
        return;
    }
    if segment == 0u && start + length <= params.carried {
        return;
    }
    if !promising(start, length, params.letters_at + patterns[params.pattern_at + 2u * pattern]) {
        return;
    }
    let slot = atomicAdd(&counts[0], 1u);
    if slot < params.room {
        list[slot] = vec4u(start, pattern, segment, 0u);
    }
}

// The base-5 number of the BASES letters at a position of the tile.
fn code_at(at: u32) -> u32 {
    let word = at / 8u;
    let low = joined(digits[word], digits[word + 1u], at);
    var code = 0u;
    //#for i PER_WORD
    code = 5u * code + ((low >> (4u * $iu)) & 7u);
    //#end
    let high = joined(digits[word + 1u], digits[word + 2u], at);
    //#for i BEYOND_WORD
    code = 5u * code + ((high >> (4u * $iu)) & 7u);
    //#end
    return code;
}

// The last position of the tile whose anchors begin at i or before.
fn owner_of(i: u32) -> u32 {
    var owner = 0u;
    for (var step = TILE / 2u; step > 0u; step /= 2u) {
        if begins[owner + step] <= i {
            owner += step;
        }
    }
    return owner;
}

@compute @workgroup_size(W)
fn match_tile(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    let tile = index_of(workgroup, workgroups) * TILE;
    let here = min(max(params.bases, tile) - tile, TILE);  // positions
    // Deep inside a run of N no match has an informative column.
    if own == 0u {
        atomicStore(&telling, select(0u, 1u, params.min_informative == 0u));
    }
    workgroupBarrier();
    if params.min_informative > 0u && here > 0u {
        let begin = max(tile, params.longest) - params.longest;
        let last = min(tile + TILE + params.longest, params.bases + TILE) - 1u;
        for (var w = begin / (32u * BLOCK) + own; w <= last / (32u * BLOCK); w += W) {
            atomicOr(&telling, with_letters[w]);
        }
    }
    for (var i = own; i < TILE_WORDS; i += W) {
        tile_letters[i] = 0u;
        if here > 0u {
            tile_letters[i] = words[tile / 8u + i];
        }
        digits[i] = digits_of(tile_letters[i]);
    }
    workgroupBarrier();
    let searched = select(0u, here, atomicLoad(&telling) != 0u);

    var sum = 0u;
    for (var at = own * EACH; at < own * EACH + EACH; at += 1u) {
        begins[at] = sum;
        if at < searched {
            let code = code_at(at);
            if ((index[code / 32u] >> (code % 32u)) & 1u) != 0u {
                firsts[at] = index[params.first_at + code];
                sum += index[params.first_at + code + 1u] - firsts[at];
            }
        }
    }
    let listed = sum;
    sums[own] = sum;
    for (var step = 1u; step < W; step *= 2u) {
        workgroupBarrier();
        if own >= step {
            sum += sums[own - step];
        }
        workgroupBarrier();
        sums[own] = sum;
    }
    for (var at = own * EACH; at < own * EACH + EACH; at += 1u) {
        begins[at] += sum - listed;
    }
    workgroupBarrier();

    for (var i = own; i < sums[W - 1u]; i += W) {
        let owner = owner_of(i);
        let handle = index[params.anchor_at + firsts[owner] + i - begins[owner]];
        examine(handle, tile + owner, owner + BASES);
    }
    for (var at = own; at < searched; at += W) {
        for (var handle = params.anchors; handle < params.handles; handle += 1u) {
            examine(handle, tile + at, at);
        }
    }
}
