// How one row of a read leads to the next one: what rows_*.wgsl make and lanes.wgsl stages.

// export: Row, carrying_row

struct Row {
    from_deletion: f32,
    from_insertion: f32,
    extend_insertion: f32,
    extend_deletion: f32,
    opening: f32,     // mi
    unfit: u32,       // UNFOLDED where this form does not hold it
    kept: vec2<i32>,  // logarithm of mm best in two parts, or 0 where the host knows it
//#if TREES
    from_below: f32,  // extension of an insertion from below (tree_rows.wgsl), or less than 0 where that is not finite
//#end
}

// A row past the read's end: it carries M + I of the last row down unchanged.
fn carrying_row() -> Row {
//#if TREES
    return Row(0.0, 0.0, 1.0, 0.0, 1.0, 0u, vec2<i32>(0, 0), 1.0);
//#else
    return Row(0.0, 0.0, 1.0, 0.0, 1.0, 0u, vec2<i32>(0, 0));
//#end
}
