// The states of a lane, the coefficients of its rows, and one column of the recurrence (lanes.wgsl has the formulas).
//
// All of it is in registers. Each row has fields of its own, because compilers do not keep arrays in registers.

//#if VARYING
//#else
// import host: EXTEND_DELETION
//#end
//#if MASKED
// import forward/emissions.wgsl: masks
// export: Coefficients, States, Matches, matches_of, last_of, LastRow, take_column
//#else
// import forward/emissions.wgsl: emissions
// export: Coefficients, States, staged_coefficients, Matches, matches_of, last_of, LastRow, take_column
//#end

// How each row of a lane leads to the next one.
struct Coefficients {
//#for k K
    from_deletion$k: f32,
    from_insertion$k: f32,
    extend_insertion$k: f32,
//#if VARYING
    extend_deletion$k: f32,
//#end
//#if MASKED
    emission$k: f32,  // the one that is not 1
//#end
//#end
}

//#if MASKED
//#else
// The coefficients that `load_lane` staged. Must be called before `load_emissions` overwrites them.
fn staged_coefficients(lane: u32) -> Coefficients {
    var rows: Coefficients;
//#for k K
    rows.from_deletion$k = emissions[0][$k][lane];
    rows.from_insertion$k = emissions[1][$k][lane];
    rows.extend_insertion$k = emissions[2][$k][lane];
//#if VARYING
    rows.extend_deletion$k = emissions[3][$k][lane];
//#end
//#end
    return rows;
}
//#end

struct States {
    below: vec2<f32>,  // S and I of the next lane's first row, in the column that was taken last
//#for k K
    s$k: f32,          // S of a row in that column,
    d$k: f32,          // and D in the next one
//#end
}

// M^ of the rows of a lane in the next column.
struct Matches {
//#for k K
    m$k: f32,
//#end
}

fn matches_of(states: ptr<function, States>, rows: Coefficients, letter: u32, lane: u32) -> Matches {
    var matches: Matches;
//#if MASKED
    let mask = masks[letter][lane];
//#end
//#for k K
//#if MASKED
    matches.m$k = select((*states).s$k * rows.emission$k, (*states).s$k, (mask & (1u << $ku)) != 0u);
//#else
    matches.m$k = (*states).s$k * emissions[letter][$k][lane];
//#end
//#end
    return matches;
}

// That of the last row.
fn last_of(matches: Matches) -> f32 {
    var last = 0.0;
//#for k K
    last = matches.m$k;
//#end
    return last;
}

// What a column has in a lane's last row: M^, and D^ and I^ that enter it.
struct LastRow {
    m: f32,
    d: f32,
    i: f32,
}

// Take one column; `entering` has S and I of the lane's first row. Five operations a cell:
//   M^ = relative emission S^;  D^ of the next column = M^ + extend_deletion D^;
//   S^ below = M^ + from_deletion D^ + from_insertion I^;  I^ below = M^ + extend_insertion I^
fn take_column(
    states: ptr<function, States>,
    rows: Coefficients,
    letter: u32,
    lane: u32,
    entering: vec2<f32>,
) -> LastRow {
    var last: LastRow;
    var s = entering.x;
    var i = entering.y;
//#if MASKED
    let mask = masks[letter][lane];
//#end
//#for k K
    {
//#if MASKED
        let m = select((*states).s$k * rows.emission$k, (*states).s$k, (mask & (1u << $ku)) != 0u);
//#else
        let m = (*states).s$k * emissions[letter][$k][lane];
//#end
        let d = (*states).d$k;
        last = LastRow(m, d, i);
        (*states).s$k = s;
//#if VARYING
        (*states).d$k = fma(rows.extend_deletion$k, d, m);
//#else
        (*states).d$k = fma(EXTEND_DELETION, d, m);
//#end
        s = fma(rows.from_insertion$k, i, fma(rows.from_deletion$k, d, m));
        i = fma(rows.extend_insertion$k, i, m);
    }
//#end
    (*states).below = vec2<f32>(s, i);
    return last;
}
