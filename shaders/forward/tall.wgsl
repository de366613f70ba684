// Batch forward in float32 for reads of more rows than the lanes of a tile hold: forward.wgsl with one read a tile, whose
// rows are taken strip by strip. What the last row of a strip hands down goes through memory, column by column.
//
// Pairs whose sums float32 does not hold are left to long.wgsl: there is no list.

// S and I that enter a strip: work.between columns for each item, of which the last ones are only read ahead. A column is
// written long after it was read, and so lies in the same place.
@group(0) @binding(5) var<storage, read_write> between: array<vec2<f32>>;
// Of the columns of a part: what enters the first lane, and what leaves the last one.
var<workgroup> entering: array<vec2<f32>, PART>;
var<workgroup> leaving: array<vec2<f32>, PART>;

// Put the columns that left the last lane in the part before step t where the next strip finds them.
fn hand_on(between_at: u32, t: u32, lane: u32) {
    let step = t + lane;
    if lane < PART && step >= PART + G - 1u {
        between[between_at + step - (PART + G - 1u)] = leaving[lane];
    }
}

// One item: a read against some of its haplotypes.
@compute @workgroup_size(W)
fn forward_tall(
//#include forward/invocation.wgsl
) {
//#include forward/item.wgsl
    let is_first = lane == 0u;
    let is_last = lane == G - 1u;
    let read = find_read(batch[work.order + batch[work.items + 2u * item]]);
    let block = batch[work.items + 2u * item + 1u];
    let entry = first_deletion(read.first);
    let first_haplotype = batch[work.group_haplotype + read.group] + block * work.haplotypes_each;
    let rounds = min(work.haplotypes_each, batch[work.group_haplotype + read.group + 1u] - first_haplotype);
    let first_score = score_index(read, first_haplotype);
    let between_at = work.list + (item - work.first_item) * work.between;
    if is_first {
        begin_read(0u);
    }

    for (var round = 0u; round < rounds; round++) {
        let offset = batch[work.haplotype_offset + first_haplotype + round];
        let columns = batch[work.haplotype_offset + first_haplotype + round + 1u] - offset;
        let steps = columns + G - 1u;
        let deletion = entry * START_VALUE / f32(max(columns, 1u));
        // The haplotype before is done with.
        storageBarrier();
        workgroupBarrier();
        for (var column = lane; column < columns; column += G) {
            between[between_at + column] = vec2<f32>(deletion, 0.0);
        }
        var sum = 0.0;
        for (var row = 0u; row < read.rows; row += G * K) {
            // What the strip before has left is there, and its emissions are done with.
            storageBarrier();
            workgroupBarrier();
            let loaded = load_lane(lane, read.first + row, read.rows - row, read.rows);
//#include forward/coefficients.wgsl
            load_emissions(lane, read.first + row, read.rows - row);
            if round == 0u {
                note_lane(0u, loaded);
//#if SHUFFLES
                atomicOr(&unfit[0], select(UNORDERED, 0u, in_order(lane, subgroup_size, subgroup_lane)));
//#end
            }

//#for k K
            var s$k = 0.0;
            var d$k = 0.0;
//#end
            s0 = select(0.0, work.start_match * START_VALUE + deletion * work.start_deletion, is_first && row == 0u);
            var below = vec2<f32>(0.0, 0.0);
            sum = 0.0;
//#include forward/first_letters.wgsl
            var ahead = between[between_at + min(lane, PART - 1u)];
            var t = 0u;
            for (; t < steps; t += PART) {
                workgroupBarrier();
                hand_on(between_at, t, lane);
                if lane < PART {
                    entering[lane] = ahead;
                    ahead = between[between_at + t + PART + lane];
                }
                workgroupBarrier();
//#include forward/next_letters.wgsl
                let left = i32(steps) - i32(t);
                var part = 0.0;
//#for u PART
                {
                    let letter = (letters$u.quad >> $u.byteu) & 7u;
                    let above = select(from_above(below, lane, $uu), entering[$u], is_first);
                    var s = above.x;
                    var i = above.y;
//#include forward/column.wgsl
                    below = vec2<f32>(s, i);
                    if is_last {
                        leaving[$u] = below;
                    }
                    part += select(0.0, i, left > $u);
                }
//#end
                sum += part;
            }
            workgroupBarrier();
            hand_on(between_at, t, lane);
        }

        if is_last {
            put_sum(first_score + round, sum, atomicLoad(&unfit[0]));
        }
    }

    workgroupBarrier();
    if is_last && block == 0u {
        put_kept(read, 0u);
    }
}
