// What a lane gets from the lane above it, through workgroup memory: for devices without subgroups, and reads of more lanes
// than a subgroup has.

// Two halves in turn: what one column left is read before the next but one is written, with one barrier a column.
var<workgroup> passed: array<vec2<f32>, 2u * W>;

fn from_above(values: vec2<f32>, lane: u32, column: u32) -> vec2<f32> {
    let half = (column & 1u) * W;
    passed[half + lane] = values;
    workgroupBarrier();
    return passed[half + max(lane, 1u) - 1u];
}
