// What a lane gets from the lane above it, by a subgroup's shuffles. One of two ways; the other is pass_memory.wgsl.
//
// The SEGMENT lanes that follow each other must lie in one subgroup, in their order: `in_order` says whether they do.

// import host: SEGMENT
// export: from_above, from_lane, in_order

fn from_above(values: vec2<f32>, lane: u32, column: u32) -> vec2<f32> {
    return subgroupShuffleUp(values, 1u);
}

// What a lane gets from another one of its subgroup.
fn from_lane(values: vec2<f32>, lane: u32, other: u32, column: u32) -> vec2<f32> {
    return subgroupShuffle(values, other);
}

fn in_order(lane: u32, subgroup_size: u32, subgroup_lane: u32) -> bool {
    return subgroup_size >= SEGMENT && subgroup_lane == lane % subgroup_size;
}
