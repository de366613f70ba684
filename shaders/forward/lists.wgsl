// The lists of pairs whose sums plain float32 does not hold, one for each rescuer: scaled.wgsl takes them.

// needs host: LISTED_WORDS, LISTED_COUNT, MOST_WORKGROUPS
// gives: listed, List, enlist

// LISTED_WORDS for each rescuer, and behind them the counters of trees.wgsl.
@group(0) @binding(4) var<storage, read_write> listed: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> list: array<vec2<u32>>;  // (read, haplotype)

// One of the lists.
struct List {
    rescuer: u32,
    reads: u32,  // that share a workgroup of its kernel
    at: u32,     // its first pair in `list`
}

// Note a pair, and the workgroups that its list needs.
fn enlist(to: List, read: u32, haplotype: u32) {
    let number = atomicAdd(&listed[to.rescuer * LISTED_WORDS + LISTED_COUNT], 1u);
    list[to.at + number] = vec2<u32>(read, haplotype);
    if number % to.reads == 0u && number / to.reads < MOST_WORKGROUPS {
        atomicAdd(&listed[to.rescuer * LISTED_WORDS], 1u);
    }
}
