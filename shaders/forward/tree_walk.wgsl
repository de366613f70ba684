// A walk of a read's lanes through one tree of haplotypes.
//
// A tree comes as a stream: its nodes in depth-first order, one byte a node (cpu/packing/tree_streams.hpp). The byte has
// the letter, and says whether the states of a branch are restored before it, whether its own are saved, whether a half
// ends here, and whether a sum of columns does. The host lists the nodes at which something happens: the events.
//
// Each lane of a read is one column behind the lane before it. An event takes place when the first lane has finished
// its node. A branch is saved where the lanes are at that step, each at another column, together with what they are
// about to hand on. So all lanes restore it at once and go on at once: each first walks again the columns that it had
// not reached. For that the stream has the path's last letters before each restored node.
//
// Halves are joined along a diagonal, too. At a left leaf, each lane hands over what it has. In the right tree, lanes go
// on until each has the columns that the left one's lane with the same rows has not: up to lanes - 1 columns of the left
// half, whose letters come behind each right leaf. A path that crosses from a lane to the one below does so one column
// further to the right. So lanes never wait for each other, and columns between events test nothing.
//
// Reads of a tile may be at different events. All lanes walk up to the next event of any read, and then the reads that
// have it act. Reads without further nodes walk on beside the others; nothing reads what they compute.
//
// A path's sum is made of sums that end at given depths, because many columns may add nearly the same. Where they end
// does not depend on other paths, so the score does not either.

// import host: PART, TAIL, EVENT_FLAGS, EVENT_POP, EVENT_SAVE, EVENT_LEAF, LAST_JOIN, NODE_LETTER, NODE_SAVE, NODE_SUM
// import forward/batch.wgsl: batch, byte, work
// import forward/states.wgsl: Coefficients, States, LastRow, matches_of, last_of, take_column
// import forward/letters.wgsl: first_letters, next_letters
// import forward/pass_*.wgsl: from_lane
// import forward/bounds_*.wgsl: least_of_tile, most_of_tile
// import forward/tree_slots.wgsl: slot_of, save_states, restore_states, handed_by, leaf_of, save_leaf, join, put_number
// export: Half, Place, walk

// All loops are those of a tile, also where only some of its reads have something to do: an NVIDIA driver does not bring
// lanes together again that leave a loop one after the other, and then they wait for each other for ever.

const NEVER = 1u << 30u;  // beyond any event

// What a half of the haplotypes is walked from.
struct Half {
    start: vec2<f32>,  // S and I of the first row walked, in every column
    stream: u32,       // byte of its first node
    events: u32,       // word of its first event
    joins: u32,        // of the first join, in units of two bytes
    nodes: u32,        // bytes of its stream
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
    var last = LastRow();
    var sums = vec2<f32>(0.0, 0.0);  // of ended sums of columns, and of the columns since
    var node = 0u;                   // the next one of the read's first lane
    // Events and joins are read ahead, since memory is slow: the next event, the two behind it, and the next join.
    var event = half.events;
    var word = event_at(event, backward);
    var next_word = event_at(event + 1u, backward);
    var after_next = event_at(event + 2u, backward);
    var joins = half.joins;
    var pair = join_at(joins);
    var level = 0u;  // open branches
    var leaf = 0u;
    var walks = true;
    var step = 0u;  // of the tile
    loop {
        // The next event of the tile. At one step, saves come before leaves. The last lane stops before a right leaf's own
        // column.
        let is_leaf = (word & EVENT_SAVE) == 0u;
        let away = word / EVENT_FLAGS + select(1u, lanes - 1u, backward && is_leaf) - node;
        let own = select(NEVER, 2u * away + select(0u, 1u, is_leaf), walks);
        let next = least_of_tile(own, lane);
        if next == NEVER {
            break;
        }
        let end = step + next / 2u;
        let flags = byte(half.stream + word / EVENT_FLAGS);
        let at = half.stream + node - place.number - step;
        if step + PART < end {
            var letters = first_letters(at + step);
            for (; step + PART < end; step += PART) {
                let letters_of_part = next_letters(&letters);
//#for u PART
                {
                    let letter = (letters_of_part.four$u.quad >> $u.byteu) & NODE_LETTER;
                    let above = from_lane(states.below, lane, place.before, step + $uu);
                    _ = take_column(&states, rows, letter, lane, select(above, half.start, is_first));
                    sums.y += states.below.y;
                }
//#end
            }
        }
        // A join needs the last row of the last column, which takes registers in single steps alone.
        var following = byte(at + step);
        for (; step < end; step++) {
            let letter = following & NODE_LETTER;
            following = byte(at + step + 1u);
            let above = from_lane(states.below, lane, place.before, step);
            last = take_column(&states, rows, letter, lane, select(above, half.start, is_first));
            sums.y += states.below.y;
        }
        let acts = own == next;
        node += select(0u, next / 2u, walks);
        if (next & 1u) == 0u {
            if acts {
                if (flags & NODE_SUM) != 0u {
                    sums = vec2<f32>(sums.x + sums.y, 0.0);
                }
                if (flags & NODE_SAVE) != 0u {
                    save_states(slot_of(memory, level, lane), &states, sums);
                    level++;
                }
                word &= ~EVENT_SAVE;
                if (word & EVENT_LEAF) == 0u {
                    event++;
                    word = next_word;
                    next_word = after_next;
                    after_next = event_at(event + 2u, backward);
                }
            }
            continue;
        }
        if backward {
            let matches = matches_of(&states, rows, following & NODE_LETTER, lane);
            var is_joining = acts;
            while most_of_tile(select(0u, 1u, is_joining), lane) > 0u {
                if is_joining {
                    let left = leaf_of(memory + work.left_leaves, pair & (LAST_JOIN - 1u), lane);
                    put_number(memory + work.joined, joins - half.joins, lane, join(left, &states, matches, last, rows));
                    is_joining = (pair & LAST_JOIN) == 0u;
                    joins++;
                    pair = join_at(joins);
                }
            }
            if acts {
                // With the last column's M of the last row walked.
                let started = sums.x + (sums.y + last_of(matches));
                put_number(memory + work.started, leaf, lane, started);
            }
        } else {
            var handed = handed_by(&states, rows);
            let above = vec4<f32>(
                from_lane(handed.above.xy, lane, place.before, step),
                from_lane(handed.above.zw, lane, place.before, step + 1u),
            );
            step += 2u;
            handed.above = select(above, vec4<f32>(0.0, 0.0, 0.0, 0.0), is_first);
            if is_first {
                handed.s0.x = 0.0;  // what starts behind the cut is in `started`
            }
            if acts {
                save_leaf(leaf_of(memory + work.left_leaves, leaf, lane), handed);
                put_number(memory + work.ended, leaf, lane, sums.x + sums.y);
            }
        }
        if acts {
            leaf++;
            walks = word / EVENT_FLAGS + 1u + select(0u, TAIL, backward) < half.nodes;
            node = 0u;
            if walks {
                node = next_word / EVENT_FLAGS;  // it has a restored branch
                sums = restore_states(slot_of(memory, level - 1u, lane), &states);
                level -= select(0u, 1u, (next_word & EVENT_POP) != 0u);
                let is_event = (next_word & (EVENT_SAVE | EVENT_LEAF)) != 0u;
                event += select(2u, 1u, is_event);
                word = select(after_next, next_word, is_event);
                next_word = event_at(event + 1u, backward);
                after_next = event_at(event + 2u, backward);
            }
        }
    }
}

// No branch is saved and no sum ends at a right leaf, whose own column is not walked.
fn event_at(event: u32, backward: bool) -> u32 {
    let word = batch[event];
    return select(word, word & ~EVENT_SAVE, backward && (word & EVENT_LEAF) != 0u);
}

// Two lie in a word.
fn join_at(joins: u32) -> u32 {
    return batch[joins / 2u] >> (16u * (joins & 1u));
}
