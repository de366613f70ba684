// The lists of pairs whose sums plain float32 does not hold, one for each number of lanes that rescues them: scaled.wgsl
// takes them.

// export: listed, List, enlist

// The pairs of each list, and behind them the counters of trees.wgsl.
@group(0) @binding(4) var<storage, read_write> listed: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> list: array<vec2<u32>>;  // (read, haplotype)

// One of the lists.
struct List {
    rescuer: u32,
    at: u32,  // its first pair in `list`
}

fn enlist(to: List, read: u32, haplotype: u32) {
    list[to.at + atomicAdd(&listed[to.rescuer], 1u)] = vec2<u32>(read, haplotype);
}
