// Rows of any model, which the host folded in float64 (pairhmm/backends/webgpu/rows.py). What the scores are
// relative to stays on the host. One of four ways to make rows, beside rows_kinds.wgsl, rows_profiles.wgsl and
// rows_qualities.wgsl.

// import host: FOLDED_COLUMNS, FOLDED_EMISSIONS, FOLDED_FROM_DELETION, FOLDED_FROM_INSERTION, FOLDED_EXTEND_INSERTION
// import host: FOLDED_EXTEND_DELETION, FOLDED_OPENING, FOLDED_FIRST_DELETION
//#if TREES
// import host: FOLDED_FROM_BELOW
//#end
// import forward/batch.wgsl: batch, work
// import forward/row.wgsl: Row
// export: load_row, first_deletion, relative_emissions

fn folded(position: u32, column: u32) -> f32 {
    return bitcast<f32>(batch[work.rows + position * FOLDED_COLUMNS + column]);
}

fn load_row(position: u32, is_last: bool) -> Row {
    return Row(
        folded(position, FOLDED_FROM_DELETION),
        folded(position, FOLDED_FROM_INSERTION),
        folded(position, FOLDED_EXTEND_INSERTION),
        folded(position, FOLDED_EXTEND_DELETION),
        folded(position, FOLDED_OPENING),
        0u,
        vec2<i32>(0, 0),
//#if TREES
        folded(position, FOLDED_FROM_BELOW),
//#end
    );
}

// dm / mm of a read's first row: D of row 0 in units of S.
fn first_deletion(position: u32) -> f32 {
    return folded(position, FOLDED_FIRST_DELETION);
}

fn relative_emissions(position: u32) -> array<f32, 5> {
    return array<f32, 5>(
        folded(position, FOLDED_EMISSIONS),
        folded(position, FOLDED_EMISSIONS + 1u),
        folded(position, FOLDED_EMISSIONS + 2u),
        folded(position, FOLDED_EMISSIONS + 3u),
        folded(position, FOLDED_EMISSIONS + 4u),
    );
}
