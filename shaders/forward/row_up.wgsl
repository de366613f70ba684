// The backward as a forward: the rows of a read from the last to the first, with transposed transitions.
//
// In the row that stands for a row of the read, what leads into it and what leads out of it change places. In the units
// of lanes.wgsl its coefficients are those of the forward but for the extension of an insertion (docs/cuda.md, "Long
// pairs in two halves"): deletions lead from and to the row above.

// import host: UNFOLDED
// import forward/row.wgsl: Row
// import forward/rows_*.wgsl: load_row
// export: load_row_up

fn load_row_up(position: u32, is_first: bool, is_last: bool) -> Row {
    let own = load_row(position, is_last);
    var row = own;
    row.kept = vec2<i32>(0, 0);  // the left half tells the host
    row.unfit |= select(UNFOLDED, 0u, own.from_below >= 0.0);
    // Behind the read's last row, an insertion ends with probability 1. No read begins with an insertion.
    row.from_insertion = select(own.from_insertion, own.extend_insertion, is_last);
    row.extend_insertion = select(own.from_below, 0.0, is_first);
    row.from_deletion = 0.0;
    row.extend_deletion = 0.0;
    if !is_first {
        let above = load_row(position - 1u, false);
        row.from_deletion = above.from_deletion;
        row.extend_deletion = above.extend_deletion;
    }
    return row;
}
