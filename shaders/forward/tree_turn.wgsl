// A lane's rows, which tree_rows.wgsl has made: in the forward's order, or in the backward's, where the last row comes
// first.
//
// The backward is the forward of the reversed read with transposed transitions (docs/model.md). Folded (lanes.wgsl), its
// coefficients are those of the forward but for the extension of an insertion; those of deletions move by a row. A
// lane has the same rows in both orders, and the backward walks from a read's last lane to its first.

// import host: K, W, QUADS, MADE_ROWS
// import host: MADE_FROM_DELETION, MADE_FROM_INSERTION, MADE_EXTEND_INSERTION, MADE_FROM_BELOW, MADE_EMISSIONS
//#if VARYING
// import host: MADE_EXTEND_DELETION
//#end
//#if MASKED
// import forward/emissions.wgsl: masks
// import forward/tree_tasks.wgsl: mask_of
//#else
// import host: EMITTED
// import forward/emissions.wgsl: emissions
//#end
// import forward/states.wgsl: Coefficients
// import forward/tree_tasks.wgsl: scratch
// export: load_rows, turned_rows

fn entry_of(made: u32, array_number: u32, lane: u32) -> u32 {
    return made + MADE_ROWS + array_number * (QUADS * W) + lane;
}

// `made` is where the item begins.
fn load_rows(made: u32, lane: u32) -> Coefficients {
    let deletion = entry_of(made, MADE_FROM_DELETION, lane);
    let insertion = entry_of(made, MADE_FROM_INSERTION, lane);
    let extension = entry_of(made, MADE_EXTEND_INSERTION, lane);
//#if VARYING
    let of_deletion = entry_of(made, MADE_EXTEND_DELETION, lane);
//#end
//#if MASKED
    let emission = entry_of(made, MADE_EMISSIONS, lane);
//#end
//#for q QUADS
    let deletion$q = scratch[deletion + W * $qu];
    let insertion$q = scratch[insertion + W * $qu];
    let extension$q = scratch[extension + W * $qu];
//#if VARYING
    let of_deletion$q = scratch[of_deletion + W * $qu];
//#end
//#if MASKED
    let emission$q = scratch[emission + W * $qu];
//#end
//#end
    var rows: Coefficients;
//#for k K
    rows.from_deletion$k = deletion$k.quad.$k.axis;
    rows.from_insertion$k = insertion$k.quad.$k.axis;
    rows.extend_insertion$k = extension$k.quad.$k.axis;
//#if VARYING
    rows.extend_deletion$k = of_deletion$k.quad.$k.axis;
//#end
//#if MASKED
    rows.emission$k = emission$k.quad.$k.axis;
//#end
//#end
//#if MASKED
//#for letter LETTERS
    masks[$letter][lane] = mask_of(made, lane, $letteru);
//#end
//#else
    for (var letter = 0u; letter < EMITTED; letter++) {
        let emission = entry_of(made, MADE_EMISSIONS + letter, lane);
//#for q QUADS
        let four$q = scratch[emission + W * $qu];
//#end
//#for k K
        emissions[letter][$k][lane] = four$k.quad.$k.axis;
//#end
    }
//#end
    return rows;
}

// The last row of the lane above, of an array; 0 above a read's first lane.
fn last_above(made: u32, array_number: u32, lane: u32, is_top: bool) -> f32 {
    let at = entry_of(made, array_number, max(lane, 1u) - 1u) + W * (QUADS - 1u);
    return select(scratch[at][(K - 1u) % 4u], 0.0, is_top);
}

// The rows of `load_rows` in the other order. Turns the emissions, too. `is_top`: the lane is its read's first.
fn turned_rows(rows: Coefficients, made: u32, lane: u32, is_top: bool) -> Coefficients {
    let extension = entry_of(made, MADE_FROM_BELOW, lane);
    let deletion_above = last_above(made, MADE_FROM_DELETION, lane, is_top);
//#if VARYING
    let of_deletion_above = last_above(made, MADE_EXTEND_DELETION, lane, is_top);
//#end
//#for q QUADS
    let extension$q = scratch[extension + W * $qu];
//#end
    // Of the row before, too, in place of its own.
//#for k K
    let from_row$k.after = rows.from_deletion$k;
//#if VARYING
    let along_row$k.after = rows.extend_deletion$k;
//#end
//#end
    var turned: Coefficients;
//#for k K
    turned.from_deletion$k.back = select(from_row$k, deletion_above, $k == 0);
    turned.from_insertion$k.back = rows.from_insertion$k;
    turned.extend_insertion$k.back = extension$k.quad.$k.axis;
//#if VARYING
    turned.extend_deletion$k.back = select(along_row$k, of_deletion_above, $k == 0);
//#end
//#if MASKED
    turned.emission$k.back = rows.emission$k;
//#end
//#end
//#if MASKED
//#for letter LETTERS
    masks[$letter][lane] = reverseBits(masks[$letter][lane]) >> (32u - K);
//#end
//#else
    for (var letter = 0u; letter < EMITTED; letter++) {
//#for k K
        let turned$k.back = emissions[letter][$k][lane];
//#end
//#for k K
        emissions[letter][$k][lane] = turned$k;
//#end
    }
//#end
    return turned;
}
