// Batch forward in float32.
//
// A tile of W / G reads shares a workgroup (tiles.wgsl). Each read's G lanes take the columns of a haplotype one after the
// other: column j reaches lane l at step j + l. What lane l + 1 needs of it, S and I of its first row, is computed by lane l
// and handed down. Reads of a tile may have haplotypes of different lengths: steps go on to the longest one's end, and what
// a read's own haplotype does not have is not added to its sum.
//
// No state has an exponent: they start at 2^START, and a pair whose sum falls below LOWEST (a score of about -62 below
// that of a perfect match) is put on a list for forward_scaled.wgsl.

@group(0) @binding(4) var<storage, read_write> listed: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> list: array<vec2<u32>>;

const START: i32 = 116;
const START_VALUE = 0x1p116f;
const LOWEST_BITS = 0x10fd87b6u;   // 1e-28
const HIGHEST_BITS = 0x7f61b1e6u;  // 3e38. As numbers, compilers may take infinity and NaN for impossible.
const MOST_WORKGROUPS = 65535u;
const NOT_KEPT = 0x7fffffffu;  // in place of what a read's scores are relative to, where its lanes are UNORDERED

var<workgroup> kept_coarse: array<atomic<i32>, READS>;
var<workgroup> kept_fine: array<atomic<i32>, READS>;
var<workgroup> unfit: array<atomic<u32>, READS>;

// Note a pair for forward_scaled.wgsl, and the workgroups that its list needs: see `LISTED` of webgpu_packed.py.
fn enlist(read: u32, haplotype: u32) {
    let at = atomicAdd(&listed[work.rescuer * 4u + 3u], 1u);
    list[work.list + at] = vec2<u32>(read, haplotype);
    if at % RESCUER_READS == 0u && at / RESCUER_READS < MOST_WORKGROUPS {
        atomicAdd(&listed[work.rescuer * 4u], 1u);
    }
}

// One item: a tile of reads against some of their haplotypes.
@compute @workgroup_size(W)
fn forward(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
//#if SHUFFLES
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
//#end
) {
    let item = work.first_item + workgroup.y * workgroups.x + workgroup.x;
    if item >= work.end_item {
        return;
    }
    let slot = lane / G;
    let is_first = lane % G == 0u;
    let is_last = lane % G == G - 1u;
    let at = batch[work.items + 2u * item] + slot;
    let block = batch[work.items + 2u * item + 1u];
    let read = find_read(batch[work.order + min(at, work.last - 1u)]);

    // Zeros already by WGSL, but not on every driver.
    if is_first {
        atomicStore(&kept_coarse[slot], 0);
        atomicStore(&kept_fine[slot], 0);
        atomicStore(&unfit[slot], 0u);
    }
    workgroupBarrier();
    let loaded = load_lane(lane, read.first, read.rows);
//#include coefficients.wgsl
    load_emissions(lane, read.first, read.rows);

    atomicAdd(&kept_coarse[slot], loaded.kept.x);
    atomicAdd(&kept_fine[slot], loaded.kept.y);
    atomicOr(&unfit[slot], loaded.unfit);
//#if SHUFFLES
    atomicOr(&unfit[slot], select(UNORDERED, 0u, in_order(lane, subgroup_size, subgroup_lane)));
//#end
    workgroupBarrier();
    if is_last && at < work.last && block == 0u {
        let is_unordered = (atomicLoad(&unfit[slot]) & UNORDERED) != 0u;
        out[work.kept + 2u * read.index] = select(bitcast<u32>(atomicLoad(&kept_coarse[slot])), NOT_KEPT, is_unordered);
        out[work.kept + 2u * read.index + 1u] = bitcast<u32>(atomicLoad(&kept_fine[slot]));
    }

    let entry = first_deletion(read.first);
    let group_end = batch[work.group_haplotype + read.group + 1u];
    let first_haplotype = batch[work.group_haplotype + read.group] + block * work.haplotypes_each;
    let first_score = score_index(read, first_haplotype);
    for (var round = 0u; round < work.haplotypes_each; round++) {
        let haplotype = first_haplotype + round;
        let works = at < work.last && haplotype < group_end;
        let offset = batch[work.haplotype_offset + select(0u, haplotype, works)];
        let columns = batch[work.haplotype_offset + select(0u, haplotype, works) + 1u] - offset;
        let steps = select(0u, columns + G - 1u, works);
        let longest = largest_of_tile(steps, lane);
        if longest == 0u {
            break;
        }

        let start = select(0.0, START_VALUE, is_first);
        let deletion = entry * start / f32(max(columns, 1u));
//#for k K
        var s$k = 0.0;
        var d$k = 0.0;
//#end
        s0 = work.start_match * start + deletion * work.start_deletion;
        var below = vec2<f32>(0.0, 0.0);
        // Many columns may add the same to the sum: it is made of parts.
        var sum = 0.0;
        let letter_at = work.letters + offset - lane % G;
        let shift = (letter_at & 3u) * 8u;
        var word = letter_at >> 2u;
        var low = batch[word];
//#for q PART_WORDS
        var word$q = batch[word + 1u + $qu];
//#end
        for (var t = 0u; t < longest; t += PART) {
//#for q PART_WORDS
            let letters$q = joined(low, word$q, shift);
            low = word$q;
//#end
            // The letters of the next part are read before their turn.
            word += PART_WORDS;
//#for q PART_WORDS
            word$q = batch[word + 1u + $qu];
//#end
            let left = i32(steps) - i32(t);
            var part = 0.0;
//#for u PART
            {
                let letter = (letters$u.quad >> $u.byteu) & 7u;
                let above = from_above(below, lane, $uu);
                var s = select(above.x, deletion, is_first);
                var i = select(above.y, 0.0, is_first);
//#include column.wgsl
                below = vec2<f32>(s, i);
                part += select(0.0, i, left > $u);
            }
//#end
            sum += part;
        }

        if works && is_last {
            let unfits = atomicLoad(&unfit[slot]);
            let bits = bitcast<u32>(sum);
            let held = (unfits & (UNFOLDED | UNORDERED)) == 0u && bits >= LOWEST_BITS && bits <= HIGHEST_BITS;
            let score = first_score + round;
            out[2u * score] = select(0u, bits, held);
            out[2u * score + 1u] = bitcast<u32>(-START);
            if !held && unfits == 0u {
                enlist(read.index, haplotype);
            }
        }
    }
}
