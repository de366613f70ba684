// What a tile without exponents tells the host: sums of states, and what a read's scores are relative to. A read is
// known by its slot in the workgroup.
//
// Sums are compared as bits: compilers may take infinity and NaN for impossible in numbers.

// import host: START_EXPONENT, LEAST_SUM_BITS, MOST_SUM_BITS, UNFOLDED, UNORDERED
// import forward/batch.wgsl: work, out, Read
// import forward/tiles.wgsl: READS
// export: unfit, begin_read, note_rows, put_kept, put_sum

var<workgroup> kept_coarse: array<atomic<i32>, READS>;
var<workgroup> kept_fine: array<atomic<i32>, READS>;
var<workgroup> unfit: array<atomic<u32>, READS>;

// Must be called before rows of a read are noted. WGSL promises zeros here, but not every driver gives them.
fn begin_read(slot: u32) {
    atomicStore(&kept_coarse[slot], 0);
    atomicStore(&kept_fine[slot], 0);
    atomicStore(&unfit[slot], 0u);
}

fn note_rows(slot: u32, kept: vec2<i32>, flags: u32) {
    atomicAdd(&kept_coarse[slot], kept.x);
    atomicAdd(&kept_fine[slot], kept.y);
    atomicOr(&unfit[slot], flags);
}

// What the scores of a read are relative to, once all of its rows are noted.
fn put_kept(read: Read, slot: u32) {
    if (atomicLoad(&unfit[slot]) & UNORDERED) != 0u {
        out[work.unordered] = 1u;
    }
    out[work.kept + 2u * read.index] = bitcast<u32>(atomicLoad(&kept_coarse[slot]));
    out[work.kept + 2u * read.index + 1u] = bitcast<u32>(atomicLoad(&kept_fine[slot]));
}

// Write a pair's sum if float32 holds it and the read's rows. Returns whether it does.
fn put_sum(score: u32, sum: f32, unfits: u32) -> bool {
    let bits = bitcast<u32>(sum);
    let held = (unfits & (UNFOLDED | UNORDERED)) == 0u && bits >= LEAST_SUM_BITS && bits <= MOST_SUM_BITS;
    out[2u * score] = select(0u, bits, held);
    out[2u * score + 1u] = bitcast<u32>(-START_EXPONENT);
    return held;
}
