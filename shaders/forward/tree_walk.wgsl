// A walk of a read's lanes through one tree of haplotypes.
//
// A tree comes as a stream: its nodes in depth-first order, one byte a node (cpu/staging/tree_streams.hpp). The byte has
// the letter, and says whether the states of a branch are restored before it, whether its own are saved, whether a half
// ends here, and whether a sum of columns does. Lanes follow each other through the stream as they do through a
// haplotype; each saves and restores its own states, at its own step. Nodes that are letters alone need no test: the
// others (events) are known ahead, and the columns between them are taken PART at a time.
//
// A path's sum is made of sums that end at given depths, because many columns may add nearly the same. Where they end
// does not depend on other paths, so the score does not either.

// needs host: PART, EVENT_FLAGS, NODE_LETTER, NODE_RESTORE, NODE_POP, NODE_SAVE, NODE_LEAF, NODE_SUM
// needs forward/batch.wgsl: batch, byte, work
// needs forward/states.wgsl: Coefficients, States, take_column
// needs forward/letters.wgsl: first_letters, next_letters
// needs forward/pass_*.wgsl: from_above
// needs forward/bounds_*.wgsl: least_of_tile, most_of_tile
// needs forward/tree_slots.wgsl: slot_of, save_states, restore_states, leaf_of, save_left_leaf, save_right_leaf
// needs forward/tree_slots.wgsl: put_sum_of_leaf
// gives: Half, walk

// What a lane counts, in one number: open branches, of which there are fewer than 256, and leaves.
const ONE_LEAF = 1u << 8u;

const NEVER = 1u << 30u;  // beyond any node

// What a half of the haplotypes is walked from.
struct Half {
    start: vec2<f32>,  // S and I of the first row walked, in every column
    stream: u32,       // byte of its first node
    events: u32,       // word of its first event
    nodes: u32,
}

// `steps` are those of the whole tile; `memory` is where the workgroup's scratch memory begins. Returns how many leaves
// the tree has.
fn walk(
    half: Half,
    backward: bool,
    steps: u32,
    memory: u32,
    rows: Coefficients,
    lane: u32,
    l: u32,
    lanes: u32,
) -> u32 {
    let is_first = l == 0u;
    let is_last = l + 1u == lanes;
    let mirror = lane - l + (lanes - 1u - l);  // the lane that has the same rows after the turn
    var states = States();  // zeros
    var sums = vec2<f32>(0.0, 0.0);  // of ended sums of columns, and of the columns since
    var counts = 0u;
    var next_event = half.events;
    var event = batch[next_event] / EVENT_FLAGS;
    var t = 0u;
    while t < steps {
        let run = min(least_of_tile(max(event, t), lane), steps);
        if t + PART <= run {
            var letters = first_letters(half.stream + t - l);
            for (; t + PART <= run; t += PART) {
                let letters_of_part = next_letters(&letters);
//#for u PART
                {
                    let letter = (letters_of_part.four$u.quad >> $u.byteu) & NODE_LETTER;
                    let above = from_above(states.below, lane, t + $uu);
                    take_column(&states, rows, letter, lane, select(above, half.start, is_first));
                    sums.y += states.below.y;
                }
//#end
            }
        }
        // An event reaches the last lane after `lanes` steps.
        let end = min(most_of_tile(select(run, event + lanes, event <= run), lane), steps);
        var following = byte(half.stream + t - l);
        for (; t < end; t++) {
            let node = select(0u, following, t - l < half.nodes);  // t - l wraps before the first node
            following = byte(half.stream + t + 1u - l);
            let above = from_above(states.below, lane, t);
            let letter = node & NODE_LETTER;
            if (node & NODE_RESTORE) != 0u {
                sums = restore_states(slot_of(memory, (counts & 255u) - 1u, lane), &states);
                if (node & NODE_POP) != 0u {
                    counts -= 1u;
                }
            }
            if (node & NODE_LEAF) != 0u && backward {
                save_right_leaf(leaf_of(memory + work.right_leaves, counts / ONE_LEAF, lane), &states, letter, lane);
            }
            take_column(&states, rows, letter, lane, select(above, half.start, is_first));
            sums.y += states.below.y;
            if node > NODE_LETTER {
                if (node & NODE_SUM) != 0u {
                    sums = vec2<f32>(sums.x + sums.y, 0.0);
                }
                if (node & NODE_SAVE) != 0u {
                    save_states(slot_of(memory, counts & 255u, lane), &states, sums);
                    counts += 1u;
                }
                if (node & NODE_LEAF) != 0u {
                    let leaf = counts / ONE_LEAF;
                    if backward {
                        put_sum_of_leaf(leaf_of(memory + work.right_leaves, leaf, lane), sums.x + sums.y);
                    } else {
                        let slot = leaf_of(memory + work.left_leaves, leaf, mirror);
                        save_left_leaf(slot, &states, rows, is_first, is_last, sums.x + sums.y);
                    }
                    counts += ONE_LEAF;
                }
            }
        }
        while event + lanes <= t {
            next_event++;
            // The last node is the last event.
            event = select(batch[next_event] / EVENT_FLAGS, NEVER, event + 1u >= half.nodes);
        }
    }
    return counts / ONE_LEAF;
}
