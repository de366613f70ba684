// The rescue of forward.wgsl: the pairs that it listed, in float32 with an exponent a lane (scaling.wgsl).
//
// Reads of any length up to G * K rows share a workgroup; a read need not have here the shape that it had there.

@group(0) @binding(4) var<storage, read> listed: array<u32>;
@group(0) @binding(5) var<storage, read> list: array<vec2<u32>>;

const UNFIT_FALL = 1e6;  // more than all lanes of a read have

// The pairs of one list, in any order.
@compute @workgroup_size(W)
fn forward_scaled(
//#include forward/invocation.wgsl
) {
    let l = lane % G;
    let is_first = l == 0u;
    let is_last = l == G - 1u;
    let count = listed[work.rescuer * 4u + 3u];
    for (var base = workgroup.x * READS; base < count; base += workgroups.x * READS) {
        let at = base + lane / G;
        let pair = list[work.list + min(at, count - 1u)];
        let read = find_read(pair.x);
        let loaded = load_lane(lane, read.first, read.rows, read.rows);
//#include forward/coefficients.wgsl
        load_emissions(lane, read.first, read.rows);
        // The tile that listed the pair had other lanes. The last one of these knows whether there is one that is unfit.
        let falls = sum_falls(select(loaded.fall, UNFIT_FALL, loaded.unfit != 0u), lane);
        begin_fitting(lane);

        let offset = batch[work.haplotype_offset + pair.y];
        let columns = batch[work.haplotype_offset + pair.y + 1u] - offset;
        let longest = largest_of_tile(columns + G - 1u, lane);
        let deletion = select(0.0, first_deletion(read.first) / f32(columns), is_first);
        let first = select(0.0, work.start_match + deletion * work.start_deletion, is_first);
        let entering = exponent_of(deletion);
        var exponent = select(-TOP, exponent_of(max(first, deletion)) - TOP, is_first);
//#for k K
        var s$k = 0.0;
        var d$k = 0.0;
//#end
        s0 = first * power_of_two(-exponent);
        var below = vec2<f32>(0.0, 0.0);
        var sum = Sum(0.0, 0);
        var part = 0.0;
        var keep = 0.0;
        var start = 0.0;
        for (var t = 0u; t < longest; t++) {
            if t % RESCALE_STEPS == 0u {
                sum = add(sum, part, exponent);
                part = 0.0;
                var largest_value = max(below.x, below.y);
//#for k K
                largest_value = max(largest_value, max(s$k, d$k));
//#end
                var wanted = with_exponent(largest_value, exponent);
                if is_first {
                    wanted = max(wanted, entering);
                }
                let renewed = fitting(wanted, exponent, falls, lane);
//#include forward/rescale.wgsl
                exponent_by[lane] = exponent;
                // What a rescaling reads, the next one writes on the other side of this.
                workgroupBarrier();
                keep = select(power_of_two(exponent_by[max(lane, 1u) - 1u] - exponent), 0.0, is_first);
                start = deletion * power_of_two(-exponent);
            }
            let column = t - l;  // wraps before a lane's first column, and then is past every end
            let letter = select(NO_LETTER, byte(work.letters + offset + column) & 7u, column < columns);
            let above = from_above(below, lane, t);
            var s = select(above.x * keep, start, is_first);
            var i = select(above.y * keep, 0.0, is_first);
//#include forward/column.wgsl
            below = vec2<f32>(s, i);
            part += i;
        }
        sum = add(sum, part, exponent);

        var is_ordered = true;
//#if SHUFFLES
        is_ordered = in_order(lane, subgroup_size, subgroup_lane);
//#end
        let fits = falls.y < i32(UNFIT_FALL);
        if at < count && is_last && is_ordered && fits && sum.value > 0.0 && bitcast<u32>(sum.value) < INFINITY_BITS {
            let score = score_index(read, pair.y);
            out[2u * score] = bitcast<u32>(sum.value);
            out[2u * score + 1u] = bitcast<u32>(sum.exponent);
        }
        // The next pairs' rows go where these were read from.
        workgroupBarrier();
    }
}
