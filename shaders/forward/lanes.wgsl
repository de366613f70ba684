// A lane's rows: their coefficients, for registers, and their emissions, for workgroup memory.
//
// The recurrence (docs/model.md) has seven transitions a row. Here every state is kept relative to the best path
// through the rows above it: with t[i] = mm[i] * best[i], best[i] the emission that most letters of a good path have,
// and T[i] = t[1]..t[i],
//
//   M^[i] = M[i] / T[i],  D^[i] = D[i] / (md[i] T[i]),  I^[i] = I[i] / (mi[i] T[i-1]),  S^[i] = S[i] / (mm[i] T[i-1]),
//
// most coefficients become 1 (states.wgsl). A perfect path keeps its value, so that nothing is rounded on it, and
// float32's range is spent on how far a pair lies below it. log10 T[m] is added to the score at the end, on the host.
//
// Rows past the read's end carry M + I of its last row down unchanged: they change no score.

// import host: K, UNSCALED, LEAST_OPENING
//#if SCALED
// import host: GAP_RANGE, RESCALE_STEPS, DELETION_RANGE, LEAST_DELETION, NO_LETTER
// import forward/row.wgsl: Row
//#end
//#if BOTH_WAYS
// import host: PARTS
// import forward/row_up.wgsl: load_row_up
// export: holds_fall
//#end
// import forward/emissions.wgsl: emissions
// import forward/row.wgsl: carrying_row
// import forward/rows_*.wgsl: load_row, relative_emissions
// export: Lane, load_lane, load_emissions

// Further properties of a lane's rows.
struct Lane {
    kept: vec2<i32>,  // sum of its rows' logarithms in two parts; both are integers, so it is exact
    unfit: u32,       // UNFOLDED, or UNSCALED where lanes with exponents do not hold its rows. Only such lanes look at
                      // insertions: what others list is rescued by lanes of another shape
    fall: f32,        // -log2 of what is left of an insertion that goes through all of them
}

//#if SCALED
// Bits that an insertion through a lane may take. What a lane holds spans the cost of a gap through two lanes, beside
// that of two openings, and has to be exact to the last of its rows: that leaves GAP_RANGE. Rows whose gaps are rarer are
// beyond the range of float32.
const MOST_FALL = GAP_RANGE * f32(K) / f32(2u * K + 1u);

// Most extensions of a deletion that leads from a lane's largest value to where a row above it could be by the next
// rescaling.
const MOST_DELETION_BITS = DELETION_RANGE / f32(RESCALE_STEPS + K + 2u);

// Whether a lane's exponent holds the deletions of the row at `position`. Where there are none, columns are as far
// apart as the emissions of all `read_rows` rows of the read make them.
fn holds_deletions(row: Row, position: u32, read_rows: u32) -> bool {
    if row.from_deletion > 0.0 {
        return row.from_deletion >= LEAST_DELETION && -log2(max(row.extend_deletion, 1e-38)) <= MOST_DELETION_BITS;
    }
    let relative = relative_emissions(position);
    let least = min(min(min(relative[0], relative[1]), min(relative[2], relative[3])), relative[4]);
    return -log2(max(least, 1e-38)) * f32(read_rows) <= GAP_RANGE;
}
//#end

// Stage the coefficients of the rows of lane `l` of a read, of the `count` that a read of `read_rows` has from position
// `first` on. With BOTH_WAYS, `way` is 1, or -1 for those from `first` up. PARTS invocations share the rows of a lane
// then: `part` says which one this is, and the result is that of its own rows.
fn load_lane(
    lane: u32,
    l: u32,
    first: u32,
    count: u32,
    read_rows: u32,
//#if BOTH_WAYS
    way: i32,
    part: u32,
//#end
) -> Lane {
    var result = Lane(vec2<i32>(0, 0), 0u, 0.0);
//#if BOTH_WAYS
    for (var k = part; k < K; k += PARTS) {
//#else
    for (var k = 0u; k < K; k++) {
//#end
        let i = l * K + k;
//#if BOTH_WAYS
        let position = first + u32(way) * i;
//#else
        let position = first + i;
//#end
        var row = carrying_row();
        if i < count {
//#if BOTH_WAYS
            if way < 0 {
                row = load_row_up(position, i + 1u == count, count - i == read_rows);
            } else {
                row = load_row(position, i + 1u == count);
            }
//#else
            row = load_row(position, i + 1u == count);
//#end
        }
        result.kept += row.kept;
        result.unfit |= row.unfit | select(UNSCALED, 0u, row.opening >= LEAST_OPENING);
//#if SCALED
        // A match passes the last row without a loss.
        if i + 1u < count {
            result.fall -= log2(max(row.extend_insertion, 1e-38));
            result.unfit |= select(UNSCALED, 0u, holds_deletions(row, position, read_rows));
        }
//#end
        emissions[0][k][lane] = row.from_deletion;
        emissions[1][k][lane] = row.from_insertion;
        emissions[2][k][lane] = row.extend_insertion;
        emissions[3][k][lane] = row.extend_deletion;
    }
//#if SCALED
//#if BOTH_WAYS
//#else
    result.unfit |= select(UNSCALED, 0u, result.fall < MOST_FALL);
//#end
//#end
    return result;
}

//#if BOTH_WAYS
// Whether a lane's exponent holds an insertion through all of its rows.
fn holds_fall(fall: f32) -> bool {
    return fall < MOST_FALL;
}

//#end

// Replace the staged coefficients by emissions.
fn load_emissions(
    lane: u32,
    l: u32,
    first: u32,
    count: u32,
//#if BOTH_WAYS
    way: i32,
    part: u32,
//#end
) {
//#if BOTH_WAYS
    for (var k = part; k < K; k += PARTS) {
//#else
    for (var k = 0u; k < K; k++) {
//#end
        let i = l * K + k;
        var relative = array<f32, 5>();
        if i < count {
//#if BOTH_WAYS
            relative = relative_emissions(first + u32(way) * i);
//#else
            relative = relative_emissions(first + i);
//#end
        }
//#for letter EMITTED
        emissions[$letter][k][lane] = relative[$letter];
//#end
//#if SCALED
        emissions[NO_LETTER][k][lane] = 0.0;
//#end
    }
}
