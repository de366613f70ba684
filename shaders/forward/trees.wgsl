// Batch forward in float32, where haplotypes of a group share columns: each shared column is computed once.
//
// Method. A column of the forward depends on the letters to its left alone, a column of the backward on those to its
// right. The haplotypes of a group, cut in their middle, are therefore two trees: one of the prefixes of their left
// halves and one of the suffixes of their right halves. Each node is one column. A workgroup takes a tile of reads
// against the trees of their groups, walks the left trees (tree_walk.wgsl), turns the rows (tree_turn.wgsl) and walks
// the right ones, where it joins the leaves of both. tree_rows.wgsl has made the rows. Workgroups take tiles from a
// list, so that scratch memory is needed only for as many as run at once. The number of lanes of a read comes with its
// tier: one dispatch serves all reads of K rows a lane.
//
// The join is that of cuda/forward/trees.cu, and so are the bits of a score whatever shares its trees. A half starts from
// 2^HALF_EXPONENT, so that the product of two is within float32's range.
//
// Versions: docs/webgpu.md has the table.
//
// Limits. Pairs whose sums are below LEAST_JOINED_BITS go on a list for scaled.wgsl.

// import host: W, HALF_VALUE, JOINED_SCALE, LEAST_JOINED_BITS, MOST_SUM_BITS, START_EXPONENT
// import host: UNFOLDED, UNORDERED, UNTURNED, TREE_WORDS, TREE_LEFT, TREE_RIGHT, TREE_LEFT_NODES, TREE_RIGHT_NODES
// import host: TREE_LEFT_EVENTS, TREE_RIGHT_EVENTS, TREE_FIRST_JOIN, TREE_FIRST_PLACE, TREE_PLACES
// import host: NO_LIST, PLACE_WORDS, PLACE_HAPLOTYPE, PLACE_JOIN, PLACE_LEFT_LEAF, PLACE_RIGHT_LEAF
//#if SHUFFLES
// import forward/pass_*.wgsl: in_order
//#end
// import forward/batch.wgsl: batch, work, out, Read, score_index
// import forward/lists.wgsl: listed, List, enlist
// import forward/bounds_*.wgsl: most_of_tile
// import forward/tree_tasks.wgsl: Task, OWN_READ, task_of, made_of_place
// import forward/tree_slots.wgsl: number_of, numbers_of
// import forward/tree_turn.wgsl: load_rows, turned_rows
// import forward/tree_walk.wgsl: Half, Place, walk
// export: forward_trees

var<workgroup> taken_item: u32;

// What the score of a haplotype is made of.
struct Placed {
    number: u32,   // of the haplotype
    columns: u32,
    join: u32,
    left: u32,     // leaf
    right: u32,
}

// That of a place: its word in `batch`.
fn placed_at(place: u32, first_haplotype: u32) -> Placed {
    let number = first_haplotype + batch[place + PLACE_HAPLOTYPE];
    return Placed(
        number,
        batch[work.haplotype_offset + number + 1u] - batch[work.haplotype_offset + number],
        batch[place + PLACE_JOIN],
        batch[place + PLACE_LEFT_LEAF],
        batch[place + PLACE_RIGHT_LEAF],
    );
}

// The sum of a pair, from the lanes of its read: `first_lane` and those behind it.
fn sum_of(placed: Placed, entry: f32, memory: u32, first_lane: u32, lanes: u32) -> f32 {
    let started = number_of(memory + work.started, placed.right, first_lane);
    let ended = number_of(memory + work.ended, placed.left, first_lane + lanes - 1u);
    var sum = fma(ended, HALF_VALUE, started * (entry * HALF_VALUE));
    for (var first = first_lane / 4u * 4u; first < first_lane + lanes; first += 4u) {
        let four = numbers_of(memory + work.joined, placed.join, first);
//#for k QUAD
        sum += select(0.0, four[$k], first + $ku - first_lane < lanes);
//#end
    }
    return sum;
}

// Write the score of a pair, or put the pair on a list.
fn put_score(task: Task, placed: Placed, sum: f32, unfits: u32) {
    let bits = bitcast<u32>(sum);
    let fits = (unfits & (UNFOLDED | UNORDERED | UNTURNED)) == 0u;
    let held = fits && bits >= LEAST_JOINED_BITS && bits <= MOST_SUM_BITS;
    let score = score_index(Read(task.read, task.group, 0u, 0u), placed.number);
    out[2u * score] = select(0u, bitcast<u32>(sum / f32(placed.columns) * JOINED_SCALE), held);
    out[2u * score + 1u] = bitcast<u32>(-START_EXPONENT);
    if !held && (unfits & ~UNTURNED) == 0u {
        let of_list = work.tiers[2u * task.tier + 1u];
        if of_list.x != NO_LIST {
            enlist(List(of_list.x, of_list.y), task.read, placed.number);
        }
    }
}

// Items of several tiers: tiles of reads, each against one pair of trees of its group.
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
    var next_item = 0u;  // the first lane's: taken while the workgroup is at the item before it
    if lane == 0u {
        next_item = atomicAdd(&listed[work.counter], 1u);
    }
    loop {
        if lane == 0u {
            taken_item = next_item;
        }
        let taken = workgroupUniformLoad(&taken_item);
        if taken >= work.end_item {
            break;
        }
        if lane == 0u {
            next_item = atomicAdd(&listed[work.counter], 1u);
        }
        let made = made_of_place(taken);
        let task = task_of(made, lane);
        let is_own = (task.flags & OWN_READ) != 0u;
        let lanes = most_of_tile(work.tiers[2u * task.tier].z, lane);  // one number, which compilers do not know
        let l = lane % lanes;
        var unfits = task.flags & (OWN_READ - 1u);
//#if SHUFFLES
        if !in_order(lane, subgroup_size, subgroup_lane) || subgroup_size < lanes {
            unfits |= UNORDERED;
            out[work.unordered] = 1u;
        }
//#end
        let tree = work.trees + TREE_WORDS * task.tree;
        var rows = load_rows(made, lane);
        for (var turned = 0u; turned < 2u; turned++) {
            let backward = turned == 1u;
            var half: Half;
            half.joins = work.joins + batch[tree + TREE_FIRST_JOIN];
            half.start = vec2<f32>(HALF_VALUE, HALF_VALUE);
            if backward {
                rows = turned_rows(rows, made, lane, l == 0u);
            } else {
                half.start = vec2<f32>(task.entry * HALF_VALUE, 0.0);
            }
            half.stream = work.streams + batch[tree + select(TREE_LEFT, TREE_RIGHT, backward)];
            half.events = work.events + batch[tree + select(TREE_LEFT_EVENTS, TREE_RIGHT_EVENTS, backward)];
            half.nodes = batch[tree + select(TREE_LEFT_NODES, TREE_RIGHT_NODES, backward)];
            var place = Place(lane, select(l, lanes - 1u - l, backward), 0u);
//#if SHUFFLES
            place.before = subgroup_lane;
//#else
            place.before = lane;
//#end
            if place.number > 0u {
                place.before = select(place.before - 1u, place.before + 1u, backward);
            }
            walk(half, backward, memory, rows, place, lanes);
        }
        storageBarrier();
        workgroupBarrier();

        let first_haplotype = batch[work.group_haplotype + task.group];
        let places = select(0u, batch[tree + TREE_PLACES], is_own);
        if places > 0u {
            let first_place = work.places + PLACE_WORDS * batch[tree + TREE_FIRST_PLACE];
            var next = placed_at(first_place + PLACE_WORDS * min(l, places - 1u), first_haplotype);
            for (var p = l; p < places; p += lanes) {
                let placed = next;
                // Read ahead, since memory is slow.
                next = placed_at(first_place + PLACE_WORDS * min(p + lanes, places - 1u), first_haplotype);
                put_score(task, placed, sum_of(placed, task.entry, memory, lane - l, lanes), unfits);
            }
        }
        // The next tile overwrites what was just read.
        storageBarrier();
        workgroupBarrier();
    }
}
