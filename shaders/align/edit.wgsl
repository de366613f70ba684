// Edit distance, by bit vectors.
//
// Method. Myers 1999, in Hyyro's form of 2003: a bit is a row, and says whether its distance is one more (`more`) or one
// less (`less`) than that of the row above. A lane has a pair, and takes its rows in strips of WORDS words. What the last
// row of a strip hands to the next strip are two bits a column, so a word of memory for 16 columns.
//
// Versions on an H200 through Vulkan, 256 x 256 letters, in GCUPS:
//
//   loops over columns as they are (this)    34,100; 37,000 at 1,024 x 1,024
//   16 columns unrolled                      35,900; it compiles more slowly
//
// Limits. Costs are 1. A strip's last word may have rows beyond the last: they are computed, and not counted.

// import host: W, WORDS
//#if UNKNOWN
// import align/pairs.wgsl: params, pairs, found, Found, index_of, letters_at, unknown_at
//#else
// import align/pairs.wgsl: params, pairs, found, Found, index_of, letters_at
//#end
// import align/letter_bits.wgsl: evens
// export: edit_distance

@group(0) @binding(4) var<storage, read_write> border: array<u32>;  // [columns / 16][params.stride]

const EACH_MORE = 0x55555555u;  // 16 columns, each one more than the column before

// Bits 0 and 1 of the letters of each row, and whether it is N.
struct Rows {
//#for w WORDS
    low$w: u32,
    high$w: u32,
//#if UNKNOWN
    unknown$w: u32,
//#end
//#end
}

struct Differences {
//#for w WORDS
    more$w: u32,
    less$w: u32,
//#end
}

// A column's letter, each of its bits in all bits of a word.
struct Letter {
    low: u32,
    high: u32,
//#if UNKNOWN
    unknown: u32,
//#end
}

fn rows_at(letter: u32) -> Rows {
    var rows: Rows;
//#for w WORDS
    {
        let first = letters_at(letter + 32u * $wu);
        let second = letters_at(letter + 32u * $wu + 16u);
        rows.low$w = evens(first) | (evens(second) << 16u);
        rows.high$w = evens(first >> 1u) | (evens(second >> 1u) << 16u);
//#if UNKNOWN
        rows.unknown$w = unknown_at(letter + 32u * $wu);
//#end
    }
//#end
    return rows;
}

// Take one column. `entering` and what is returned say whether its distance, above the first row and in the last one,
// is one more (bit 0) or one less (bit 1) than that of the column before.
fn take_column(differences: ptr<function, Differences>, rows: Rows, letter: Letter, entering: u32) -> u32 {
    var right_more = entering & 1u;
    var right_less = entering >> 1u;
//#for w WORDS
    {
        let more = (*differences).more$w;
        let less = (*differences).less$w;
//#if UNKNOWN
        let equal = ~((rows.low$w ^ letter.low) | (rows.high$w ^ letter.high) | (rows.unknown$w ^ letter.unknown));
//#else
        let equal = ~((rows.low$w ^ letter.low) | (rows.high$w ^ letter.high));
//#end
        let first_equal = equal | right_less;
        let zero = (((first_equal & more) + more) ^ more) | first_equal;
        let of_more = less | ~(zero | more);
        let of_less = more & zero;
        let shifted_more = (of_more << 1u) | right_more;
        let shifted_less = (of_less << 1u) | right_less;
        right_more = of_more >> 31u;
        right_less = of_less >> 31u;
        (*differences).more$w = shifted_less | ~(equal | less | shifted_more);
        (*differences).less$w = shifted_more & (equal | less);
    }
//#end
    return right_more | (right_less << 1u);
}

// The lowest `count` bits.
fn lowest(count: u32) -> u32 {
    return select((1u << (count % 32u)) - 1u, 0xffffffffu, count >= 32u);
}

// The score of the last of `rows` rows, from that above the first.
fn last_below(differences: Differences, above: i32, rows: u32) -> i32 {
    var score = above;
//#for w WORDS
    {
        let counted = lowest(max(rows, 32u * $wu) - 32u * $wu);
        score += i32(countOneBits(differences.less$w & counted)) - i32(countOneBits(differences.more$w & counted));
    }
//#end
    return score;
}

// The best score of `rows` rows, from that above the first.
fn best_below(differences: Differences, above: i32, rows: u32) -> i32 {
    var score = above;
    var best = above;
//#for w WORDS
    {
        var more = differences.more$w;
        var less = differences.less$w;
        let counted = min(32u, max(rows, 32u * $wu) - 32u * $wu);
        for (var row = 0u; row < counted; row++) {
            score += i32(less & 1u) - i32(more & 1u);
            best = max(best, score);
            more >>= 1u;
            less >>= 1u;
        }
    }
//#end
    return best;
}

@compute @workgroup_size(W)
fn edit_distance(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    let item = index_of(workgroup, workgroups) * W + own;
    if item >= params.items {
        return;
    }
    let pair = pairs[params.first_pair + item];
    var above = Found(-i32(pair.columns), -i32(pair.columns));
    if params.first_row > 0u {
        above = found[params.first_pair + item];
    }
    let end_row = min(pair.rows, params.end_row);
    for (var first = params.first_row; first < end_row; first += 32u * WORDS) {
        let rows = rows_at(pair.rows_at + first);
        var differences = Differences();
        if params.is_free == 0u {
//#for w WORDS
            differences.more$w = 0xffffffffu;
//#end
        }
        for (var column = 0u; column < pair.columns; column += 16u) {
            var columns = letters_at(pair.columns_at + column);
//#if UNKNOWN
            var unknown_columns = unknown_at(pair.columns_at + column);
//#end
            var entering = EACH_MORE;
            if first > 0u {
                entering = border[column / 16u * params.stride + item];
            }
            var leaving = 0u;
            let here = min(16u, pair.columns - column);
            for (var k = 0u; k < here; k++) {
                var letter = Letter();
                letter.low = 0u - (columns & 1u);
                letter.high = 0u - ((columns >> 1u) & 1u);
                columns >>= 2u;
//#if UNKNOWN
                letter.unknown = 0u - (unknown_columns & 1u);
                unknown_columns >>= 1u;
//#end
                leaving |= take_column(&differences, rows, letter, entering & 3u) << (2u * k);
                entering >>= 2u;
            }
            if first + 32u * WORDS < pair.rows {
                border[column / 16u * params.stride + item] = leaving;
            }
        }
        if params.is_free != 0u {
            above.best = max(above.best, best_below(differences, above.last, pair.rows - first));
        }
        above.last = last_below(differences, above.last, pair.rows - first);
    }
    found[params.first_pair + item] = above;
}
