// Rows of any model that pairhmm/backends/webgpu/folded_rows.py folded in float64: twelve numbers a position. What the scores are relative
// to stays on the host.

fn folded(position: u32, column: u32) -> f32 {
    return bitcast<f32>(batch[work.rows + position * 12u + column]);
}

fn load_row(position: u32, is_last: bool) -> Row {
    return Row(
        folded(position, 5u),
        folded(position, 6u),
        folded(position, 7u),
        folded(position, 8u),
        folded(position, 9u),
        0u,
        vec2<i32>(0, 0),
    );
}

// dm / mm of a read's first row: D of row 0 in units of S.
fn first_deletion(position: u32) -> f32 {
    return folded(position, 10u);
}

fn relative_emissions(position: u32) -> array<f32, 5> {
    return array<f32, 5>(
        folded(position, 0u),
        folded(position, 1u),
        folded(position, 2u),
        folded(position, 3u),
        folded(position, 4u),
    );
}
