// The score of the best alignment, with linear or affine gaps of small scores, in bit planes.
//
// Method. Scores less (row + column) `extend`, divided by what divides them all, so that a gap costs nothing once it is
// open. Then neighbouring cells differ by little (Suzuki and Kasahara 2018): a cell from the one above it and from the one
// before it by -OPENED to MATCHED - OPENED, if OPENED is what opening a gap costs. OPENED is added, so that differences
// are PLANES bits, without a sign. A word is a plane: one bit of 32 rows' differences. Row r is r columns behind row 0,
// so that a step is an anti-diagonal, and all carries go from plane to plane. A lane has a pair, and takes its rows in
// strips of 32; what the last row of a strip hands to the next strip goes through memory.
//
// Versions on an H200 through Vulkan, 256 x 256 letters, in GCUPS, with match 1, mismatch -4 and linear gaps of -3
// (three planes):
//
//   differences in pairs of 16-bit floats          2,850
//   whole scores in 32-bit floats (gaps.wgsl)      3,820
//   bit planes (this)                              9,230
//
// With two planes it reaches 13,900, with six 4,780. Affine gaps (1, -4, -6, -1), of four planes and three of gaps, reach
// 3,780; gaps.wgsl 2,410.
//
// Limits. A strip takes 31 steps more than it has columns.

// import host: W, BORDER_WORDS, MATCHED, MISMATCHED, DOWN, UNIT
//#if AFFINE
// import host: PLANES, OPENED
//#end
//#if UNKNOWN
// import align/pairs.wgsl: params, pairs, found, Found, index_of, letters_at, unknown_at
//#else
// import align/pairs.wgsl: params, pairs, found, Found, index_of, letters_at
//#end
// import align/letter_bits.wgsl: evens
// export: align_planes

@group(0) @binding(4) var<storage, read_write> border: array<u32>;  // [columns / 32 and 2 more][BORDER_WORDS][params.stride]

const ROWS = 32u;
const ALL = 0xffffffffu;

// Bits of the host's numbers, as planes: all rows have the same.
//#for i PLANES
const MATCHED$i = 0u - ((MATCHED >> $iu) & 1u);
const MISMATCHED$i = 0u - ((MISMATCHED >> $iu) & 1u);
//#if AFFINE
const OPENED$i = 0u - ((OPENED >> $iu) & 1u);
//#end
//#end

// Bits of 32 letters. Those of columns have the first one highest.
struct Letters {
    low: u32,
    high: u32,
//#if UNKNOWN
    unknown: u32,
//#end
}

// What 32 columns enter a strip with, or leave it with; the first one highest.
struct Rights {
//#for i PLANES
    right$i: u32,   // less the column before
//#end
//#if AFFINE
//#for i GAP_PLANES
    across$i: u32,  // the score of a gap that goes on to the next row, less its own
//#end
//#end
}

struct Cells {
    letters: Letters,  // of the column that each row is at
//#for i PLANES
    down$i: u32,       // less the row above
    right$i: u32,      // less the column before
//#end
//#if AFFINE
//#for i GAP_PLANES
    along$i: u32,      // the score of a gap that goes on to the next column, less its own
    across$i: u32,     // of one that goes on to the next row
//#end
//#end
}

fn letters_of(letter: u32) -> Letters {
    let first = letters_at(letter);
    let second = letters_at(letter + 16u);
    var bits = Letters();
    bits.low = evens(first) | (evens(second) << 16u);
    bits.high = evens(first >> 1u) | (evens(second >> 1u) << 16u);
//#if UNKNOWN
    bits.unknown = unknown_at(letter);
//#end
    return bits;
}

fn reversed(bits: Letters) -> Letters {
//#if UNKNOWN
    return Letters(reverseBits(bits.low), reverseBits(bits.high), reverseBits(bits.unknown));
//#else
    return Letters(reverseBits(bits.low), reverseBits(bits.high));
//#end
}

fn shifted(bits: ptr<function, Letters>, entering: ptr<function, Letters>) {
    (*bits).low = ((*bits).low << 1u) | ((*entering).low >> 31u);
    (*bits).high = ((*bits).high << 1u) | ((*entering).high >> 31u);
    (*entering).low <<= 1u;
    (*entering).high <<= 1u;
//#if UNKNOWN
    (*bits).unknown = ((*bits).unknown << 1u) | ((*entering).unknown >> 31u);
    (*entering).unknown <<= 1u;
//#end
}

// Take one step; where `moving` has no bit, the row's difference from the row above stays.
fn take_step(
    cells: ptr<function, Cells>,
    rows: Letters,
    columns: ptr<function, Letters>,
    entering: ptr<function, Rights>,
    leaving: ptr<function, Rights>,
    moving: u32,
) {
    var bits = (*cells).letters;
    shifted(&bits, columns);
    (*cells).letters = bits;
//#if UNKNOWN
    let apart = (rows.low ^ bits.low) | (rows.high ^ bits.high) | (rows.unknown ^ bits.unknown);
//#else
    let apart = (rows.low ^ bits.low) | (rows.high ^ bits.high);
//#end
//#for i PLANES
    let down$i = (*cells).down$i;
    let right$i = ((*cells).right$i << 1u) | ((*entering).right$i >> 31u);
    (*entering).right$i <<= 1u;
//#end
//#if AFFINE
//#for i PLANES
    var gap_along$i = 0u;
    var gap_across$i = 0u;
//#end
//#for i GAP_PLANES
    gap_along$i = (*cells).along$i;
    gap_across$i = ((*cells).across$i << 1u) | ((*entering).across$i >> 31u);
    (*entering).across$i <<= 1u;
//#end
    var along_carry = 0u;
    var across_carry = 0u;
//#for i PLANES
    let along$i = down$i ^ gap_along$i ^ along_carry;
    let across$i = right$i ^ gap_across$i ^ across_carry;
    along_carry = (down$i & gap_along$i) | ((down$i | gap_along$i) & along_carry);
    across_carry = (right$i & gap_across$i) | ((right$i | gap_across$i) & across_carry);
//#end
//#else
//#for i PLANES
    let along$i = down$i;
    let across$i = right$i;
//#end
//#end
    var is_less = 0u;
//#for i PLANES
    is_less = (~along$i & across$i) | ((~along$i | across$i) & is_less);
//#end
    var is_better = 0u;
//#for i PLANES
    let most$i = (across$i & is_less) | (along$i & ~is_less);
    let aligned$i = (MATCHED$i & ~apart) | (MISMATCHED$i & apart);
    is_better = (~most$i & aligned$i) | ((~most$i | aligned$i) & is_better);
//#end
    var down_borrow = 0u;
    var right_borrow = 0u;
//#for i PLANES
    let best$i = (aligned$i & is_better) | (most$i & ~is_better);
    let next_down$i = best$i ^ right$i ^ down_borrow;
    let next_right$i = best$i ^ down$i ^ right_borrow;
    down_borrow = (~best$i & right$i) | ((~best$i | right$i) & down_borrow);
    right_borrow = (~best$i & down$i) | ((~best$i | down$i) & right_borrow);
    (*cells).down$i = (next_down$i & moving) | (down$i & ~moving);
    (*cells).right$i = next_right$i;
    (*leaving).right$i = ((*leaving).right$i << 1u) | (next_right$i >> 31u);
//#end
//#if AFFINE
    // A gap that goes on, or one that opens, whose score is 0 here.
    var open_borrow = 0u;
    along_carry = 0u;
    across_carry = 0u;
//#for i PLANES
    let opened$i = best$i ^ OPENED$i ^ open_borrow;
    open_borrow = (~best$i & OPENED$i) | ((~best$i | OPENED$i) & open_borrow);
    let left_along$i = along$i ^ opened$i ^ along_carry;
    let left_across$i = across$i ^ opened$i ^ across_carry;
    along_carry = (~along$i & opened$i) | ((~along$i | opened$i) & along_carry);
    across_carry = (~across$i & opened$i) | ((~across$i | opened$i) & across_carry);
//#end
//#for i GAP_PLANES
    (*cells).along$i = (left_along$i & ~along_carry & moving) | (gap_along$i & ~moving);
    (*cells).across$i = left_across$i & ~across_carry;
    (*leaving).across$i = ((*leaving).across$i << 1u) | ((*cells).across$i >> 31u);
//#end
//#end
}

// Bits below `count`.
fn lowest(count: u32) -> u32 {
    return select((1u << (count % 32u)) - 1u, ALL, count >= 32u);
}

// What is found in a strip's cells of the last column, where `rows` rows are left.
fn found_in(cells: Cells, above: Found, rows: u32) -> Found {
    var below = above;
    let here = min(rows, ROWS);
    let each = params.extend + params.open;  // which is -OPENED
    if params.is_free != 0u {
        for (var row = 0u; row < here; row++) {
            var down = 0u;
//#for i PLANES
            down |= ((cells.down$i >> row) & 1u) << $iu;
//#end
            below.last += i32(down * UNIT) + each;
            below.best = max(below.best, below.last);
        }
    } else {
        let counted = lowest(here);
        var downs = 0u;
//#for i PLANES
        downs += countOneBits(cells.down$i & counted) << $iu;
//#end
        below.last += i32(downs * UNIT) + i32(here) * each;
    }
    return below;
}

@compute @workgroup_size(W)
fn align_planes(
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
    let of_no_row = i32(pair.columns) * params.extend + select(0, params.open, pair.columns > 0u);
    var result = Found(of_no_row, of_no_row);
    if params.first_row > 0u {
        result = found[at];
    }
    let steps = select(pair.columns + ROWS - 1u, 0u, pair.columns == 0u);

    for (var first = params.first_row; first < end_row; first += ROWS) {
        let rows = letters_of(pair.rows_at + first);
        var cells = Cells();
//#for i PLANES
        cells.down$i = 0u - ((DOWN >> $iu) & 1u);
//#if AFFINE
        if first == 0u && params.is_free == 0u {
            cells.down$i &= ~1u;  // the first row opens a gap
        }
//#end
//#end
        // Column c leaves in step c + 31, so that a word of the border begins a column before the 32 of a block.
        var behind = Rights();
        if first > 0u {
//#for i PLANES
            behind.right$i = border[$iu * params.stride + item];
//#end
//#if AFFINE
//#for i GAP_PLANES
            behind.across$i = border[(PLANES + $iu) * params.stride + item];
//#end
//#end
        }
        for (var begin = 0u; begin < steps; begin += 32u) {
            var columns = reversed(letters_of(pair.columns_at + begin));
            var entering = Rights();
            if first > 0u {
                let word = (begin / 32u + 1u) * BORDER_WORDS;
//#for i PLANES
                let ahead$i = border[(word + $iu) * params.stride + item];
                entering.right$i = (behind.right$i << 31u) | (ahead$i >> 1u);
                behind.right$i = ahead$i;
//#end
//#if AFFINE
//#for i GAP_PLANES
                let gap_ahead$i = border[(word + PLANES + $iu) * params.stride + item];
                entering.across$i = (behind.across$i << 31u) | (gap_ahead$i >> 1u);
                behind.across$i = gap_ahead$i;
//#end
            } else {
                // The first column opens a gap.
                let later = select(ALL, ALL >> 1u, begin == 0u);
//#for i PLANES
                entering.right$i = OPENED$i & later;
//#end
//#end
            }
            var leaving = Rights();
            if begin > 0u && begin + 31u < pair.columns {
                for (var k = 0u; k < 32u; k++) {
                    take_step(&cells, rows, &columns, &entering, &leaving, ALL);
                }
            } else {
                // Rows that have not begun, or are done, keep their differences.
                for (var step = begin; step < begin + 32u; step++) {
                    let begun = lowest(step + 1u);
                    let done = lowest(max(step + 1u, pair.columns) - pair.columns);
                    take_step(&cells, rows, &columns, &entering, &leaving, begun & ~done);
                }
            }
            if first + ROWS < pair.rows {
                let word = begin / 32u * BORDER_WORDS;
//#for i PLANES
                border[(word + $iu) * params.stride + item] = leaving.right$i;
//#end
//#if AFFINE
//#for i GAP_PLANES
                border[(word + PLANES + $iu) * params.stride + item] = leaving.across$i;
//#end
//#end
            }
        }
        result = found_in(cells, result, pair.rows - first);
    }
    found[at] = result;
}
