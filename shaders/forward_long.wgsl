// Pairs of any length: strips of G K rows, each a workgroup's, with an exponent a lane (scaling.wgsl).
//
// WebGPU lets no workgroup wait for another one, so strips do not follow each other inside a dispatch: they take turns. A
// dispatch is a wave, in which each strip does STEPS steps. A strip is a wave and a subgroup's lanes behind the one above:
//
//   strip r does steps (wave - r) STEPS - 32 r and on,  up to column (wave - r) STEPS - 32 r + STEPS - 1 in its first lane,
//
// which the last lane of strip r - 1 has left by the end of the wave before. Between waves a lane's states lie in memory, and
// so does the row between two strips, which is read and overwritten in place: a strip writes columns that the one below has
// read in an earlier wave, or reads in a later one.

@group(0) @binding(4) var<storage, read_write> border: array<vec4<u32>>;  // bits of S and I, their exponent; a column each
@group(0) @binding(5) var<storage, read_write> saved: array<u32>;         // [items][2 K + 5][W]

const ITEM_WORDS = 5u;  // read, haplotype, strip, first column of the border, pair
const SAVED_WORDS = 2u * K + 5u;
const LAG = 32u;  // at least G - 1, and a multiple of RESCALE_STEPS

var<workgroup> kept_coarse: array<i32, W>;
var<workgroup> kept_fine: array<i32, W>;
var<workgroup> unfit: array<u32, W>;

// What the host must know of a strip, once: log10 of what its rows are relative to, and what does not fit them.
fn note_strip(item: u32, loaded: Lane, is_ordered: bool, lane: u32) {
    kept_coarse[lane] = loaded.kept.x;
    kept_fine[lane] = loaded.kept.y;
    unfit[lane] = loaded.unfit | select(UNORDERED, 0u, is_ordered);
    workgroupBarrier();
    if lane == 0u {
        var total = vec2<i32>(0, 0);
        var unfits = 0u;
        for (var l = 0u; l < W; l++) {
            total += vec2<i32>(kept_coarse[l], kept_fine[l]);
            unfits |= unfit[l];
        }
        out[work.kept + 3u * item] = bitcast<u32>(total.x);
        out[work.kept + 3u * item + 1u] = bitcast<u32>(total.y);
        out[work.kept + 3u * item + 2u] = unfits;
    }
}

// One strip's part of a wave.
@compute @workgroup_size(W)
fn forward_long(
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
    let item_at = work.items + ITEM_WORDS * item;
    let read = find_read(batch[item_at]);
    let offset = batch[work.haplotype_offset + batch[item_at + 1u]];
    let columns = batch[work.haplotype_offset + batch[item_at + 1u] + 1u] - offset;
    let strip = batch[item_at + 2u];
    let border_at = batch[item_at + 3u];
    let begin = (i32(work.wave) - i32(strip)) * i32(STEPS) - i32(LAG * strip);
    let all_steps = (columns + G - 1u + RESCALE_STEPS - 1u) / RESCALE_STEPS * RESCALE_STEPS;
    if begin + i32(STEPS) <= 0 || begin >= i32(all_steps) {
        return;
    }
    let is_first = lane == 0u;
    let row = strip * (G * K);
    let is_last_strip = row + G * K >= read.rows;

    let loaded = load_lane(lane, read.first + row, read.rows - row);
//#include coefficients.wgsl
    load_emissions(lane, read.first + row, read.rows - row);
    sum_falls(loaded.fall, lane);

    let starts = is_first && strip == 0u;
    let deletion = select(0.0, first_deletion(read.first) / f32(columns), starts);
//#for k K
    var s$k = 0.0;
    var d$k = 0.0;
//#end
    var below = vec2<f32>(0.0, 0.0);
    var exponent = -TOP;
    var sum = Sum(0.0, 0);
    let saved_at = item * SAVED_WORDS * W + lane;
    if begin <= 0 {
        var is_ordered = true;
//#if SHUFFLES
        is_ordered = in_order(lane, subgroup_size, subgroup_lane);
//#end
        note_strip(item, loaded, is_ordered, lane);
        let first = select(0.0, work.start_match + deletion * work.start_deletion, starts);
        exponent = select(-TOP, exponent_of(max(first, deletion)) - TOP, starts);
        s0 = first * power_of_two(-exponent);
    } else {
//#for k K
        s$k = bitcast<f32>(saved[saved_at + 2u * $ku * W]);
        d$k = bitcast<f32>(saved[saved_at + (2u * $ku + 1u) * W]);
//#end
        below.x = bitcast<f32>(saved[saved_at + 2u * K * W]);
        below.y = bitcast<f32>(saved[saved_at + (2u * K + 1u) * W]);
        exponent = bitcast<i32>(saved[saved_at + (2u * K + 2u) * W]);
        sum.value = bitcast<f32>(saved[saved_at + (2u * K + 3u) * W]);
        sum.exponent = bitcast<i32>(saved[saved_at + (2u * K + 4u) * W]);
    }

    let t_begin = u32(max(begin, 0));
    let t_end = min(u32(begin + i32(STEPS)), all_steps);
    for (var t = t_begin; t < t_end; t += RESCALE_STEPS) {
        // What enters the first lane.
        var highest = exponent_of(deletion);
//#for u RESCALE_STEPS
        var entering$u = vec4<u32>(0u, 0u, 0u, 0u);
        if strip > 0u && t + $uu < columns {
            entering$u = border[border_at + t + $uu];
        }
        let top$u = max(bitcast<f32>(entering$u.x), bitcast<f32>(entering$u.y));
        highest = max(highest, select(NOTHING, bitcast<i32>(entering$u.z) + exponent_of(top$u), top$u > 0.0));
//#end
        let letter_at = work.letters + offset + t - lane;
        let shift = (letter_at & 3u) * 8u;
        let low = batch[letter_at >> 2u];
        let middle = batch[(letter_at >> 2u) + 1u];
        let high = batch[(letter_at >> 2u) + 2u];
        let letters0 = joined(low, middle, shift);
        let letters1 = joined(middle, high, shift);

        var largest_value = max(below.x, below.y);
//#for k K
        largest_value = max(largest_value, max(s$k, d$k));
//#end
        var wanted = select(NOTHING, exponent + exponent_of(largest_value), largest_value > 0.0);
        if is_first {
            wanted = max(wanted, highest);
        }
        let renewed = fitting(wanted, exponent, lane);
        let once = power_of_two((exponent - renewed) / 2);
        let twice = power_of_two(exponent - renewed - (exponent - renewed) / 2);
//#for k K
        s$k = s$k * once * twice;
        d$k = d$k * once * twice;
//#end
        below = below * once * twice;
        exponent = renewed;
        exponent_by[lane] = exponent;
        // What a rescaling reads, the next one writes on the other side of this.
        workgroupBarrier();
        let keep = power_of_two(exponent_by[max(lane, 1u) - 1u] - exponent);
        let start = deletion * power_of_two(-exponent);
        var part = 0.0;
//#for u RESCALE_STEPS
        {
            // Nothing, before a lane's first column and after its last: numbers that wrap are past every end.
            let letter = select(NO_LETTER, (letters$u.quad >> $u.byteu) & 7u, t + $uu - lane < columns);
            let own = letter * W + lane;
            let above = from_above(below, lane, $uu);
            // In two factors: one alone may not be representable.
            let fit = bitcast<i32>(entering$u.z) - exponent;
            let once = power_of_two(fit / 2);
            let twice = power_of_two(fit - fit / 2);
            var s = select(above.x * keep, fma(bitcast<f32>(entering$u.x) * once, twice, start), is_first);
            var i = select(above.y * keep, bitcast<f32>(entering$u.y) * once * twice, is_first);
//#include column.wgsl
            below = vec2<f32>(s, i);
            part += i;
            let left = t + $uu - (G - 1u);
            if lane == G - 1u && !is_last_strip && left < columns {
                border[border_at + left] = vec4<u32>(bitcast<u32>(s), bitcast<u32>(i), bitcast<u32>(exponent), 0u);
            }
        }
//#end
        sum = add(sum, part, exponent);
    }

    if t_end < all_steps {
//#for k K
        saved[saved_at + 2u * $ku * W] = bitcast<u32>(s$k);
        saved[saved_at + (2u * $ku + 1u) * W] = bitcast<u32>(d$k);
//#end
        saved[saved_at + 2u * K * W] = bitcast<u32>(below.x);
        saved[saved_at + (2u * K + 1u) * W] = bitcast<u32>(below.y);
        saved[saved_at + (2u * K + 2u) * W] = bitcast<u32>(exponent);
        saved[saved_at + (2u * K + 3u) * W] = bitcast<u32>(sum.value);
        saved[saved_at + (2u * K + 4u) * W] = bitcast<u32>(sum.exponent);
    } else if is_last_strip && lane == G - 1u && sum.value > 0.0 && bitcast<u32>(sum.value) < INFINITY_BITS {
        let pair = batch[item_at + 4u];
        out[2u * pair] = bitcast<u32>(sum.value);
        out[2u * pair + 1u] = bitcast<u32>(sum.exponent);
    }
}
