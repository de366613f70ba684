// The rescue of forward.wgsl: the pairs that it listed, in float32 with an exponent a lane (scaling.wgsl).
//
// Method. Reads of up to G * K rows share a workgroup; a read may have another shape than in forward.wgsl.
// Workgroups take the pairs of a list in turn, and the device itself says how many workgroups there are (an indirect
// dispatch). Columns past a haplotype's end emit nothing (NO_LETTER): their values could be far above all that count.
//
// Versions: one; it has few pairs, and no figures of its own.
//
// Limits. A lane holds insertions and deletions of limited cost (lanes.wgsl). Pairs with rarer gaps stay unscored here,
// and go to the CPU.

// needs host: W, G, LISTED_WORDS, LISTED_COUNT, TOP_EXPONENT, RESCALE_STEPS, NO_LETTER
// needs forward/batch.wgsl: batch, work, out, byte, find_read, score_index
// needs forward/tiles.wgsl: READS, largest_of_tile
// needs forward/lanes.wgsl: load_lane, load_emissions
// needs forward/rows_*.wgsl: first_deletion
// needs forward/states.wgsl: States, staged_coefficients, take_column
// needs forward/pass_*.wgsl: from_above
//#if SHUFFLES
// needs forward/pass_*.wgsl: in_order
//#end
// needs forward/scaling.wgsl: exponent_by, power_of_two, exponent_of, with_exponent, Sum, add, is_score
// needs forward/scaling.wgsl: sum_falls, begin_fitting, fitting
// needs forward/rescale.wgsl: largest_state, rescale
// gives: forward_scaled

@group(0) @binding(4) var<storage, read> listed: array<u32>;
@group(0) @binding(5) var<storage, read> list: array<vec2<u32>>;

const UNFIT_FALL = 1e6;  // more than all lanes of a read have

// A number before a lane's first column wraps, and then is past every end.
fn letter_at(offset: u32, column: u32, columns: u32) -> u32 {
    return select(NO_LETTER, byte(work.letters + offset + column) & 7u, column < columns);
}

// The pairs of one list, in any order.
@compute @workgroup_size(W)
fn forward_scaled(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
//#if SHUFFLES
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
//#end
) {
    let l = lane % G;
    let is_first = l == 0u;
    let is_last = l == G - 1u;
    let count = listed[work.rescuer * LISTED_WORDS + LISTED_COUNT];
    for (var base = workgroup.x * READS; base < count; base += workgroups.x * READS) {
        let at = base + lane / G;
        let pair = list[work.list + min(at, count - 1u)];
        let read = find_read(pair.x);
        let loaded = load_lane(lane, l, read.first, read.rows, read.rows);
        let rows = staged_coefficients(lane);
        load_emissions(lane, l, read.first, read.rows);
        // The tile that listed the pair had other lanes. The last one of these knows whether one of them is unfit.
        let falls = sum_falls(select(loaded.fall, UNFIT_FALL, loaded.unfit != 0u), lane);
        begin_fitting(lane);

        let offset = batch[work.haplotype_offset + pair.y];
        let columns = batch[work.haplotype_offset + pair.y + 1u] - offset;
        let longest = largest_of_tile(columns + G - 1u, lane);
        let deletion = select(0.0, first_deletion(read.first) / f32(columns), is_first);
        let first = select(0.0, work.start_match + deletion * work.start_deletion, is_first);
        let entering = exponent_of(deletion);
        var exponent = select(-TOP_EXPONENT, exponent_of(max(first, deletion)) - TOP_EXPONENT, is_first);
        var states = States();  // zeros
        states.s0 = first * power_of_two(-exponent);
        var sum = Sum(0.0, 0);
        var part = 0.0;
        var keep = 0.0;
        var start = 0.0;
        var following = letter_at(offset, 0u - l, columns);  // the next column's, read ahead
        for (var t = 0u; t < longest; t++) {
            if t % RESCALE_STEPS == 0u {
                sum = add(sum, part, exponent);
                part = 0.0;
                let own = with_exponent(largest_state(&states), exponent);
                let renewed = fitting(own, entering, exponent, falls, lane);
                rescale(&states, exponent - renewed);
                exponent = renewed;
                exponent_by[lane] = exponent;
                // This barrier separates what a rescaling reads from what the next one writes.
                workgroupBarrier();
                keep = select(power_of_two(exponent_by[max(lane, 1u) - 1u] - exponent), 0.0, is_first);
                start = deletion * power_of_two(-exponent);
            }
            let letter = following;
            following = letter_at(offset, t + 1u - l, columns);
            let above = from_above(states.below, lane, t);
            let entered = vec2<f32>(select(above.x * keep, start, is_first), select(above.y * keep, 0.0, is_first));
            take_column(&states, rows, letter, lane, entered);
            part += states.below.y;
        }
        sum = add(sum, part, exponent);

        var is_ordered = true;
//#if SHUFFLES
        is_ordered = in_order(lane, subgroup_size, subgroup_lane);
//#end
        let fits = falls.y < i32(UNFIT_FALL);
        if at < count && is_last && is_ordered && fits && is_score(sum) {
            let score = score_index(read, pair.y);
            out[2u * score] = bitcast<u32>(sum.value);
            out[2u * score + 1u] = bitcast<u32>(sum.exponent);
        }
        // The next pairs' rows overwrite those that were just read.
        workgroupBarrier();
    }
}
