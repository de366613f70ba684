// After long.wgsl: what crosses from the left half of each pair to the right one.
//
// Method. The strips of both halves have left, of each row, what may be matched to the column behind the cut and what
// deletes it (save_crossing in saved_lanes.wgsl). A workgroup takes a strip of a left half and multiplies each row of it
// by the right half's: sum over rows i of S[i] M'[i] + from_deletion[i] D[i] D'[i+1], in which the units of both sides
// cancel (docs/model.md). The host adds up the strips of a pair.
//
// Versions: one; no figures of its own.
//
// Limits. A sum is a float32 with an exponent, made in an order that depends on the read's length alone.

// import host: W, G, K, QUADS, CROSSING, HALVES, LEAST_CUT, ITEM_WORDS, ITEM_READ, ITEM_HAPLOTYPE, ITEM_HALF
// import host: ITEM_STRIP, RESULT_WORDS, RESULT_CROSSING, RESULT_CROSSING_EXPONENT
// import forward/batch.wgsl: batch, work, out, item_of, find_read
// import forward/strips.wgsl: strips, strip_at
// import forward/scaling.wgsl: Sum, add, exponent_of, power_of_two
// export: forward_join

var<workgroup> sums: array<f32, W>;
var<workgroup> exponents: array<i32, W>;  // of the sums

// Where a half keeps a row: the first of its lane's entries, and the row of the lane.
struct Place {
    at: u32,
    k: u32,
}

// The row-th row that a half takes, whose first strip is `item`.
fn place_of(item: u32, row: u32) -> Place {
    return Place(strip_at(item + HALVES * (row / (G * K)), row % (G * K) / K), row % K);
}

// What crosses at a row: as a match (0), or as a deletion (1).
fn crossing(place: Place, kind: u32) -> f32 {
    return bitcast<f32>(strips[place.at + (CROSSING + kind * QUADS + place.k / 4u) * W][place.k % 4u]);
}

fn exponent_at(place: Place) -> i32 {
    return bitcast<i32>(strips[place.at + (CROSSING + 2u * QUADS) * W].x);
}

// sum + what crosses from one row to another.
fn add_crossing(sum: Sum, left: Place, right: Place, kind: u32) -> Sum {
    let a = crossing(left, kind);
    let b = crossing(right, kind);
    if a == 0.0 || b == 0.0 {
        return sum;
    }
    // Both factors may be near the end of float32's range.
    let of_a = exponent_of(a);
    let of_b = exponent_of(b);
    let product = (a * power_of_two(-of_a)) * (b * power_of_two(-of_b));
    return add(sum, product, exponent_at(left) + exponent_at(right) + of_a + of_b);
}

@compute @workgroup_size(W)
fn forward_join(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let item = item_of(workgroup, workgroups);
    if item >= work.end_item {
        return;
    }
    let item_at = work.items + ITEM_WORDS * item;
    let offset = work.haplotype_offset + batch[item_at + ITEM_HAPLOTYPE];
    if batch[item_at + ITEM_HALF] != 0u || batch[offset + 1u] - batch[offset] < LEAST_CUT {
        return;
    }
    let strip = batch[item_at + ITEM_STRIP];
    let first_left = item - HALVES * strip;
    let rows = find_read(batch[item_at + ITEM_READ]).rows;
    var sum = Sum(0.0, 0);
    for (var k = 0u; k < K; k++) {
        let row = (strip * G + lane) * K + k;
        if row < rows {
            let left = place_of(first_left, row);
            sum = add_crossing(sum, left, place_of(first_left + 1u, rows - 1u - row), 0u);
            if row + 1u < rows {
                sum = add_crossing(sum, left, place_of(first_left + 1u, rows - 2u - row), 1u);
            }
        }
    }
    sums[lane] = sum.value;
    exponents[lane] = sum.exponent;
    workgroupBarrier();
    if lane == 0u {
        for (var other = 1u; other < W; other++) {
            sum = add(sum, sums[other], exponents[other]);
        }
        let result = work.kept + RESULT_WORDS * item;
        out[result + RESULT_CROSSING] = bitcast<u32>(sum.value);
        out[result + RESULT_CROSSING_EXPONENT] = bitcast<u32>(sum.exponent);
    }
}
