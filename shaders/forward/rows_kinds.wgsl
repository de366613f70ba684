// Rows of a profile model whose positions have few distinct rows (docs/model.md), as reads of base calls do: a position
// has the number of its row, of which the host has made in float64 what does not depend on the row after it
// (pairhmm/backends/webgpu/rows.py). A position therefore costs two looks into a table. One of four ways to make rows,
// beside rows_folded.wgsl, rows_profiles.wgsl and rows_qualities.wgsl.

// import host: KIND_COLUMNS, KIND_EMISSIONS, KIND_OPENING, KIND_DELETION, KIND_EXTEND_DELETION, KIND_FIRST_DELETION
// import host: KIND_AFTER_INSERTION, KIND_INSERTION, KIND_EXTENSION, KIND_KEPT, KIND_UNFIT, UNFOLDED
//#if TREES
// import host: KIND_FROM_BELOW, KIND_AFTER_BELOW, KIND_BEHIND
//#end
// import forward/batch.wgsl: batch, work
// import forward/row.wgsl: Row
// import forward/pairs.wgsl: times
// export: load_row, first_deletion, relative_emissions

// Word at which the row of a position begins. Kinds are 16 bits each.
fn kind_at(position: u32) -> u32 {
    let pair = batch[work.kinds + (position >> 1u)];
    return work.rows + KIND_COLUMNS * ((pair >> (16u * (position & 1u))) & 0xffffu);
}

fn of_kind(kind: u32, column: u32) -> f32 {
    return bitcast<f32>(batch[kind + column]);
}

fn pair_of_kind(kind: u32, column: u32) -> vec2<f32> {
    return vec2<f32>(of_kind(kind, column), of_kind(kind, column + 1u));
}

fn load_row(position: u32, is_last: bool) -> Row {
    let kind = kind_at(position);
    let insertion = pair_of_kind(kind, KIND_INSERTION);
    var row = Row(
        0.0,
        0.0,
        insertion.x,
        of_kind(kind, KIND_EXTEND_DELETION),
        of_kind(kind, KIND_OPENING),
        batch[kind + KIND_UNFIT],
        bitcast<vec2<i32>>(vec2<u32>(batch[kind + KIND_KEPT], batch[kind + KIND_KEPT + 1u])),
//#if TREES
        0.0,
//#end
    );
    if !is_last {
        let next = kind_at(position + 1u);
        row.from_deletion = of_kind(kind, KIND_DELETION) * of_kind(next, KIND_FIRST_DELETION);
        row.from_insertion = insertion.x * of_kind(next, KIND_AFTER_INSERTION);
        // Once a row of a long insertion: as pairs, so that the error does not add up.
        let extension = pair_of_kind(next, KIND_EXTENSION);
        row.extend_insertion = times(insertion, extension).x;
        if extension.x < 0.0 {
            row.extend_insertion = 0.0;  // what the next position cannot open matters only if one was opened before
            row.unfit |= select(0u, UNFOLDED, row.opening > 0.0);
        }
//#if TREES
        row.from_below = times(pair_of_kind(kind, KIND_FROM_BELOW), pair_of_kind(next, KIND_AFTER_BELOW)).x;
    } else {
        row.from_below = times(pair_of_kind(kind, KIND_FROM_BELOW), pair_of_kind(kind, KIND_BEHIND)).x;
//#end
    }
    return row;
}

// dm / mm of a read's first row: D of row 0 in units of S.
fn first_deletion(position: u32) -> f32 {
    return of_kind(kind_at(position), KIND_FIRST_DELETION);
}

fn relative_emissions(position: u32) -> array<f32, 5> {
    let emission = kind_at(position) + KIND_EMISSIONS;
    return array<f32, 5>(
        of_kind(emission, 0u),
        of_kind(emission, 1u),
        of_kind(emission, 2u),
        of_kind(emission, 3u),
        of_kind(emission, 4u),
    );
}
