// What a lane gets from the lane above it, through workgroup memory: for devices without subgroups, and for reads of
// more lanes than a subgroup has. One of two ways; the other is pass_shuffles.wgsl.

// import host: W
// export: from_above, from_lane

// Columns use two halves in turn. So one barrier a column is enough: a column is read before the next but one is
// written.
var<workgroup> passed: array<vec2<f32>, 2u * W>;

fn from_lane(values: vec2<f32>, lane: u32, other: u32, column: u32) -> vec2<f32> {
    let half = (column & 1u) * W;
    passed[half + lane] = values;
    workgroupBarrier();
    return passed[half + other];
}

fn from_above(values: vec2<f32>, lane: u32, column: u32) -> vec2<f32> {
    return from_lane(values, lane, max(lane, 1u) - 1u, column);
}
