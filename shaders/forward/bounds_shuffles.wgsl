// The least and the most of what the lanes of a subgroup bring. One of two ways; the other is bounds_memory.wgsl.
//
// Lanes of other subgroups go their own ways: between two barriers of the workgroup, all that is handed on stays within
// a subgroup.

// export: least_of_tile, most_of_tile

fn most_of_tile(value: u32, lane: u32) -> u32 {
    return subgroupMax(value);
}

fn least_of_tile(value: u32, lane: u32) -> u32 {
    return subgroupMin(value);
}
