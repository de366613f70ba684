// The score of the best alignment, with linear or affine gaps.
//
// Method. Scores less (row + column) `extend`, so that a gap costs nothing once it is open. What is kept are differences
// of neighbouring cells (Suzuki and Kasahara 2018), which stay small however long the sequences are: they are whole
// numbers that a float holds exactly. A lane has HALVES pairs, and takes their rows in strips of 16 GROUPS. What the last
// row of a strip hands to the next strip goes through memory.
//
// Limits. Halves of 16 bits hold whole numbers to 2,048: the host sees to it that the scoring fits.

// needs host: W, GROUPS, PER_WORD
//#if UNKNOWN
// needs align/pairs.wgsl: params, pairs, found, Found, index_of, letters_at, unknown_at
//#else
// needs align/pairs.wgsl: params, pairs, found, Found, index_of, letters_at
//#end
// gives: align_gaps

@group(0) @binding(4) var<storage, read_write> border: array<Right>;  // [columns][params.stride]

//#if PACKED
alias Lane = f16;
alias Lanes = vec2<f16>;
const HALVES = 2u;
//#else
alias Lane = f32;
alias Lanes = f32;
const HALVES = 1u;
//#end

// Letters of the rows of a strip.
struct Rows {
//#for g GROUPS
//#for i PER_WORD
    letter$g_$i: Lanes,
//#end
//#end
}

// What a column has for each row of a strip.
struct Downs {
//#for g GROUPS
//#for i PER_WORD
    down$g_$i: Lanes,  // its score less that of the row above
//#if AFFINE
    gap$g_$i: Lanes,   // the score of a gap that goes on to the next column, less its score
//#end
//#end
//#end
}

// What a row hands to the next one.
struct Right {
    right: Lanes,  // its score less that of the column before
//#if AFFINE
    gap: Lanes,    // the score of a gap that goes on to the next row, less its score
//#end
}

// The scoring, for all halves.
struct Steps {
    gain: Lanes,      // a match less a mismatch
    mismatch: Lanes,
//#if AFFINE
    open: Lanes,
//#end
}

// 16 letters of each half.
struct Words {
//#for h HALVES
    letters$h: u32,
//#if UNKNOWN
    unknown$h: u32,
//#end
//#end
}

fn words_at(letter: vec2u) -> Words {
    var words = Words();
//#for h HALVES
    words.letters$h = letters_at(letter[$h]);
//#if UNKNOWN
    words.unknown$h = unknown_at(letter[$h]);
//#end
//#end
    return words;
}

// Letter number `at` of each half, as a number.
fn letter_of(words: Words, at: u32) -> Lanes {
    var letter = Lanes();
//#for h HALVES
    {
        var code = (words.letters$h >> (2u * at)) & 3u;
//#if UNKNOWN
        code |= ((words.unknown$h >> at) & 1u) << 2u;
//#end
//#if PACKED
        letter[$h] = Lane(code);
//#else
        letter = Lane(code);
//#end
    }
//#end
    return letter;
}

fn rows_at(letter: vec2u) -> Rows {
    var rows = Rows();
//#for g GROUPS
    {
        let words = words_at(letter + vec2u(PER_WORD * $gu));
//#for i PER_WORD
        rows.letter$g_$i = letter_of(words, $iu);
//#end
    }
//#end
    return rows;
}

// Take one column: what the last row hands to the next strip, from what enters the first one.
fn take_column(downs: ptr<function, Downs>, rows: Rows, letter: Lanes, steps: Steps, entering: Right) -> Right {
    var right = entering.right;
//#if AFFINE
    var gap = entering.gap;
//#end
//#for g GROUPS
//#for i PER_WORD
    {
        let equal = saturate(Lanes(1.0) - abs(rows.letter$g_$i - letter));
        let aligned = fma(equal, steps.gain, steps.mismatch);
        let down = (*downs).down$g_$i;
//#if AFFINE
        let along = down + (*downs).gap$g_$i;
        let across = right + gap;
        let best = max(max(aligned, along), across);
        (*downs).gap$g_$i = max(along - best, steps.open);
        gap = max(across - best, steps.open);
//#else
        let best = max(max(aligned, down), right);
//#end
        (*downs).down$g_$i = best - right;
        right = best - down;
    }
//#end
//#end
//#if AFFINE
    return Right(right, gap);
//#else
    return Right(right);
//#end
}

// The scores of a half below those `above`, in a column of which a strip has `rows` rows left.
fn scores_below(downs: Downs, half: u32, above: Found, rows: u32) -> Found {
    var below = above;
//#for g GROUPS
//#for i PER_WORD
    if PER_WORD * $gu + $iu < rows {
//#if PACKED
        below.last += i32(downs.down$g_$i[half]) + params.extend;
//#else
        below.last += i32(downs.down$g_$i) + params.extend;
//#end
        below.best = max(below.best, below.last);
    }
//#end
//#end
    return below;
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
    let at = params.first_pair + item * HALVES;
    let first_pair = pairs[at];
    let last_pair = pairs[at + HALVES - 1u];  // which has as many columns, or more
    let row_letters = vec2u(first_pair.rows_at, last_pair.rows_at);
    let column_letters = vec2u(first_pair.columns_at, last_pair.columns_at);
    let rows_of = vec2u(first_pair.rows, last_pair.rows);
    let columns_of = vec2u(first_pair.columns, last_pair.columns);
    let all_rows = max(rows_of.x, rows_of.y);
    let end_row = min(all_rows, params.end_row);

    var steps = Steps();
    steps.gain = Lanes(Lane(params.matched - params.mismatched));
    steps.mismatch = Lanes(Lane(params.mismatched));
//#if AFFINE
    steps.open = Lanes(Lane(params.open));
//#end
    var above: array<Found, HALVES>;
//#for h HALVES
    if params.first_row > 0u {
        above[$h] = found[at + $hu];
    } else {
        let score = i32(columns_of[$h]) * params.extend + select(0, params.open, columns_of[$h] > 0u);
        above[$h] = Found(score, score);
    }
//#end

    for (var first = params.first_row; first < end_row; first += PER_WORD * GROUPS) {
        let rows = rows_at(row_letters + first);
        var downs = Downs();
//#for g GROUPS
//#for i PER_WORD
        downs.down$g_$i = Lanes(Lane(params.down));
//#if AFFINE
        downs.gap$g_$i = steps.open;
//#end
//#end
//#end
//#if AFFINE
        if first == 0u {
            downs.down0_0 += Lanes(Lane(params.first_down));
        }
//#end
        let is_last = first + PER_WORD * GROUPS >= all_rows;
        var column = 0u;
        var words = Words();
        for (var half = 0u; half < HALVES; half++) {
            for (; column < columns_of[half]; column++) {
                if column % PER_WORD == 0u {
                    words = words_at(column_letters + column);
                }
                var entering = Right();
                if first > 0u {
                    entering = border[column * params.stride + item];
                } else {
//#if AFFINE
                    entering.right = Lanes(Lane(select(0, params.open, column == 0u)));
                    entering.gap = steps.open;
//#end
                }
                let leaving = take_column(&downs, rows, letter_of(words, column % PER_WORD), steps, entering);
                if !is_last {
                    border[column * params.stride + item] = leaving;
                }
            }
            let left = max(rows_of[half], first) - first;
            above[half] = scores_below(downs, half, above[half], left);
        }
    }
//#for h HALVES
    found[at + $hu] = above[$h];
//#end
}
