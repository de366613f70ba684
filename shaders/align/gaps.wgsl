// The score of the best alignment, with linear or affine gaps.
//
// Method. Scores less (row + column) `extend`, so that a gap costs nothing once it is open. A lane has a pair, and takes
// its rows in strips of PER_WORD GROUPS, which are in registers; what the last row of a strip hands to the next strip
// goes through memory. Scores are whole numbers in floats, since GPUs add twice as many floats as integers. If the ends
// of the rows are free, each strip counts from the score before its first row and column.
//
// Versions on an H200 through Vulkan, 256 x 256 letters, in GCUPS, with match 1, mismatch -4 and linear gaps of -3:
//
//   differences of neighbours, pairs of 16-bit floats    2,850
//   differences of neighbours, 32-bit floats             2,970
//   whole scores (this)                                  3,820; affine 2,410
//
// Limits. Floats hold whole numbers to 2^24; pairs that may exceed that have WIDE lanes, of integers.

// import host: W, GROUPS, PER_WORD
//#if UNKNOWN
// import align/pairs.wgsl: params, pairs, found, Found, index_of, letters_at, unknown_at
//#else
// import align/pairs.wgsl: params, pairs, found, Found, index_of, letters_at
//#end
// export: align_gaps

@group(0) @binding(4) var<storage, read_write> border: array<Above>;  // [columns][params.stride]

const ROWS = PER_WORD * GROUPS;  // of a strip

//#if WIDE
alias Lane = i32;
//#else
alias Lane = f32;
//#end

struct Rows {
//#for g GROUPS
//#for i PER_WORD
    letter$g_$i: f32,
//#end
//#end
}

// What a column has for each row of a strip.
struct Cells {
//#for g GROUPS
//#for i PER_WORD
    score$g_$i: Lane,
//#if AFFINE
    gap$g_$i: Lane,  // the best score of the next column that ends with a gap
//#end
//#end
//#end
}

// What a row hands to the next one.
struct Above {
    score: Lane,
//#if AFFINE
    gap: Lane,  // the best score of the next row that ends with a gap
//#end
}

// The scoring.
struct Steps {
    mismatched: Lane,
//#if WIDE
    matched: Lane,
//#else
    gain: Lane,  // of a match over a mismatch
//#end
//#if AFFINE
    open: Lane,
//#end
}

// 16 letters.
struct Words {
    letters: u32,
//#if UNKNOWN
    unknown: u32,
//#end
}

fn words_at(letter: u32) -> Words {
//#if UNKNOWN
    return Words(letters_at(letter), unknown_at(letter));
//#else
    return Words(letters_at(letter));
//#end
}

// Letter number `at`: a power of two, made from its exponent. So those of different letters differ by 1 at least.
fn letter_of(words: Words, at: u32) -> f32 {
    var exponent = 127u + ((words.letters >> (2u * at)) & 3u);
//#if UNKNOWN
    exponent += 4u * ((words.unknown >> at) & 1u);
//#end
    return bitcast<f32>(exponent << 23u);
}

fn rows_at(letter: u32) -> Rows {
    var rows = Rows();
//#for g GROUPS
    {
        let words = words_at(letter + PER_WORD * $gu);
//#for i PER_WORD
        rows.letter$g_$i = letter_of(words, $iu);
//#end
    }
//#end
    return rows;
}

// The cells before the first column.
fn first_cells() -> Cells {
    var cells = Cells();
    var score = params.first_down;
//#for g GROUPS
//#for i PER_WORD
    score += params.down;
    cells.score$g_$i = Lane(score);
//#if AFFINE
    cells.gap$g_$i = Lane(score + params.open);
//#end
//#end
//#end
    return cells;
}

// Take one column. `above` and what is returned are of the rows before and behind those of the strip; `corner` is the
// score above in the column before.
fn take_column(cells: ptr<function, Cells>, rows: Rows, letter: f32, steps: Steps, corner: Lane, above: Above) -> Above {
    var diagonal = corner;
    var score = above.score;
//#if AFFINE
    var gap = above.gap;
//#end
//#for g GROUPS
//#for i PER_WORD
    {
//#if WIDE
        let aligned = diagonal + select(steps.mismatched, steps.matched, rows.letter$g_$i == letter);
//#else
        let equal = saturate(1.0 - abs(rows.letter$g_$i - letter));
//#if SKEWED
        let aligned = fma(equal, steps.gain, diagonal + steps.mismatched);
//#else
        let aligned = fma(equal, steps.gain, diagonal);
//#end
//#end
        diagonal = (*cells).score$g_$i;
//#if AFFINE
        let along = (*cells).gap$g_$i;
        score = max(max(aligned, along), gap);
        (*cells).score$g_$i = score;
        let opened = score + steps.open;
        (*cells).gap$g_$i = max(along, opened);
        gap = max(gap, opened);
//#else
        score = max(max(aligned, diagonal), score);
        (*cells).score$g_$i = score;
//#end
    }
//#end
//#end
//#if AFFINE
    return Above(score, gap);
//#else
    return Above(score);
//#end
}

// What is found in a strip's cells of the last column, where `rows` rows are left. `added` makes them scores.
fn found_in(cells: Cells, above: Found, rows: u32, added: i32) -> Found {
    var below = above;
    var extended = added;
//#for g GROUPS
//#for i PER_WORD
    if PER_WORD * $gu + $iu < rows {
        extended += params.extend;
        below.last = i32(cells.score$g_$i) + extended;
        below.best = max(below.best, below.last);
    }
//#end
//#end
    return below;
}

// What enters the first strip's first row, or what the strip before left. Counted from that strip's first score.
fn above_at(first: u32, column: u32, item: u32) -> Above {
    if first > 0u {
        return border[column * params.stride + item];
    }
//#if AFFINE
    return Above(Lane(params.open), Lane(2 * params.open));
//#else
    return Above();
//#end
}

@compute @workgroup_size(W)
fn align_gaps(
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
    var steps = Steps();
    steps.mismatched = Lane(params.mismatched);
//#if WIDE
    steps.matched = Lane(params.matched);
//#else
    steps.gain = Lane(params.matched - params.mismatched);
//#end
//#if AFFINE
    steps.open = Lane(params.open);
//#end
    let passed = Lane(params.down * i32(ROWS));

    for (var first = params.first_row; first < end_row; first += ROWS) {
        let rows = rows_at(pair.rows_at + first);
        var cells = first_cells();
        var corner = Lane(select(0, params.first_down, first > 0u));
        var next = above_at(first, 0u, item);
        let is_last = first + ROWS >= pair.rows;
        for (var begin = 0u; begin < pair.columns; begin += PER_WORD) {
            let words = words_at(pair.columns_at + begin);
            let end = min(begin + PER_WORD, pair.columns);
            for (var column = begin; column < end; column++) {
                let above = next;
                next = above_at(first, min(column + 1u, pair.columns - 1u), item);
                var leaving = take_column(&cells, rows, letter_of(words, column - begin), steps, corner, above);
                corner = above.score;
                if !is_last {
                    leaving.score -= passed;
//#if AFFINE
                    leaving.gap -= passed;
//#end
                    border[column * params.stride + item] = leaving;
                }
            }
        }
        let added = i32(pair.columns + first) * params.extend + i32(first) * params.down;
        result = found_in(cells, result, pair.rows - first, added);
    }
    found[at] = result;
}
