// The rescue of forward.wgsl and trees.wgsl: the pairs that they listed, in float32 with an exponent a lane
// (scaling.wgsl).
//
// Method. A workgroup takes tiles, each of pairs of one list. Reads of a list have one number of lanes, which may not be
// that of the kernel that listed them. One dispatch takes all lists with one number of rows a lane: most have few pairs,
// each column waits for the one before, and a dispatch waits for the one before. Columns past a haplotype's end emit
// nothing (NO_LETTER): their values could be far above all that count. Letters are read several columns ahead, because
// a column takes less time than a load.
//
// Versions, for 20 copies of 1m (some hundred pairs); all kernels of s150-rescue (320,000 pairs). On one NVIDIA H200:
//
//     a dispatch for each list, as large as the list says (indirect); 20 rows a lane    0.19 ms    30.8 ms
//     one dispatch for all lists, whose workgroups take tiles in turn                   0.08 ms    33.2 ms
//     workgroups take the next tile; 10 rows a lane                                     0.09 ms    30.2 ms
//     letters are read PART columns ahead; 20 rows a lane only beyond 320 bases         0.08 ms    28.9 ms
//
// Limits. A lane holds insertions and deletions of limited cost (lanes.wgsl). Pairs with rarer gaps stay unscored here,
// and go to the CPU.

// import host: W, TOP_EXPONENT, RESCALE_STEPS, NO_LETTER
// import forward/batch.wgsl: batch, work, out, find_read, score_index
// import forward/tiles.wgsl: largest_of_tile
// import forward/lanes.wgsl: load_lane, load_emissions
// import forward/rows_*.wgsl: first_deletion
// import forward/letters.wgsl: first_letters, next_letters
// import forward/states.wgsl: States, staged_coefficients, take_column
// import forward/pass_*.wgsl: from_above
//#if SHUFFLES
// import forward/pass_*.wgsl: in_order
//#end
// import forward/scaling.wgsl: exponent_by, power_of_two, exponent_of, with_exponent, Sum, add, is_score
// import forward/scaling.wgsl: sum_falls, fitting
// import forward/rescale.wgsl: largest_state, rescale
// export: forward_scaled

@group(0) @binding(4) var<storage, read_write> listed: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> list: array<vec2<u32>>;

const UNFIT_FALL = 1e6;  // more than all lanes of a read have

// Pairs of a list that share a workgroup.
struct Tile {
    lanes: u32,  // of a read; 0 where there is no tile
    first: u32,  // its first pair in `list`,
    last: u32,   // and the list's last one
}

// The tiles of the lists follow each other.
fn tile_of(number: u32) -> Tile {
    var before = 0u;
    for (var n = 0u; n < work.end_item; n++) {
        let of_list = work.tiers[n];  // the words of LISTED
        let count = atomicLoad(&listed[of_list.x]);
        let reads = W / of_list.z;
        let tiles = (count + reads - 1u) / reads;
        if number - before < tiles {
            return Tile(of_list.z, of_list.y + (number - before) * reads, of_list.y + count - 1u);
        }
        before += tiles;
    }
    return Tile();
}

var<workgroup> taken: Tile;

@compute @workgroup_size(W)
fn forward_scaled(
    @builtin(local_invocation_index) lane: u32,
//#if SHUFFLES
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
//#end
) {
    loop {
        if lane == 0u {
            taken = tile_of(atomicAdd(&listed[work.counter], 1u));
        }
        let tile = workgroupUniformLoad(&taken);
        if tile.lanes == 0u {
            break;
        }
        let l = lane % tile.lanes;
        let is_first = l == 0u;
        let is_last = l == tile.lanes - 1u;
        let at = tile.first + lane / tile.lanes;
        let pair = list[min(at, tile.last)];
        let read = find_read(pair.x);
        let loaded = load_lane(lane, l, read.first, read.rows, read.rows);
        let rows = staged_coefficients(lane);
        load_emissions(lane, l, read.first, read.rows);
        // The tile that listed the pair had other lanes. The last one of these knows whether one of them is unfit.
        let falls = sum_falls(select(loaded.fall, UNFIT_FALL, loaded.unfit != 0u), lane, l);

        let offset = batch[work.haplotype_offset + pair.y];
        let columns = batch[work.haplotype_offset + pair.y + 1u] - offset;
        let longest = largest_of_tile(columns + tile.lanes - 1u, lane);
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
        var letters = first_letters(work.letters + offset - l);
        // Columns behind the longest haplotype's end, up to the next rescaling, add nothing.
        for (var t = 0u; t < longest; t += RESCALE_STEPS) {
            sum = add(sum, part, exponent);
            part = 0.0;
            let own = with_exponent(largest_state(&states), exponent);
            let renewed = fitting(own, entering, exponent, falls, lane, l);
            rescale(&states, exponent - renewed);
            exponent = renewed;
            exponent_by[lane] = exponent;
            // This barrier separates what a rescaling reads from what the next one writes.
            workgroupBarrier();
            keep = select(power_of_two(exponent_by[max(lane, 1u) - 1u] - exponent), 0.0, is_first);
            start = deletion * power_of_two(-exponent);
            let ahead = next_letters(&letters);
//#for q PART_WORDS
            for (var u = 0u; u < 4u; u++) {
                // A number before a lane's first column wraps, and then is past every end.
                let column = t + 4u * $qu + u - l;
                let letter = select(NO_LETTER, (ahead.four$q >> (8u * u)) & 7u, column < columns);
                let above = from_above(states.below, lane, u);
                let entered = vec2<f32>(select(above.x * keep, start, is_first), select(above.y * keep, 0.0, is_first));
                take_column(&states, rows, letter, lane, entered);
                part += states.below.y;
            }
//#end
        }
        sum = add(sum, part, exponent);

        var is_ordered = true;
//#if SHUFFLES
        is_ordered = in_order(lane, subgroup_size, subgroup_lane) && subgroup_size >= tile.lanes;
//#end
        let fits = falls.y < i32(UNFIT_FALL);
        if at <= tile.last && is_last && is_ordered && fits && is_score(sum) {
            let score = score_index(read, pair.y);
            out[2u * score] = bitcast<u32>(sum.value);
            out[2u * score + 1u] = bitcast<u32>(sum.exponent);
        }
        // The next pairs' rows overwrite those that were just read.
        workgroupBarrier();
    }
}
