// A walk of a read's lanes through one tree of haplotypes.
//
// A tree comes as a stream: its nodes in depth-first order, one byte a node (cpu/staging/tree_streams.hpp). The byte has
// the letter, and says whether the states of a branch are restored before it, whether its own are saved, whether a half
// ends here, and whether a sum of columns does.
//
// A walk goes from leaf to leaf. Columns between two leaves are a segment, which enters the lanes one after the other.
// Its last columns drain: a lane that is done waits. So all lanes are at the same node when a leaf is met and when the
// states of a branch are restored, and these take one step of all lanes. Only saves, and ends of sums, are done by each
// lane at its own step. The host lists leaves and saves, so the next one is known: until there, PART columns at a time
// test nothing.
//
// A path's sum is made of sums that end at given depths, because many columns may add nearly the same. Where they end
// does not depend on other paths, so the score does not either.

// needs host: K, PART, EVENT_FLAGS, EVENT_SAVE, EVENT_LEAF, LAST_JOIN
// needs host: NODE_LETTER, NODE_RESTORE, NODE_POP, NODE_SAVE, NODE_SUM
// needs forward/batch.wgsl: batch, byte, work
// needs forward/emissions.wgsl: emissions
// needs forward/states.wgsl: Coefficients, States, last_of, take_column
// needs forward/letters.wgsl: first_letters, next_letters
// needs forward/pass_*.wgsl: from_lane
// needs forward/bounds_*.wgsl: least_of_tile, most_of_tile
// needs forward/tree_slots.wgsl: slot_of, save_states, restore_states, handed_by, leaf_of, save_leaf, join, put_number
// gives: Half, Place, walk

// All loops are those of a tile, also where only some of its reads have something to do: an NVIDIA driver does not bring
// lanes together again that leave a loop one after the other, and then they wait for each other for ever.

const NEVER = 1u << 30u;  // beyond any node

// What a half of the haplotypes is walked from.
struct Half {
    start: vec2<f32>,  // S and I of the first row walked, in every column
    stream: u32,       // byte of its first node
    events: u32,       // word of its first event
    joins: u32,        // of the first join, in units of two bytes
    nodes: u32,
}

// A lane in the order of the walk.
struct Place {
    lane: u32,    // its number in the workgroup
    number: u32,  // among those of its read: the first one of the walk is 0
    before: u32,  // the lane before it, as `from_lane` knows it
}

// `memory` is where the workgroup's scratch memory begins; `lanes` are those of a read.
fn walk(half: Half, backward: bool, memory: u32, rows: Coefficients, place: Place, lanes: u32) {
    let lane = place.lane;
    let is_first = place.number == 0u;
    var states = States();  // zeros
    var sums = vec2<f32>(0.0, 0.0);  // of ended sums of columns, and of the columns since
    var at = 0u;  // first node of the segment
    var goes_on = true;  // behind the node before it, whose states the lanes have
    var event = half.events;
    var joins = half.joins;
    var level = 0u;  // open branches
    var leaf = 0u;
    var entering = 0u;  // steps in which lanes enter a segment; before the first one their states are zeros
    loop {
        let walks = at < half.nodes;  // else it waits for another read, whose trees have more leaves
        let stream = half.stream + at;
        if walks && !goes_on {
            let node = byte(stream);
            if (node & NODE_RESTORE) != 0u {
                sums = restore_states(slot_of(memory, level - 1u, lane), &states);
                level -= select(0u, 1u, (node & NODE_POP) != 0u);
            }
        }
        // The first node at which lanes look, from `at` on, and the leaf. Before it, all events are looked at.
        let word = batch[event];
        var of_look = event;
        var look = select(NEVER, word / EVENT_FLAGS - at, walks && (word & (EVENT_SAVE | EVENT_LEAF)) != EVENT_LEAF);
        var of_leaf = word;
        while most_of_tile(select(0u, 1u, walks && (of_leaf & EVENT_LEAF) == 0u), lane) > 0u {
            event += select(0u, 1u, (of_leaf & EVENT_LEAF) == 0u);
            of_leaf = batch[event];
        }
        let length = select(0u, of_leaf / EVENT_FLAGS - at + select(1u, 0u, backward), walks);
        let longest = most_of_tile(select(0u, length + 1u, walks), lane);
        if longest == 0u {
            break;
        }
        let steps = longest + lanes - 2u;
        let full = least_of_tile(select(NEVER, length, walks), lane);
        var t = 0u;
        var looks_until = entering;
        entering = lanes;
        while t < steps {
            let end = min(looks_until, steps);
            var following = byte(stream + t - place.number);
            for (; t < end; t++) {
                let node = following;
                following = byte(stream + min(t + 1u, length + place.number) - place.number);
                let above = from_lane(states.below, lane, place.before, t);
                if t - place.number < length {  // t - number wraps before the first node
                    take_column(&states, rows, node & NODE_LETTER, lane, select(above, half.start, is_first));
                    sums.y += states.below.y;
                    if (node & NODE_SUM) != 0u {
                        sums = vec2<f32>(sums.x + sums.y, 0.0);
                    }
                    if (node & NODE_SAVE) != 0u {
                        save_states(slot_of(memory, level, lane), &states, sums);
                        level++;
                    }
                }
            }
            while most_of_tile(select(0u, 1u, look + lanes <= t), lane) > 0u {  // all lanes have looked
                if look + lanes <= t {
                    of_look++;
                    let later = batch[of_look];
                    look = select(NEVER, later / EVENT_FLAGS - at, of_look < event + ((later / EVENT_SAVE) & 1u));
                }
            }
            let run = min(least_of_tile(look, lane), full);
            if t + PART <= run {
                var letters = first_letters(stream + t - place.number);
                for (; t + PART <= run; t += PART) {
                    let letters_of_part = next_letters(&letters);
//#for u PART
                    {
                        let letter = (letters_of_part.four$u.quad >> $u.byteu) & NODE_LETTER;
                        let above = from_lane(states.below, lane, place.before, t + $uu);
                        take_column(&states, rows, letter, lane, select(above, half.start, is_first));
                        sums.y += states.below.y;
                    }
//#end
                }
            }
            looks_until = select(run + lanes, steps, run == full);
        }
        if backward {
            let letter = byte(stream + length) & NODE_LETTER;
            var is_joining = walks;
            while most_of_tile(select(0u, 1u, is_joining), lane) > 0u {
                if is_joining {
                    let word = batch[joins / 2u] >> (16u * (joins & 1u));  // two lie in a word
                    let left = leaf_of(memory + work.left_leaves, word & (LAST_JOIN - 1u), lane);
                    put_number(memory + work.joined, joins - half.joins, lane, join(left, &states, letter, lane));
                    is_joining = (word & LAST_JOIN) == 0u;
                    joins++;
                }
            }
            if walks {
                // With the last column's M of the last row walked.
                let started = sums.x + fma(last_of(&states), emissions[letter][K - 1u][lane], sums.y);
                put_number(memory + work.started, leaf, lane, started);
                // Where the path goes on, the leaf's own column is the next segment's first.
                goes_on = at + length + 1u < half.nodes && (byte(stream + length + 1u) & NODE_RESTORE) == 0u;
                at += length + select(1u, 0u, goes_on);
            }
        } else {
            var handed = handed_by(&states, rows);
            let first = from_lane(vec2<f32>(handed.d0.x, 0.0), lane, place.before, t).x;
            handed.d0.x = select(first, 0.0, is_first);
            if is_first {
                handed.s0.x = 0.0;  // what starts behind the cut is in `started`
            }
            if walks {
                save_leaf(leaf_of(memory + work.left_leaves, leaf, lane), handed);
                put_number(memory + work.ended, leaf, lane, sums.x + sums.y);
                at += length;
                goes_on = false;  // as the node says
            }
        }
        leaf++;
        event++;
    }
}
