// The least and the most of what the lanes of a tile bring, through workgroup memory. One of two ways; the other is
// bounds_shuffles.wgsl.

// import forward/tiles.wgsl: largest_of_tile
// export: least_of_tile, most_of_tile

fn most_of_tile(value: u32, lane: u32) -> u32 {
    return largest_of_tile(value, lane);
}

fn least_of_tile(value: u32, lane: u32) -> u32 {
    return ~largest_of_tile(~value, lane);
}
