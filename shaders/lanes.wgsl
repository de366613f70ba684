// A lane's rows: their coefficients, for registers, and their emissions, for workgroup memory.
//
// The recurrence (docs/model.md) has seven transitions a row. Here every state is kept relative to the best path through
// the rows above it: with t[i] = mm[i] * best[i], best[i] the emission that most letters of a good path have, and
// T[i] = t[1]..t[i],
//
//   M^[i] = M[i] / T[i],  D^[i] = D[i] / (md[i] T[i]),  I^[i] = I[i] / (mi[i] T[i-1]),  S^[i] = S[i] / (mm[i] T[i-1]),
//
// most coefficients become 1 (column.wgsl). A perfect path keeps its value, so that nothing is rounded on it, and float32's
// range is spent on how far a pair lies below it. log10 T[m] is added to the score at the end, on the host.
//
// Rows past the read's end carry M + I of its last row down unchanged: they change no score.

// How a row leads to the next one, from rows_qualities.wgsl, rows_profiles.wgsl or rows_folded.wgsl.
struct Row {
    from_deletion: f32,
    from_insertion: f32,
    extend_insertion: f32,
    extend_deletion: f32,
    opening: f32,  // mi
    unfit: u32,    // UNFOLDED where this form does not hold it
    kept: vec2<i32>,
}

fn carrying_row() -> Row {
    return Row(0.0, 0.0, 1.0, 0.0, 1.0, 0u, vec2<i32>(0, 0));
}

// What is known of a lane's rows besides.
struct Lane {
    kept: vec2<i32>,  // logarithm of what the host does not know of mm best over its rows, in units of 2^-16 and 2^-32:
                      // sums are exact
    unfit: u32,       // UNFOLDED, or UNSCALED where forward_scaled.wgsl does not hold them: which insertions these lanes do
                      // not hold, only lanes with exponents find, since others rescue what lanes without them list
    fall: f32,        // -log2 of what is left of an insertion that goes through all of them
}

// What a lane holds spans the cost of a gap through two lanes, and through as many rows as columns enter at once from a
// strip above, beside that of two openings, and has to be exact to the last of its rows: that leaves 160 bits. Rows whose
// gaps are rarer than this (bits a lane, and an opening) are beyond the range of float32.
const MOST_FALL = 160.0 * f32(K) / f32(2u * K + 1u + ENTERING_COLUMNS);
const LEAST_OPENING = 1e-6;

// Stage the coefficients of a lane's rows, of the `count` that a read has from position `first` on.
fn load_lane(lane: u32, first: u32, count: u32) -> Lane {
    var result = Lane(vec2<i32>(0, 0), 0u, 0.0);
//#if SCALED
    var fall_of_gap = 0.0;
//#end
    for (var k = 0u; k < K; k++) {
        let i = lane % G * K + k;
        var row = carrying_row();
        if i < count {
            row = load_row(first + i, i + 1u == count);
        }
        result.kept += row.kept;
        result.unfit |= row.unfit | select(UNSCALED, 0u, row.opening >= LEAST_OPENING);
//#if SCALED
        let bits = -log2(max(row.extend_insertion, 1e-38));
        result.fall += bits;
        // Into the row that carries down it is that of an opening as well, which has its own share of the range.
        fall_of_gap += select(0.0, bits, i + 1u < count);
//#end
        emissions[0][k][lane] = row.from_deletion;
        emissions[1][k][lane] = row.from_insertion;
        emissions[2][k][lane] = row.extend_insertion;
        emissions[3][k][lane] = row.extend_deletion;
    }
//#if SCALED
    result.unfit |= select(UNSCALED, 0u, fall_of_gap < MOST_FALL);
//#end
    return result;
}

// Put emissions in the place of staged coefficients.
fn load_emissions(lane: u32, first: u32, count: u32) {
    for (var k = 0u; k < K; k++) {
        let i = lane % G * K + k;
        var relative = array<f32, 5>();
        if i < count {
            relative = relative_emissions(first + i);
        }
//#for letter EMITTED
        emissions[$letter][k][lane] = relative[$letter];
//#end
//#if SCALED
        emissions[NO_LETTER][k][lane] = 0.0;
//#end
    }
}
