// The cost of the cheapest time warping.
//
// Method. A lane has a pair, and takes its rows in strips of ROWS, which are in registers; what the last row of a strip
// hands to the next strip goes through memory. Rows are the query's levels and columns the target's; in mode
// "subsequence" it is the other way round. So whatever may begin or end anywhere does so in the column before the first
// and in the last one, which a lane holds in its registers. Where a path begins is found by going backwards from its end.
//
// Versions on an H200 through Vulkan, in GCUPS:
//
//                         256 x 256    1,024 x 1,024    10,000 x 250
//   16 rows a strip           2,470            1,690           1,220
//   32 rows (this)            2,900            2,740           1,910
//   64 rows                   2,730            2,340           2,540
//
// Integers are 3 to 10% slower.
//
// Limits. Costs are whole numbers in floats, which hold those to 2^24; WIDE lanes have integers, which stay at LARGEST.
// The host does a pair again whose cost is LARGEST or more. A sum that is less than that was never rounded, since costs
// only grow along a path.

// import host: W, ROWS, LARGEST, SignalPair, WarpParams
// export: warp_signals

@group(0) @binding(0) var<uniform> params: WarpParams;
@group(0) @binding(1) var<storage, read> levels: array<u32>;  // two in a word
@group(0) @binding(2) var<storage, read> pairs: array<SignalPair>;
@group(0) @binding(3) var<storage, read_write> found: array<Found>;  // of each pair
@group(0) @binding(4) var<storage, read_write> border: array<Lane>;  // [columns][params.stride]

// In the last column: the cost of the last row, the least one, and its first row. Of the rows that are done, until all are.
struct Found {
    last: u32,
    least: u32,
    place: u32,
}

//#if WIDE
alias Lane = i32;
alias Level = i32;
const NEVER = i32(LARGEST);
//#else
alias Lane = f32;
alias Level = f32;
const NEVER = 0x1p126f;
//#end

struct Rows {
//#for i ROWS
    level$i: Level,
//#end
}

// The costs of a column.
struct Costs {
//#for i ROWS
    cost$i: Lane,
//#end
}

fn index_of(workgroup: vec3u, workgroups: vec3u) -> u32 {
    return workgroup.x + workgroup.y * workgroups.x;
}

fn level_at(place: u32) -> Level {
    return Level(i32(levels[place / 2u] << (16u - place % 2u * 16u)) >> 16u);
}

fn rows_at(first: u32) -> Rows {
    var rows = Rows();
//#for i ROWS
    rows.level$i = level_at(first + $iu * params.direction);
//#end
    return rows;
}

// Take one column, and return the cost in the strip's last row. `ahead` is how far the column is behind the first one of
// the band in the strip's first row: 2^32 less, if it is before that. In each row it is one less than in the row above.
fn take_column(costs: ptr<function, Costs>, rows: Rows, level: Level, corner: Lane, above: Lane, ahead: u32) -> Lane {
    var diagonal = corner;
    var cost = above;
//#for i ROWS
    {
        let before = (*costs).cost$i;
        let least = min(min(diagonal, before), cost);
        diagonal = before;
//#if WIDE
        cost = min(least + abs(rows.level$i - level), NEVER);
//#else
        cost = least + abs(rows.level$i - level);
//#end
//#if BANDED
        cost = select(NEVER, cost, ahead - $iu <= 2u * params.band);
//#end
        (*costs).cost$i = cost;
    }
//#end
    return cost;
}

fn counted(cost: Lane) -> u32 {
    return u32(min(cost, Lane(LARGEST)));
}

// What is found in a strip's costs of the last column, where `rows` rows are left.
fn found_in(costs: Costs, above: Found, first: u32, rows: u32) -> Found {
    var below = above;
//#for i ROWS
    if $iu < rows {
        below.last = counted(costs.cost$i);
        if below.last < below.least {
            below.least = below.last;
            below.place = first + $iu;
        }
    }
//#end
    return below;
}

@compute @workgroup_size(W)
fn warp_signals(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    let item = index_of(workgroup, workgroups) * W + own;
    if item >= params.items {
        return;
    }
    let at = params.first_pair + item;
    let pair = pairs[at];
    let end_row = min(pair.rows, params.end_row);
    var result = Found(LARGEST, LARGEST, 0u);
    if params.first_row > 0u {
        result = found[at];
    }
    var left = NEVER;
    if params.is_free != 0u {
        left = Lane(0);
    }

    for (var first = params.first_row; first < end_row; first += ROWS) {
        let rows = rows_at(pair.rows_at + first * params.direction);
        var costs = Costs();
//#for i ROWS
        costs.cost$i = left;
//#end
        // The columns of the strip, and the end of those of the strip before.
        var begin = 0u;
        var end = pair.columns;
        var above_end = select(0u, pair.columns, first > 0u);
//#if BANDED
        begin = max(first, params.band) - params.band;
        end = min(end, first + ROWS + params.band);
        above_end = min(above_end, first + params.band);
//#end
        var corner = select(left, Lane(0), first == 0u);
        if begin > 0u && begin <= above_end {
            corner = border[(begin - 1u) * params.stride + item];
        }
        let is_last = first + ROWS >= pair.rows;
        for (var column = begin; column < end; column++) {
            var above = NEVER;
            if column < above_end {
                above = border[column * params.stride + item];
            }
            let level = level_at(pair.columns_at + column * params.direction);
            let ahead = column + params.band - first;
            let leaving = take_column(&costs, rows, level, corner, above, ahead);
            corner = above;
            if !is_last {
                border[column * params.stride + item] = leaving;
            }
        }
        result = found_in(costs, result, first, pair.rows - first);
        if params.is_backward != 0u && result.least <= pair.cost {
            break;
        }
    }
    found[at] = result;
}
