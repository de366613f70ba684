// Batch forward in float32, where haplotypes of a group share columns: each shared column is computed once.
//
// Method. A column of the forward depends on the letters to its left alone, a column of the backward on those to its
// right. The haplotypes of a group, cut in their middle, are therefore two trees: one of the prefixes of their left
// halves and one of the suffixes of their right halves. Each node is one column. A workgroup takes a tile of reads
// against the trees of their groups, walks the left trees (tree_walk.wgsl), turns the rows (tree_turn.wgsl), walks
// the right ones, and joins their leaves. Workgroups take tiles from a list, so that scratch memory is needed only for as many as run at once.
// The number of lanes of a read comes with its tier: one dispatch serves all reads of K rows a lane.
//
// With S and D what enters column s + 1 from the left half, m = E S' of that column from the right half, and D' what
// follows D, in units in which all rows' factors cancel,
//
//   P = ended + started + sum over rows (S m + from_deletion D D').
//
// `ended` is the sum of M + I of the last row over the columns of the left half, `started` the sum of m of the first
// row over those of the right half. A half starts from 2^HALF_EXPONENT, so that the product of two is within float32's
// range. The cut depends on the haplotype alone, and each sum on the path from the root alone: a score has the same
// bits whatever shares its trees.
//
// Versions: docs/webgpu.md has the table, to be measured.
//
// Limits. An event is a step of every lane, one after the other, and waits for memory. Pairs whose sums are below
// LEAST_JOINED_BITS go on a list for scaled.wgsl.

// needs host: W, TREE_TIERS, HALF_VALUE, JOINED_SCALE, LEAST_JOINED_BITS, MOST_SUM_BITS, START_EXPONENT, STAGED_BELOW
// needs host: UNFOLDED, UNORDERED, UNTURNED, TREE_WORDS, TREE_LEFT, TREE_RIGHT, TREE_LEFT_NODES, TREE_RIGHT_NODES
// needs host: TREE_LEFT_EVENTS, TREE_RIGHT_EVENTS, LAST_JOIN, TREE_FIRST_JOIN, TREE_FIRST_PLACE, TREE_PLACES
// needs host: PLACE_WORDS, PLACE_HAPLOTYPE, PLACE_JOIN, PLACE_LEFT_LEAF, PLACE_RIGHT_LEAF
//#if SHUFFLES
// needs forward/pass_*.wgsl: in_order
//#end
// needs forward/batch.wgsl: batch, work, out, Read, find_read, score_index
// needs forward/emissions.wgsl: emissions
// needs forward/lanes.wgsl: load_lane, load_emissions
// needs forward/rows_*.wgsl: first_deletion
// needs forward/states.wgsl: staged_coefficients
// needs forward/sums.wgsl: unfit, begin_read, note_lane, put_kept
// needs forward/lists.wgsl: listed, List, enlist
// needs forward/bounds_*.wgsl: most_of_tile
// needs forward/tree_slots.wgsl: leaf_of, sum_of_leaf, join, put_number, number_of, save_from_below
// needs forward/tree_turn.wgsl: turn
// needs forward/tree_walk.wgsl: Half, walk
// gives: forward_trees

var<workgroup> taken_item: u32;

// The sums over the rows of each lane at the cut, for all joins of a pair of trees, which begins at word `tree`
// and has so many right leaves.
fn join_all(tree: u32, right_leaves: u32, memory: u32, lane: u32) {
    let joins = work.joins + batch[tree + TREE_FIRST_JOIN];  // two lie in a word
    var number = 0u;
    for (var right = 0u; right < right_leaves; number++) {
        let at = joins + number;
        let left = (batch[at / 2u] >> (16u * (at & 1u))) & 0xffffu;
        let left_at = leaf_of(memory + work.left_leaves, left & (LAST_JOIN - 1u), lane);
        let part = join(left_at, leaf_of(memory + work.right_leaves, right, lane));
        put_number(memory + work.joined, number, lane, part);
        right += select(0u, 1u, (left & LAST_JOIN) != 0u);
    }
}

// The sum of a pair, from the lanes of its read: `first_lane` and those behind it. The place is a word.
fn sum_of(place: u32, entry: f32, memory: u32, first_lane: u32, lanes: u32) -> f32 {
    let last = first_lane + lanes - 1u;  // the lane of the first row, in the backward's order
    let left = leaf_of(memory + work.left_leaves, batch[place + PLACE_LEFT_LEAF], first_lane);
    let right = leaf_of(memory + work.right_leaves, batch[place + PLACE_RIGHT_LEAF], last);
    var sum = sum_of_leaf(right) * (entry * HALF_VALUE);
    sum = fma(sum_of_leaf(left), HALF_VALUE, sum);
    for (var k = 0u; k < lanes; k++) {
        sum += number_of(memory + work.joined, batch[place + PLACE_JOIN], first_lane + k);
    }
    return sum;
}

// Write the score of a pair, or put the pair on a list.
fn put_score(read: Read, haplotype: u32, sum: f32, unfits: u32, to: List) {
    let columns = batch[work.haplotype_offset + haplotype + 1u] - batch[work.haplotype_offset + haplotype];
    let bits = bitcast<u32>(sum);
    let fits = (unfits & (UNFOLDED | UNORDERED | UNTURNED)) == 0u;
    let held = fits && bits >= LEAST_JOINED_BITS && bits <= MOST_SUM_BITS;
    let score = score_index(read, haplotype);
    out[2u * score] = select(0u, bitcast<u32>(sum / f32(columns) * JOINED_SCALE), held);
    out[2u * score + 1u] = bitcast<u32>(-START_EXPONENT);
    if !held && (unfits & ~UNTURNED) == 0u {
        enlist(to, read.index, haplotype);
    }
}

// Items of several tiers, one after the other: tiles of reads, each against one pair of trees of its group.
@compute @workgroup_size(W)
fn forward_trees(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
//#if SHUFFLES
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
//#end
) {
    let number = workgroup.y * workgroups.x + workgroup.x;
    if number >= work.walkers {
        return;  // in the second dimension of a dispatch, beyond the last
    }
    let memory = number * work.scratch;
    loop {
        if lane == 0u {
            taken_item = work.first_item + atomicAdd(&listed[work.counter], 1u);
        }
        let taken = workgroupUniformLoad(&taken_item);
        if taken >= work.end_item {
            break;
        }
        var tier = 0u;
        var before = 0u;  // items of the tiers before it
        for (; tier + 1u < TREE_TIERS && taken >= work.tiers[2u * tier].x; tier++) {
            before = work.tiers[2u * tier].x;
        }
        let of_tier = work.tiers[2u * tier];  // the words of TREE_TIER
        let of_list = work.tiers[2u * tier + 1u];
        let to = List(of_list.x, of_list.y, of_list.z);
        let last = of_tier.w;
        let lanes = of_tier.z;
        let slot = lane / lanes;
        let l = lane % lanes;
        let is_last = l + 1u == lanes;
        let item = of_tier.y + taken - before;
        let at = batch[work.items + 2u * item] + slot;
        let block = batch[work.items + 2u * item + 1u];
        let read = find_read(batch[work.order + min(at, last - 1u)]);
        let of_group = work.of_group + 2u * read.group;
        let trees = batch[of_group + 1u];  // pairs of them
        let is_own = at < last && block < trees;
        let pair = select(0u, batch[of_group] + min(block, max(trees, 1u) - 1u), trees > 0u);
        let tree = work.trees + TREE_WORDS * pair;

        if l == 0u {
            begin_read(slot);
        }
        workgroupBarrier();
        let loaded = load_lane(lane, l, read.first, read.rows, read.rows);
        var rows = staged_coefficients(lane);
//#for k K
        save_from_below(memory + work.from_below, lane, $ku, emissions[STAGED_BELOW][$k][lane]);
//#end
        load_emissions(lane, l, read.first, read.rows);
        note_lane(slot, loaded);
//#if SHUFFLES
        let is_ordered = in_order(lane, subgroup_size, subgroup_lane) && subgroup_size >= lanes;
        atomicOr(&unfit[slot], select(UNORDERED, 0u, is_ordered));
//#end
        workgroupBarrier();
        if is_last && at < last && block == 0u {
            put_kept(read, slot);
        }

        let entry = first_deletion(read.first);
        var leaves = 0u;
        for (var turned = 0u; turned < 2u; turned++) {
            let backward = turned == 1u;
            // What lanes have written is for other lanes, too.
            storageBarrier();
            workgroupBarrier();
            if backward {
                turn(&rows, lane, l, lanes, memory + work.from_below);
            }
            var half: Half;
            half.start = select(vec2<f32>(entry * HALF_VALUE, 0.0), vec2<f32>(HALF_VALUE, HALF_VALUE), backward);
            half.stream = work.streams + batch[tree + select(TREE_LEFT, TREE_RIGHT, backward)];
            half.events = work.events + batch[tree + select(TREE_LEFT_EVENTS, TREE_RIGHT_EVENTS, backward)];
            half.nodes = batch[tree + select(TREE_LEFT_NODES, TREE_RIGHT_NODES, backward)];
            // A last lane comes as many steps behind the first.
            let steps = most_of_tile(half.nodes, lane) + lanes - 1u;
            leaves = walk(half, backward, steps, memory, rows, lane, l, lanes);
        }
        join_all(tree, leaves, memory, lane);
        storageBarrier();
        workgroupBarrier();

        let unfits = atomicLoad(&unfit[slot]);
        let first_haplotype = batch[work.group_haplotype + read.group];
        let places = select(0u, batch[tree + TREE_PLACES], is_own);
        for (var p = l; p < places; p += lanes) {
            let place = work.places + PLACE_WORDS * (batch[tree + TREE_FIRST_PLACE] + p);
            let sum = sum_of(place, entry, memory, lane - l, lanes);
            put_score(read, first_haplotype + batch[place + PLACE_HAPLOTYPE], sum, unfits, to);
        }
        // The next tile overwrites what was just read.
        storageBarrier();
        workgroupBarrier();
    }
}
