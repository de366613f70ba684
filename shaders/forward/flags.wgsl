// Columns of partially determined haplotypes (docs/model.md): other letters than in states.wgsl, and steps behind them.
//
// A letter is a word of 16 bits (cpu/pdhmm/columns.hpp) that says which bases match it. A lane has a mask of its rows for
// each base. Of the emissions, it has one a row: that of the letters whose emission is not 1. Behind a column in which a
// deletion begins or ends, a lane keeps the states of its rows, or takes the larger ones. What is kept lies where
// load_lane has left coefficients.
//
// A row's states carry factors of that row alone (lanes.wgsl), so that a maximum is of like things. The last row and
// those behind it, which carry its sum down, take no maximum: nothing but the sum is made of them.

// import host: K, W, CODES, CODE_OF_N, BASES, RATIO, JOINS, KEEPS, FIRST_ROW
//#if VARYING
//#else
// import host: EXTEND_DELETION
//#end
// import forward/batch.wgsl: tables
// import forward/rows_qualities.wgsl: load_position, emission_at
// import forward/emissions.wgsl: emissions
// import forward/states.wgsl: Coefficients, States
// export: load_bases, clear_kept, take_letter

// Of `emissions`: the ones that are not 1, and what is kept of M^, I^ and D^.
const OTHER = 0u;
const KEPT_M = 1u;
const KEPT_I = 2u;
const KEPT_D = 3u;

// Masks of a lane's rows: those with each base; behind them those that letters which do not match are likelier for, those
// above the read's last one, in which deletions count, and the read's first one.
const INVERTED = CODES;
const JOINING = CODES + 1u;
const FIRST = CODES + 2u;
var<workgroup> masks: array<array<u32, W>, CODES + 3u>;

// Replace the staged coefficients by what a lane's rows have beside letters. Arguments are those of `load_lane`.
fn load_bases(lane: u32, l: u32, first: u32, count: u32, read_rows: u32) {
    for (var code = 0u; code <= JOINING; code++) {
        masks[code][lane] = 0u;
    }
    masks[FIRST][lane] = select(0u, 1u, l == 0u && count == read_rows);
    for (var k = 0u; k < K; k++) {
        let i = l * K + k;
        emissions[OTHER][k][lane] = 0.0;
        if i < count {
            let own = load_position(first + i);
            let ratio = tables[RATIO + emission_at(own)];
            emissions[OTHER][k][lane] = bitcast<f32>(ratio.x);
            masks[own.base][lane] |= 1u << k;
            masks[INVERTED][lane] |= select(0u, 1u << k, ratio.y != 0u);
            masks[JOINING][lane] |= select(0u, 1u << k, i + 1u < count);
        }
    }
    for (var code = 0u; code < CODES; code++) {
        masks[code][lane] |= masks[CODE_OF_N][lane];  // N matches every letter
    }
}

// A lane's rows whose emission beside a letter is 1.
fn rows_of(letter: u32, lane: u32) -> u32 {
    let bases = letter & BASES;
    var rows = masks[min(firstTrailingBit(bases), INVERTED)][lane];  // no base matches what stands beside haplotypes
    if (bases & (bases - 1u)) != 0u {
        for (var code = 0u; code < CODES; code++) {
            rows |= select(0u, masks[code][lane], (bases & (1u << code)) != 0u);
        }
    }
    return rows ^ masks[INVERTED][lane];
}

// Must be called before a haplotype's first column.
fn clear_kept(lane: u32) {
    for (var k = 0u; k < K; k++) {
        keep(k, lane, vec3<f32>(0.0, 0.0, 0.0));
    }
}

fn keep(k: u32, lane: u32, states: vec3<f32>) {
    emissions[KEPT_M][k][lane] = states.x;
    emissions[KEPT_I][k][lane] = states.y;
    emissions[KEPT_D][k][lane] = states.z;
}

// Steps behind a column, with a bit for each of a lane's rows that takes them.
struct Steps {
    joins: u32,
    keeps: u32,
    clears: u32,  // where a deletion begins in the read's first row alone
}

fn steps_of(letter: u32, lane: u32) -> Steps {
    let all = (1u << K) - 1u;
    let keeping = select(all, masks[FIRST][lane], (letter & FIRST_ROW) != 0u);
    return Steps(
        select(0u, masks[JOINING][lane], (letter & JOINS) != 0u),
        select(0u, keeping, (letter & KEEPS) != 0u),
        select(0u, all & ~keeping, (letter & KEEPS) != 0u),
    );
}

// M^, I^ and D^ of a row behind a column. There are no branches, as compilers would take long.
fn behind(states: vec3<f32>, steps: Steps, k: u32, lane: u32) -> vec3<f32> {
    let bit = 1u << k;
    let kept = vec3<f32>(emissions[KEPT_M][k][lane], emissions[KEPT_I][k][lane], emissions[KEPT_D][k][lane]);
    let result = select(states, max(states, kept), (steps.joins & bit) != 0u);
    let still = select(kept, vec3<f32>(0.0, 0.0, 0.0), (steps.clears & bit) != 0u);
    keep(k, lane, select(still, result, (steps.keeps & bit) != 0u));
    return result;
}

// `take_column` of states.wgsl, and the steps behind the column. `matching` are the rows whose emission is 1.
fn take(
    states: ptr<function, States>,
    rows: Coefficients,
    has_steps: bool,
    steps: Steps,
    matching: u32,
    lane: u32,
    entering: vec2<f32>,
) {
    var s = entering.x;
    var i = entering.y;
//#for k K
    {
        let other = (*states).s$k * emissions[OTHER][$k][lane];
        let m = select(other, (*states).s$k, (matching & (1u << $ku)) != 0u);
        var now = vec3<f32>(m, i, (*states).d$k);
        if has_steps {
            now = behind(now, steps, $ku, lane);
        }
        (*states).s$k = s;
//#if VARYING
        (*states).d$k = fma(rows.extend_deletion$k, now.z, now.x);
//#else
        (*states).d$k = fma(EXTEND_DELETION, now.z, now.x);
//#end
        s = fma(rows.from_insertion$k, now.y, fma(rows.from_deletion$k, now.z, now.x));
        i = fma(rows.extend_insertion$k, now.y, now.x);
    }
//#end
    (*states).below = vec2<f32>(s, i);
}

// Take one column; `entering` has S and I of the lane's first row. Most columns have no steps, so they are a path of
// their own.
fn take_letter(
    states: ptr<function, States>,
    rows: Coefficients,
    letter: u32,
    lane: u32,
    entering: vec2<f32>,
) {
    let matching = rows_of(letter, lane);
    if (letter & (JOINS | KEEPS)) == 0u {
        take(states, rows, false, Steps(), matching, lane, entering);
    } else {
        take(states, rows, true, steps_of(letter, lane), matching, lane, entering);
    }
}
