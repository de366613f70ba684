// The lists of pairs whose sums plain float32 does not hold, one for each rescuer: scaled.wgsl takes them.

// needs host: LISTED_WORDS, LISTED_COUNT, MOST_WORKGROUPS
// needs forward/batch.wgsl: work
// gives: listed, enlist

// LISTED_WORDS for each rescuer, and behind them the counters of trees.wgsl.
@group(0) @binding(4) var<storage, read_write> listed: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> list: array<vec2<u32>>;  // (read, haplotype)

// Note a pair, and the workgroups that its list needs.
fn enlist(read: u32, haplotype: u32) {
    let at = atomicAdd(&listed[work.rescuer * LISTED_WORDS + LISTED_COUNT], 1u);
    list[work.list + at] = vec2<u32>(read, haplotype);
    if at % work.rescuer_reads == 0u && at / work.rescuer_reads < MOST_WORKGROUPS {
        atomicAdd(&listed[work.rescuer * LISTED_WORDS], 1u);
    }
}
