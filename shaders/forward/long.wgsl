// Pairs of any length, with an exponent a lane (scaling.wgsl).
//
// Method. A workgroup is a strip of G * K rows (strips.wgsl), which follows the one above through a border
// (border.wgsl). Lane l of segment g takes column j at step LEAD + j + l + SKEW g. Columns pass from segment to
// segment, and from and to the borders, through workgroup memory, in blocks of RESCALE_STEPS (passing.wgsl). A block's
// columns are there at its begin if they were written two blocks before: between lies a barrier. So a strip takes from
// its border what it needs LEAD steps later. That it does so before its first column, too, saves time: a strip that had
// waited for its first columns would have to fetch the loop's instructions then.
//
// WebGPU does not promise that workgroups run side by side. So a strip that has waited in vain stops. Its progress is
// saved in memory, and the next dispatch continues from there. A dispatch takes strip r up to step
//
//   work.front - work.behind r.
//
// If each strip stays far enough behind the one above, it finds in its border what earlier dispatches wrote, and never
// waits.
//
// Versions on an H200 through Vulkan, 100,000 x 100,000 bases, in milliseconds (docs/webgpu.md):
//
//   strips take turns, 256 steps a dispatch                        32 to 35
//   strips follow each other, 8 rows a lane, 512 rows a strip      19.7
//   256 or 1,024 rows a strip                                      as long
//
// Limits. A step takes 0.14 us, of which its 40 multiply-adds alone would take 0.07. Few long pairs are what it is made
// for: 880 GCUPS for 5,000 bases. A border takes 8.5 bytes a column and strip. Gaps that are too rare for lanes with
// exponents (lanes.wgsl) leave a pair to the CPU.

// needs host: W, G, K, SEGMENT, RESCALE_STEPS, SKEW, LAG, BLOCK_WORDS, STRIP_LANE, SUM, TOP_EXPONENT
// needs host: ITEM_WORDS, ITEM_READ, ITEM_HAPLOTYPE, ITEM_STRIP, ITEM_BORDER, ITEM_PAIR
// needs host: LEAD, RESULT_WORDS, RESULT_UNFIT, UNORDERED, UNFINISHED
// needs forward/batch.wgsl: batch, work, out, item_of, find_read
// needs forward/strips.wgsl: strips, first_step, strip_at
// needs forward/saved_lanes.wgsl: load_rows, load_progress, save_states, save_sum
// needs forward/states.wgsl: Coefficients, States, take_column
// needs forward/border.wgsl: blocks_of, border_column, is_there, awaited
// needs forward/passing.wgsl: Columns, Entering, entering_columns, exponent_passed, pass_on, take, take_lead, give
// needs forward/passing.wgsl: clear_passing, restore_passing, save_passing
// needs forward/block_letters.wgsl: words_of, letters_of, cut
// needs forward/pass_*.wgsl: from_above
//#if SHUFFLES
// needs forward/pass_*.wgsl: in_order
//#end
// needs forward/scaling.wgsl: exponent_by, power_of_two, exponent_of, with_exponent, Sum, add, is_score
// needs forward/scaling.wgsl: begin_fitting, fitting
// needs forward/rescale.wgsl: largest_state, rescale
// gives: forward_long

var<workgroup> begun: u32;       // steps that the strip has done
var<workgroup> stopped: u32;     // whether it has waited in vain
var<workgroup> disordered: u32;  // whether a lane is in no subgroup's order

struct Strip {
    number: u32,   // of the pair's strips, from the first row down
    is_last: bool,
    letters: u32,  // first letter of the haplotype
    columns: u32,
    above: u32,    // first word of the border above,
    below: u32,    // and of the one below
    pair: u32,
}

fn find_strip(item: u32) -> Strip {
    let at = work.items + ITEM_WORDS * item;
    let haplotype = batch[at + ITEM_HAPLOTYPE];
    let offset = batch[work.haplotype_offset + haplotype];
    var strip: Strip;
    strip.number = batch[at + ITEM_STRIP];
    strip.is_last = (strip.number + 1u) * (G * K) >= find_read(batch[at + ITEM_READ]).rows;
    strip.letters = work.letters + offset;
    strip.columns = batch[work.haplotype_offset + haplotype + 1u] - offset;
    strip.below = batch[at + ITEM_BORDER];
    strip.above = strip.below - BLOCK_WORDS * blocks_of(strip.columns);
    strip.pair = batch[at + ITEM_PAIR];
    return strip;
}

// Steps of a strip until its last lane has had all columns: whole blocks.
fn all_steps(strip: Strip) -> u32 {
    return ((LEAD + LAG + strip.columns - 2u) / RESCALE_STEPS + 1u) * RESCALE_STEPS;
}

// The step that this dispatch takes a strip up to.
fn end_of_dispatch(strip: Strip) -> u32 {
    return u32(clamp(i32(work.front) - i32(work.behind * strip.number), 0, i32(all_steps(strip))));
}

// Factors that bring values that enter a lane in a block from their exponent to the lane's. The exponent of what enters
// a segment may be far off, and one factor may not be representable: so there are two.
struct Fit {
    first_keep: f32,   // of the first column,
    first_again: f32,
    next_keep: f32,    // and of the others
    next_again: f32,
}

fn fit_of(entering: Entering, above_exponent: i32, exponent: i32, is_first: bool) -> Fit {
    let above_keep = power_of_two(above_exponent - exponent);
    let first_fit = entering.first_exponent - exponent;
    let next_fit = entering.next_exponent - exponent;
    return Fit(
        select(above_keep, power_of_two(first_fit / 2), is_first),
        select(1.0, power_of_two(first_fit - first_fit / 2), is_first),
        select(above_keep, power_of_two(next_fit / 2), is_first),
        select(1.0, power_of_two(next_fit - next_fit / 2), is_first),
    );
}

// What leaves a lane in a block, and the sum of I in its columns.
struct Taken {
    leaving: Columns,
    sum: f32,
}

// Take a block's columns. `start` is what M[0,0] and D[0,0] add to S of the first row.
fn take_block(
    states: ptr<function, States>,
    rows: Coefficients,
    letters: vec2<u32>,
    entering: Entering,
    fit: Fit,
    start: f32,
    lane: u32,
) -> Taken {
    let is_first = lane % SEGMENT == 0u;
    var taken: Taken;
    var sum = 0.0;
//#for u RESCALE_STEPS
    {
        let letter = (letters[$u.quad] >> $u.byteu) & 7u;
        let keep = select(fit.next_keep, fit.first_keep, $u == 0);
        let again = select(fit.next_again, fit.first_again, $u == 0);
        let above = select(from_above((*states).below, lane, $uu), entering.columns.at$u, is_first) * keep;
        take_column(states, rows, letter, lane, vec2<f32>(fma(above.x, again, start), above.y * again));
        sum += (*states).below.y;
        taken.leaving.at$u = (*states).below;
    }
//#end
    taken.sum = sum;
    return taken;
}

// Tell the host that a strip is done. The last strip of a pair also writes the pair's sum.
fn finish(item: u32, strip: Strip, sum: Sum, lane: u32) {
    if lane == 0u {
        out[work.kept + RESULT_WORDS * item + RESULT_UNFIT] &= ~UNFINISHED;
    }
    if strip.is_last && lane == G - 1u && is_score(sum) {
        out[2u * strip.pair] = bitcast<u32>(sum.value);
        out[2u * strip.pair + 1u] = bitcast<u32>(sum.exponent);
    }
}

// One strip's part of a dispatch.
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
    let item = item_of(workgroup, workgroups);
    if item >= work.end_item {
        return;
    }
    let strip = find_strip(item);
    let columns = strip.columns;
    let at = strip_at(item, lane);
    if lane == 0u {
        begun = strips[at + SUM * W].z;
        stopped = 0u;
        disordered = 0u;
    }
    let t_begin = workgroupUniformLoad(&begun);
    let t_end = end_of_dispatch(strip);
    if t_begin >= t_end {
        return;
    }
    // Blocks of the border above: none above the first strip. Blocks that this dispatch does not need may be missing.
    let known_blocks = select(0u, min(blocks_of(columns), max(t_end / RESCALE_STEPS, 2u) - 2u), strip.number > 0u);
    let segment = lane / SEGMENT;
    let l = lane % SEGMENT;
    let is_first = l == 0u;
    let is_last = l == SEGMENT - 1u;

    let rows = load_rows(at, lane);
    let of_lane = strips[at + STRIP_LANE * W];
    let falls = bitcast<vec2<i32>>(of_lane.xy);
    begin_fitting(lane);

    let starts = lane == 0u && strip.number == 0u;
    let deletion = select(0.0, bitcast<f32>(of_lane.z) / f32(columns), starts);
    var states = States();  // zeros
    var exponent = -TOP_EXPONENT;
    var sum = Sum(0.0, 0);
    if t_begin == first_step(strip.number) {
//#if SHUFFLES
        if !in_order(lane, subgroup_size, subgroup_lane) {
            disordered = 1u;
        }
//#end
        let first = select(0.0, work.start_match + deletion * work.start_deletion, starts);
        exponent = select(-TOP_EXPONENT, exponent_of(max(first, deletion)) - TOP_EXPONENT, starts);
        states.s0 = first * power_of_two(-exponent);
        clear_passing(lane);
    } else {
        let progress = load_progress(at);
        states = progress.states;
        exponent = progress.exponent;
        sum = progress.sum;
        restore_passing(at, lane);
    }
    if !take_lead(strip.above, known_blocks, t_begin, lane) {
        stopped = 1u;
    }
    if workgroupUniformLoad(&disordered) != 0u {
        if lane == 0u {
            out[work.kept + RESULT_WORDS * item + RESULT_UNFIT] |= UNORDERED;
        }
        return;
    }
    if workgroupUniformLoad(&stopped) != 0u {
        return;
    }

    // A block's letters are read before their turn.
    let whole = select(0u, columns - RESCALE_STEPS + 1u, columns >= RESCALE_STEPS);  // blocks from here on are cut
    var words = words_of(strip.letters, t_begin - LEAD - segment * SKEW - l);
    var t = t_begin;
    loop {
        let step = t - LEAD - segment * SKEW;
        let column = step - l;
        var letters = letters_of(words, strip.letters, column);
        if column >= whole {
            letters = cut(letters, column, columns);
        }
        words = words_of(strip.letters, column + RESCALE_STEPS);
        let arriving_block = t / RESCALE_STEPS;
        let arriving_at = strip.above + BLOCK_WORDS * arriving_block;
        let arrives = lane < RESCALE_STEPS && arriving_block < known_blocks;
        var arriving = vec3<u32>(0u, 0u, 0u);
        if arrives {
            arriving = border_column(arriving_at, lane);
        }

        let entering = entering_columns(segment, step);
        var wanted = with_exponent(largest_state(&states), exponent);
        if is_first {
            wanted = max(wanted, exponent_of(deletion));
            wanted = max(wanted, with_exponent(entering.first_top, entering.first_exponent));
            wanted = max(wanted, with_exponent(entering.next_top, entering.next_exponent));
        }
        let renewed = fitting(wanted, exponent, falls, lane);
        if t > t_begin && !strip.is_last {
            give(t - RESCALE_STEPS, strip.below, columns, lane);
        }
        rescale(&states, exponent - renewed);
        exponent = renewed;
        exponent_by[lane] = exponent;
        if is_last {
            exponent_passed(segment, step, exponent);
        }
        // This barrier separates what a rescaling reads from what the next one writes.
        workgroupBarrier();
        let fit = fit_of(entering, exponent_by[max(lane, 1u) - 1u], exponent, is_first);
        let start = deletion * power_of_two(-exponent);
        let taken = take_block(&states, rows, letters, entering, fit, start, lane);
        if is_last {
            pass_on(segment, step, taken.leaving, columns);
        }
        if strip.is_last {
            sum = add(sum, taken.sum, exponent);
        }
        if arrives && !is_there(arriving) {
            arriving = awaited(arriving_at, lane);
            if !is_there(arriving) {
                stopped = 1u;
            }
        }
        if lane < RESCALE_STEPS {
            take(arriving, arriving_block, lane);
        }
        t += RESCALE_STEPS;
        if t >= t_end || workgroupUniformLoad(&stopped) != 0u {
            break;
        }
    }
    workgroupBarrier();
    if !strip.is_last {
        give(t - RESCALE_STEPS, strip.below, columns, lane);
    }

    save_sum(at, sum, t);
    if t < all_steps(strip) {
        save_states(at, states, exponent);
        save_passing(at, lane);
        return;
    }
    finish(item, strip, sum, lane);
}
