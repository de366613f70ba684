// Rows of a profile model whose positions have few distinct rows (docs/model.md), as reads of base calls do: a position
// has the number of its row, which the host has folded in float64 (pairhmm/backends/webgpu/kinds.py). A position therefore
// costs a look into a table. One of four ways to make rows, beside rows_folded.wgsl, rows_profiles.wgsl and
// rows_qualities.wgsl.

// needs host: KIND_COLUMNS, KIND_EMISSIONS, KIND_FROM_DELETION, KIND_FROM_INSERTION, KIND_EXTEND_INSERTION
// needs host: KIND_LAST_INSERTION, KIND_EXTEND_DELETION, KIND_OPENING, KIND_FIRST_DELETION, KIND_KEPT, KIND_UNFIT
// needs forward/batch.wgsl: batch, work
// needs forward/row.wgsl: Row
// gives: load_row, first_deletion, relative_emissions

// Word at which the row of a position begins. Kinds are 16 bits each.
fn kind_at(position: u32) -> u32 {
    let pair = batch[work.kinds + (position >> 1u)];
    return work.rows + KIND_COLUMNS * ((pair >> (16u * (position & 1u))) & 0xffffu);
}

fn of_kind(kind: u32, column: u32) -> f32 {
    return bitcast<f32>(batch[kind + column]);
}

fn load_row(position: u32, is_last: bool) -> Row {
    let kind = kind_at(position);
    var row = Row(
        of_kind(kind, KIND_FROM_DELETION),
        of_kind(kind, KIND_FROM_INSERTION),
        of_kind(kind, KIND_EXTEND_INSERTION),
        of_kind(kind, KIND_EXTEND_DELETION),
        of_kind(kind, KIND_OPENING),
        batch[kind + KIND_UNFIT],
        bitcast<vec2<i32>>(vec2<u32>(batch[kind + KIND_KEPT], batch[kind + KIND_KEPT + 1u])),
    );
    if is_last {
        row.from_deletion = 0.0;
        row.from_insertion = 0.0;
        row.extend_insertion = of_kind(kind, KIND_LAST_INSERTION);
    } else if of_kind(kind_at(position + 1u), KIND_OPENING) == 0.0 {
        row.extend_insertion = 0.0;  // what the next position cannot open, it cannot extend: it is not inserted
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
