// Pairs of any length, with an exponent a lane (scaling.wgsl).
//
// Method. A pair is two halves that do not wait for each other. Unless it is short, the haplotype is cut in its middle:
// the left half takes the forward's columns from its first letter on, the right half the backward's (row_up.wgsl) from
// its last letter on, and join.wgsl adds up what crosses between them. Each half has a column 0 before its first letter.
//
// A workgroup is a strip of G * K rows of a half (strips.wgsl), which follows the one above through a border
// (border.wgsl). Lane l of segment g takes column j at step LEAD + j + l + SKEW g. Columns pass from segment to
// segment, and from and to the borders, through workgroup memory, in blocks of RESCALE_STEPS (passing.wgsl). A lane needs
// two blocks of the border above at once, and a barrier ends each block. So a strip takes from its border what it needs
// LEAD steps later, which are two blocks. That it does so before its first column, too, saves time: a strip that had
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
// Versions on an H200 through Vulkan, 100,000 x 100,000 bases, in milliseconds (benchmarks/forward-gpu.md has more):
//
//   strips take turns, 256 steps a dispatch                        32 to 35
//   strips follow each other, 8 rows a lane, 512 rows a strip      19.7
//   two halves, 32 lanes of 12 rows                                14.4
//   the last columns of a strip as fast as the others              13.6
//   a lead of two blocks instead of three                          12.7
//
// Limits. Few long pairs are what it is made for: 840 GCUPS for 5,000 bases. A border takes 8.5 bytes a column and strip. Gaps that are too rare for lanes with
// exponents (lanes.wgsl) leave a pair to the CPU.

// import host: W, G, K, SEGMENT, RESCALE_STEPS, SKEW, LAG, BLOCK_WORDS, STRIP_LANE, SUM, TOP_EXPONENT, NO_EXPONENT
// import host: ITEM_WORDS, ITEM_READ, ITEM_HAPLOTYPE, ITEM_HALF, ITEM_STRIP, ITEM_BORDER
// import host: HALVES, LEAST_CUT, LEAD, RESULT_WORDS, RESULT_UNFIT, RESULT_BEYOND, RESULT_BEYOND_EXPONENT, UNORDERED, UNFINISHED
// import forward/batch.wgsl: batch, work, out, item_of, byte, find_read
// import forward/strips.wgsl: strips, first_step, strip_at
// import forward/saved_lanes.wgsl: load_rows, load_progress, save_states, save_sum, save_crossing, finish_crossing
// import forward/states.wgsl: Coefficients, States, take_column
// import forward/border.wgsl: blocks_of, border_column, is_there, awaited
// import forward/passing.wgsl: Columns, Entering, entering_columns, exponent_passed
// import forward/passing.wgsl: pass_on, take, take_lead, give, clear_passing, restore_passing, save_passing
// import forward/block_letters.wgsl: letter_at, words_of, letters_of, cut
// import forward/pass_*.wgsl: from_above
//#if SHUFFLES
// import forward/pass_*.wgsl: in_order
//#end
// import forward/scaling.wgsl: exponent_by, power_of_two, exponent_of, with_exponent, Sum, add, is_score
// import forward/scaling.wgsl: begin_fitting, fitting
// import forward/rescale.wgsl: largest_state, rescale
// export: forward_long

var<workgroup> begun: u32;       // steps that the strip has done
var<workgroup> stopped: u32;     // whether it has waited in vain
var<workgroup> disordered: u32;  // whether a lane is in no subgroup's order

struct Strip {
    is_right: bool,  // which half
    number: u32,     // of the half's strips, from the first row that it takes on
    is_last: bool,
    letters: u32,    // where column 0 would have its letter; all states are zero there
    columns: u32,    // of the half, with column 0
    letters_of_haplotype: u32,
    above: u32,      // first word of the border above,
    below: u32,      // and of the one below
}

fn find_strip(item: u32) -> Strip {
    let at = work.items + ITEM_WORDS * item;
    let haplotype = batch[at + ITEM_HAPLOTYPE];
    let offset = batch[work.haplotype_offset + haplotype];
    let end = batch[work.haplotype_offset + haplotype + 1u];
    var strip: Strip;
    strip.is_right = batch[at + ITEM_HALF] != 0u;
    strip.number = batch[at + ITEM_STRIP];
    strip.is_last = (strip.number + 1u) * (G * K) >= find_read(batch[at + ITEM_READ]).rows;
    strip.letters = work.letters + select(offset - 1u, end, strip.is_right);
    strip.letters_of_haplotype = end - offset;
    let halves = select(1u, HALVES, strip.letters_of_haplotype >= LEAST_CUT);  // short ones are not cut
    let left = strip.letters_of_haplotype / halves + 1u;
    strip.columns = select(left, strip.letters_of_haplotype + 1u - left, strip.is_right);
    strip.below = batch[at + ITEM_BORDER];
    strip.above = strip.below - BLOCK_WORDS * blocks_of(strip.columns);
    return strip;
}

// Steps of a strip until its last lane has had all columns, and has saved what crosses behind them: whole blocks.
fn all_steps(strip: Strip) -> u32 {
    return ((LEAD + LAG + strip.columns - 1u) / RESCALE_STEPS + 1u) * RESCALE_STEPS;
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

// What enters the first row of a half: S of the column behind column 0, and S and I of the others.
struct Start {
    first: f32,
    s: f32,
    i: f32,
}

fn start_of(strip: Strip, first_deletion: f32) -> Start {
    if strip.is_right {
        return Start(1.0, 1.0, 1.0);
    }
    let deletion = first_deletion / f32(strip.letters_of_haplotype);
    return Start(work.start_match + deletion * work.start_deletion, deletion, 0.0);
}

// What leaves a lane in a block, and the sum of I in its columns.
struct Taken {
    leaving: Columns,
    sum: f32,
}

// Take a block's columns, lane 0 from `column` on. `start` enters the first row; its `first` enters in the block's first
// column. Where `ends`, lanes may have had their last column before one of these, and then save what crosses behind it.
// The calls give it as a constant: only blocks that may end have the branches. They are written out like the
// others, since the strip below waits for the last columns.
fn take_block(
    states: ptr<function, States>,
    rows: Coefficients,
    letters: vec2<u32>,
    entering: Entering,
    fit: Fit,
    start: Start,
    lane: u32,
    ends: bool,
    column: u32,
    columns: u32,
    at: u32,
    exponent: i32,
) -> Taken {
    let is_first = lane % SEGMENT == 0u;
    var taken: Taken;
    var sum = 0.0;
//#for u RESCALE_STEPS
    {
        if ends && column + $uu == columns {
            save_crossing(at, states, exponent);
        }
        let letter = (letters[$u.quad] >> $u.byteu) & 7u;
        let keep = select(fit.next_keep, fit.first_keep, $u == 0);
        let again = select(fit.next_again, fit.first_again, $u == 0);
        let above = select(from_above((*states).below, lane, $uu), entering.columns.at$u, is_first) * keep;
        let s = select(start.s, start.first, $u == 0);
        take_column(states, rows, letter, lane, vec2<f32>(fma(above.x, again, s), fma(above.y, again, start.i)));
        sum += (*states).below.y;
        taken.leaving.at$u = (*states).below;
    }
//#end
    taken.sum = sum;
    return taken;
}

// Tell the host that a strip is done. The last strip of a half also writes the half's own part of the sum: of a left
// half what ends in it; of a right half what begins in it, with D of row 0.
fn finish(item: u32, strip: Strip, sum: Sum, first_deletion: f32, lane: u32) {
    let result = work.kept + RESULT_WORDS * item;
    if lane == 0u {
        out[result + RESULT_UNFIT] &= ~UNFINISHED;
    }
    if strip.is_last && lane == G - 1u && is_score(sum) {
        let deletion = first_deletion / f32(strip.letters_of_haplotype);
        out[result + RESULT_BEYOND] = bitcast<u32>(sum.value * select(1.0, deletion, strip.is_right));
        out[result + RESULT_BEYOND_EXPONENT] = bitcast<u32>(sum.exponent);
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
    let ahead = LEAD / RESCALE_STEPS - 1u;
    let known_blocks =
        select(0u, min(blocks_of(columns), max(t_end / RESCALE_STEPS, ahead) - ahead), strip.number > 0u);
    let segment = lane / SEGMENT;
    let l = lane % SEGMENT;
    let is_first = l == 0u;
    let is_last = l == SEGMENT - 1u;

    let rows = load_rows(at, lane);
    let of_lane = strips[at + STRIP_LANE * W];
    let falls = bitcast<vec2<i32>>(of_lane.xy);
    begin_fitting(lane);

    let starts = lane == 0u && strip.number == 0u;
    var start = start_of(strip, bitcast<f32>(of_lane.z));
    if !starts {
        start = Start(0.0, 0.0, 0.0);
    }
    var states = States();  // zeros
    var exponent = -TOP_EXPONENT;
    var sum = Sum(0.0, 0);
    if t_begin == first_step(strip.number) {
//#if SHUFFLES
        if !in_order(lane, subgroup_size, subgroup_lane) {
            disordered = 1u;
        }
//#end
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
    var words = words_of(strip.letters, t_begin - LEAD - segment * SKEW - l, strip.is_right);
    var t = t_begin;
    loop {
        let step = t - LEAD - segment * SKEW;
        let column = step - l;
        var letters = letters_of(words, strip.letters, column, strip.is_right);
        if column >= whole {
            letters = cut(letters, column, columns);
        }
        words = words_of(strip.letters, column + RESCALE_STEPS, strip.is_right);
        let arriving_block = t / RESCALE_STEPS;
        let arriving_at = strip.above + BLOCK_WORDS * arriving_block;
        let arrives = lane < RESCALE_STEPS && arriving_block < known_blocks;
        var arriving = vec3<u32>(0u, 0u, 0u);
        if arrives {
            arriving = border_column(arriving_at, lane);
        }

        let entering = entering_columns(segment, step);
        let own_exponent = with_exponent(largest_state(&states), exponent);
        var entering_exponent = NO_EXPONENT;
        let first_start = select(start.s, start.first, t == LEAD);  // the first strip's first step
        if is_first {
            let of_start = exponent_of(max(max(first_start, start.s), start.i));
            let of_first = with_exponent(entering.first_top, entering.first_exponent);
            entering_exponent = max(max(of_start, of_first), with_exponent(entering.next_top, entering.next_exponent));
        }
        let renewed = fitting(own_exponent, entering_exponent, exponent, falls, lane, l);
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
        let own = power_of_two(-exponent);
        let starting = Start(first_start * own, start.s * own, start.i * own);
        var taken: Taken;
        if t + RESCALE_STEPS <= LEAD + columns {
            taken = take_block(
                &states, rows, letters, entering, fit, starting, lane, false, column, columns, at, exponent
            );
        } else {
            taken = take_block(
                &states, rows, letters, entering, fit, starting, lane, true, column, columns, at, exponent
            );
        }
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
    finish_crossing(at, rows, lane, strip.is_right, byte(letter_at(strip.letters, columns, strip.is_right)));
    finish(item, strip, sum, bitcast<f32>(of_lane.z), lane);
}
