// Pairs of any length, with an exponent a lane (scaling.wgsl).
//
// A workgroup is a strip, which follows the one above through a border: the row between them, in blocks of RESCALE_STEPS
// columns. WebGPU does not promise that workgroups run side by side, and its atomics order nothing but themselves: so every
// word of a border says itself whether it is there (PRESENT), and a strip that has waited in vain stops. What it has done
// lies in memory, and the next dispatch goes on from there. A dispatch takes strip r up to step
//
//   work.front - work.behind r,
//
// so that it is as short as it must be. Where each goes a few steps further than the one before, and stays far enough behind
// the one above, a strip finds in its border what earlier dispatches wrote, and waits for nothing.
//
// Lane l of segment g takes column j at step LEAD + j + l + SKEW g. Columns pass from segment to segment, and from and to
// the border, through `passing`. A block's columns are there at its begin if they were written two blocks before: between
// lies a barrier. So a strip takes from its border what it needs LEAD steps later. That it does so before its first column,
// too, saves time: a strip that had waited for its first columns would have to fetch the loop's instructions then.

const SEGMENTS = G / SEGMENT;
const DELAY = SEGMENT - 1u;  // of a column, from a segment's first lane to its last
const SKEW = SEGMENT + 2u * RESCALE_STEPS;

// What enters segment g, and what leaves the last one: values [g][block][step of the block], each block with an exponent.
// Blocks and steps are those of the segment above, which a column leaves DELAY steps after it entered it: a block takes what
// two blocks gave, its first column from one and the others from the next.
const RING = BLOCKS * RESCALE_STEPS;
var<workgroup> passing: array<array<array<vec2<f32>, RESCALE_STEPS>, BLOCKS>, SEGMENTS + 1u>;
var<workgroup> passing_exponent: array<array<i32, BLOCKS>, SEGMENTS + 1u>;

var<workgroup> begun: u32;    // steps that the strip has done
var<workgroup> stopped: u32;  // whether it has waited in vain
var<workgroup> disordered: u32;  // whether a lane is in no subgroup's order

fn block_of(step: u32) -> u32 {
    return step / RESCALE_STEPS % BLOCKS;
}

// A border's block b has the columns from b RESCALE_STEPS - RESCALE_STEPS + 1 on: those that leave a segment in one block.
const FIRST_LEAVING = DELAY / RESCALE_STEPS;  // the block, of a segment's steps, in which the first column leaves

fn blocks_of(columns: u32) -> u32 {
    return (columns + 2u * RESCALE_STEPS - 2u) / RESCALE_STEPS;
}

// S and I of a column, at `position` of the border's block at that word, and their exponent, each with PRESENT.
fn border_column(at: u32, position: u32) -> vec3<u32> {
    return vec3<u32>(
        atomicLoad(&border[at + 2u * position]),
        atomicLoad(&border[at + 2u * position + 1u]),
        atomicLoad(&border[at + 2u * RESCALE_STEPS]),
    );
}

fn is_there(entry: vec3<u32>) -> bool {
    return all(entry != vec3<u32>(0u, 0u, 0u));
}

// The same, once it is there; one strip that has waited in vain lets none wait any more. It looks by what could be a change:
// compilers may take loads alone out of a loop.
fn awaited(at: u32, position: u32) -> vec3<u32> {
    var entry = border_column(at, position);
    for (var polls = work.polls; polls > 0u && !is_there(entry); polls--) {
        if atomicOr(&border[at + 2u * RESCALE_STEPS], 0u) != 0u {
            entry = border_column(at, position);
        } else if polls == 1u {
            atomicStore(&border[IN_VAIN], 1u);
        } else if polls % 64u == 0u && atomicLoad(&border[IN_VAIN]) != 0u {
            break;
        }
    }
    return entry;
}

fn take(entry: vec3<u32>, block: u32, position: u32) {
    let to = (block + FIRST_LEAVING) % BLOCKS;
    passing[0][to][position] = bitcast<vec2<f32>>(entry.xy & vec2<u32>(~PRESENT, ~PRESENT));
    if position == 0u {
        passing_exponent[0][to] = bitcast<i32>(entry.z & ~PRESENT) - EXPONENT_OFFSET;
    }
}

// What left the last segment in the block from `t` on, to the border at that word, by the last lanes.
fn give(t: u32, at: u32, columns: u32, lane: u32) {
    let from_block = t / RESCALE_STEPS - (LEAD + (SEGMENTS - 1u) * SKEW) / RESCALE_STEPS;
    let block = from_block - FIRST_LEAVING;
    if lane < W - RESCALE_STEPS || block >= blocks_of(columns) {
        return;
    }
    let position = lane - (W - RESCALE_STEPS);
    let left = bitcast<vec2<u32>>(passing[SEGMENTS][from_block % BLOCKS][position]);
    let to = at + BLOCK_WORDS * block;
    atomicStore(&border[to + 2u * position], left.x | PRESENT);
    atomicStore(&border[to + 2u * position + 1u], left.y | PRESENT);
    if position == 0u {
        let exponent = passing_exponent[SEGMENTS][from_block % BLOCKS];
        atomicStore(&border[to + 2u * RESCALE_STEPS], bitcast<u32>(exponent + EXPONENT_OFFSET) | PRESENT);
    }
}

// Three words that have the letters of a block from `column` on, which may lie before the haplotype's begin.
fn words_of(first: u32, column: u32) -> vec3<u32> {
    let word = letter_of(first, column) >> 2u;
    return vec3<u32>(batch[word], batch[word + 1u], batch[word + 2u]);
}

// Where letters are read: none of a block lies in the haplotype where it is not at `column`.
fn letter_of(first: u32, column: u32) -> u32 {
    return first + u32(max(bitcast<i32>(column), -i32(RESCALE_STEPS)));
}

// Letters of a block in which a haplotype begins or ends: NO_LETTER past its ends.
fn cut(letters: vec2<u32>, column: u32, columns: u32) -> vec2<u32> {
    var result = letters;
//#for u RESCALE_STEPS
    if column + $uu >= columns {
        result[$u.quad] = (result[$u.quad] & ~(255u << $u.byteu)) | (NO_LETTER << $u.byteu);
    }
//#end
    return result;
}

// One strip's part of a dispatch.
@compute @workgroup_size(W)
fn forward_long(
//#include forward/invocation.wgsl
) {
//#include forward/item.wgsl
    let item_at = work.items + ITEM_WORDS * item;
    let read = find_read(batch[item_at]);
    let offset = batch[work.haplotype_offset + batch[item_at + 1u]];
    let columns = batch[work.haplotype_offset + batch[item_at + 1u] + 1u] - offset;
    let strip = batch[item_at + 2u];
    let below_at = batch[item_at + 3u];
    let above_at = below_at - BLOCK_WORDS * blocks_of(columns);
    let last_step = LEAD + (SEGMENTS - 1u) * SKEW + DELAY + columns - 1u;
    let all_steps = (last_step / RESCALE_STEPS + 1u) * RESCALE_STEPS;
    let at = strip_at(item, lane);
    if lane == 0u {
        begun = strips[at + SUM * W].z;
        stopped = 0u;
        disordered = 0u;
    }
    let t_begin = workgroupUniformLoad(&begun);
    let t_end = u32(clamp(i32(work.front) - i32(work.behind * strip), 0, i32(all_steps)));
    if t_begin >= t_end {
        return;
    }
    // Of the border above: nothing is above the first strip, and what this dispatch has no need for may not be there.
    let known_blocks = select(0u, min(blocks_of(columns), max(t_end / RESCALE_STEPS, 2u) - 2u), strip > 0u);
    let segment = lane / SEGMENT;
    let l = lane % SEGMENT;
    let is_first = l == 0u;
    let is_last = l == SEGMENT - 1u;
    let is_last_strip = (strip + 1u) * (G * K) >= read.rows;

//#for q QUADS
    let from_deletions$q = bitcast<vec4<f32>>(strips[at + (COEFFICIENTS + $qu) * W]);
    let from_insertions$q = bitcast<vec4<f32>>(strips[at + (COEFFICIENTS + QUADS + $qu) * W]);
    let extend_insertions$q = bitcast<vec4<f32>>(strips[at + (COEFFICIENTS + 2u * QUADS + $qu) * W]);
    let extend_deletions$q = bitcast<vec4<f32>>(strips[at + (COEFFICIENTS + 3u * QUADS + $qu) * W]);
//#for letter EMITTED
    let emissions$letter_$q = bitcast<vec4<f32>>(strips[at + (EMISSIONS + $letteru * QUADS + $qu) * W]);
//#end
//#end
//#for k K
//#for letter EMITTED
    emissions[$letter][$k][lane] = emissions$letter_$k.quad.$k.axis;
//#end
    emissions[NO_LETTER][$k][lane] = 0.0;
    let from_deletion$k = from_deletions$k.quad.$k.axis;
    let from_insertion$k = from_insertions$k.quad.$k.axis;
    let extend_insertion$k = extend_insertions$k.quad.$k.axis;
//#if VARYING
    let extend_deletion$k = extend_deletions$k.quad.$k.axis;
//#else
    const extend_deletion$k = EXTEND_DELETION;
//#end
//#end
    let of_lane = strips[at + STRIP_LANE * W];
    let falls = bitcast<vec2<i32>>(of_lane.xy);
    begin_fitting(lane);

    let starts = lane == 0u && strip == 0u;
    let deletion = select(0.0, bitcast<f32>(of_lane.z) / f32(columns), starts);
//#for k K
    var s$k = 0.0;
    var d$k = 0.0;
//#end
    var below = vec2<f32>(0.0, 0.0);
    var exponent = -TOP;
    var sum = Sum(0.0, 0);
    if t_begin == first_step(strip) {
//#if SHUFFLES
        if !in_order(lane, subgroup_size, subgroup_lane) {
            disordered = 1u;
        }
//#end
        let first = select(0.0, work.start_match + deletion * work.start_deletion, starts);
        exponent = select(-TOP, exponent_of(max(first, deletion)) - TOP, starts);
        s0 = first * power_of_two(-exponent);
//#for p PASSING_ENTRIES
        if lane + $pu * W < (SEGMENTS - 1u) * RING {
            passing[1u + (lane + $pu * W) / RING][block_of(lane)][lane % RESCALE_STEPS] = vec2<f32>(0.0, 0.0);
        }
//#end
    } else {
//#for q QUADS
        let ss$q = bitcast<vec4<f32>>(strips[at + (STATES + $qu) * W]);
        let ds$q = bitcast<vec4<f32>>(strips[at + (STATES + QUADS + $qu) * W]);
//#end
//#for k K
        s$k = ss$k.quad.$k.axis;
        d$k = ds$k.quad.$k.axis;
//#end
        let of_below = strips[at + BELOW * W];
        below = bitcast<vec2<f32>>(of_below.xy);
        exponent = bitcast<i32>(of_below.z);
        let of_sum = strips[at + SUM * W];
        sum = Sum(bitcast<f32>(of_sum.x), bitcast<i32>(of_sum.y));
//#for p PASSING_ENTRIES
        if lane + $pu * W < (SEGMENTS - 1u) * RING {
            let passed$p = strips[at + (PASSING + $pu) * W];
            let g = 1u + (lane + $pu * W) / RING;
            passing[g][block_of(lane)][lane % RESCALE_STEPS] = bitcast<vec2<f32>>(passed$p.xy);
            if lane % RESCALE_STEPS == 0u {
                passing_exponent[g][block_of(lane)] = bitcast<i32>(passed$p.z);
            }
        }
//#end
    }
    // What the strip took in an earlier dispatch, and did not use up there.
    if lane < LEAD {
        let block = t_begin / RESCALE_STEPS - LEAD / RESCALE_STEPS + lane / RESCALE_STEPS;
        let position = lane % RESCALE_STEPS;
        var entry = vec3<u32>(0u, 0u, 0u);
        if block < known_blocks {
            entry = awaited(above_at + BLOCK_WORDS * block, position);
            if !is_there(entry) {
                stopped = 1u;
            }
        }
        take(entry, block, position);
    }
    if workgroupUniformLoad(&disordered) != 0u {
        if lane == 0u {
            out[work.kept + 3u * item + 2u] |= UNORDERED;
        }
        return;
    }
    if workgroupUniformLoad(&stopped) != 0u {
        return;
    }

    // A block's letters are read before their turn.
    let letters_at = work.letters + offset;
    let whole = select(0u, columns - RESCALE_STEPS + 1u, columns >= RESCALE_STEPS);  // blocks from here on are cut
    var words = words_of(letters_at, t_begin - LEAD - segment * SKEW - l);
    var t = t_begin;
    loop {
        let step = t - LEAD - segment * SKEW;
        let column = step - l;
        let shift = (letter_of(letters_at, column) & 3u) * 8u;
        var letters = vec2<u32>(joined(words.x, words.y, shift), joined(words.y, words.z, shift));
        if column >= whole {
            letters = cut(letters, column, columns);
        }
        words = words_of(letters_at, column + RESCALE_STEPS);
        let arriving_block = t / RESCALE_STEPS;
        let arriving_at = above_at + BLOCK_WORDS * arriving_block;
        let arrives = lane < RESCALE_STEPS && arriving_block < known_blocks;
        var arriving = vec3<u32>(0u, 0u, 0u);
        if arrives {
            arriving = border_column(arriving_at, lane);
        }

        let first_block = block_of(step + DELAY);
        let next_block = block_of(step + SEGMENT);
        var first_top = 0.0;
        var next_top = 0.0;
//#for u RESCALE_STEPS
        let entering$u = passing[segment][select(next_block, first_block, $u == 0)][($u + DELAY) % RESCALE_STEPS];
        first_top = max(first_top, select(0.0, max(entering$u.x, entering$u.y), $u == 0));
        next_top = max(next_top, select(max(entering$u.x, entering$u.y), 0.0, $u == 0));
//#end
        let first_exponent = passing_exponent[segment][first_block];
        let next_exponent = passing_exponent[segment][next_block];
        var largest_value = max(below.x, below.y);
//#for k K
        largest_value = max(largest_value, max(s$k, d$k));
//#end
        var wanted = with_exponent(largest_value, exponent);
        if is_first {
            wanted = max(wanted, exponent_of(deletion));
            wanted = max(wanted, with_exponent(first_top, first_exponent));
            wanted = max(wanted, with_exponent(next_top, next_exponent));
        }
        let renewed = fitting(wanted, exponent, falls, lane);
        if t > t_begin && !is_last_strip {
            give(t - RESCALE_STEPS, below_at, columns, lane);
        }
//#include forward/rescale.wgsl
        exponent_by[lane] = exponent;
        if is_last {
            passing_exponent[segment + 1u][block_of(step)] = exponent;
        }
        // What a rescaling reads, the next one writes on the other side of this.
        workgroupBarrier();
        // From the exponent above to this lane's. What enters may be further off than one factor can represent.
        let above_keep = power_of_two(exponent_by[max(lane, 1u) - 1u] - exponent);
        let first_fit = first_exponent - exponent;
        let next_fit = next_exponent - exponent;
        let first_keep = select(above_keep, power_of_two(first_fit / 2), is_first);
        let first_again = select(1.0, power_of_two(first_fit - first_fit / 2), is_first);
        let next_keep = select(above_keep, power_of_two(next_fit / 2), is_first);
        let next_again = select(1.0, power_of_two(next_fit - next_fit / 2), is_first);
        let start = deletion * power_of_two(-exponent);
        var part = 0.0;
//#for u RESCALE_STEPS
        var leaving$u: vec2<f32>;
        {
            let letter = (letters[$u.quad] >> $u.byteu) & 7u;
            let above = select(from_above(below, lane, $uu), entering$u, is_first) * select(next_keep, first_keep, $u == 0);
            var s = fma(above.x, select(next_again, first_again, $u == 0), start);
            var i = above.y * select(next_again, first_again, $u == 0);
//#include forward/column.wgsl
            below = vec2<f32>(s, i);
            part += i;
            leaving$u = below;
        }
//#end
        if is_last {
//#for u RESCALE_STEPS
            passing[segment + 1u][block_of(step)][$u] = leaving$u;
//#end
            // No columns leave behind the last one.
            if bitcast<i32>(step + RESCALE_STEPS - 1u - DELAY) >= i32(columns) {
//#for u RESCALE_STEPS
                if bitcast<i32>(step + $uu - DELAY) >= i32(columns) {
                    passing[segment + 1u][block_of(step)][$u] = vec2<f32>(0.0, 0.0);
                }
//#end
            }
        }
        if is_last_strip {
            sum = add(sum, part, exponent);
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
    if !is_last_strip {
        give(t - RESCALE_STEPS, below_at, columns, lane);
    }

    strips[at + SUM * W] = vec4<u32>(bitcast<u32>(sum.value), bitcast<u32>(sum.exponent), t, 0u);
    if t < all_steps {
//#for q QUADS
        var states$q = vec4<f32>(0.0, 0.0, 0.0, 0.0);
        var deletions$q = vec4<f32>(0.0, 0.0, 0.0, 0.0);
//#end
//#for k K
        states$k.quad.$k.axis = s$k;
        deletions$k.quad.$k.axis = d$k;
//#end
//#for q QUADS
        strips[at + (STATES + $qu) * W] = bitcast<vec4<u32>>(states$q);
        strips[at + (STATES + QUADS + $qu) * W] = bitcast<vec4<u32>>(deletions$q);
//#end
        strips[at + BELOW * W] = vec4<u32>(bitcast<vec2<u32>>(below), bitcast<u32>(exponent), 0u);
//#for p PASSING_ENTRIES
        if lane + $pu * W < (SEGMENTS - 1u) * RING {
            let g = 1u + (lane + $pu * W) / RING;
            let passed = bitcast<vec2<u32>>(passing[g][block_of(lane)][lane % RESCALE_STEPS]);
            let of_block = bitcast<u32>(passing_exponent[g][block_of(lane)]);
            strips[at + (PASSING + $pu) * W] = vec4<u32>(passed, of_block, 0u);
        }
//#end
        return;
    }
    if lane == 0u {
        out[work.kept + 3u * item + 2u] &= ~UNFINISHED;
    }
    if is_last_strip && lane == G - 1u && sum.value > 0.0 && bitcast<u32>(sum.value) < INFINITY_BITS {
        let pair = batch[item_at + 4u];
        out[2u * pair] = bitcast<u32>(sum.value);
        out[2u * pair + 1u] = bitcast<u32>(sum.exponent);
    }
}
