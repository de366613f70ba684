// Batch forward in float32.
//
// A tile of W / G reads shares a workgroup (tiles.wgsl). Each read's G lanes take the columns of a haplotype one after the
// other: column j reaches lane l at step j + l. What lane l + 1 needs of it, S and I of its first row, is computed by lane l
// and handed down. Reads of a tile may have haplotypes of different lengths: steps go on to the longest one's end, and what
// a read's own haplotype does not have is not added to its sum.
//
// No state has an exponent: they start at 2^START, and a pair whose sum falls below LOWEST (a score of about -62 below
// that of a perfect match) is put on a list for scaled.wgsl.

@group(0) @binding(4) var<storage, read_write> listed: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> list: array<vec2<u32>>;

const MOST_WORKGROUPS = 65535u;

// Note a pair for scaled.wgsl, and the workgroups that its list needs: see `LISTED` of webgpu_packed.py.
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
//#include forward/invocation.wgsl
) {
//#include forward/item.wgsl
    let slot = lane / G;
    let is_first = lane % G == 0u;
    let is_last = lane % G == G - 1u;
    let at = batch[work.items + 2u * item] + slot;
    let block = batch[work.items + 2u * item + 1u];
    let read = find_read(batch[work.order + min(at, work.last - 1u)]);

    if is_first {
        begin_read(slot);
    }
    workgroupBarrier();
    let loaded = load_lane(lane, read.first, read.rows, read.rows);
//#include forward/coefficients.wgsl
    load_emissions(lane, read.first, read.rows);

    note_lane(slot, loaded);
//#if SHUFFLES
    atomicOr(&unfit[slot], select(UNORDERED, 0u, in_order(lane, subgroup_size, subgroup_lane)));
//#end
    workgroupBarrier();
    if is_last && at < work.last && block == 0u {
        put_kept(read, slot);
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
//#include forward/first_letters.wgsl
        for (var t = 0u; t < longest; t += PART) {
//#include forward/next_letters.wgsl
            let left = i32(steps) - i32(t);
            var part = 0.0;
//#for u PART
            {
                let letter = (letters$u.quad >> $u.byteu) & 7u;
                let above = from_above(below, lane, $uu);
                var s = select(above.x, deletion, is_first);
                var i = select(above.y, 0.0, is_first);
//#include forward/column.wgsl
                below = vec2<f32>(s, i);
                part += select(0.0, i, left > $u);
            }
//#end
            sum += part;
        }

        if works && is_last {
            let unfits = atomicLoad(&unfit[slot]);
            let held = put_sum(first_score + round, sum, unfits);
            if !held && unfits == 0u {
                enlist(read.index, haplotype);
            }
        }
    }
}
