// Tiles: a workgroup of W invocations has READS reads, each spread over G neighbouring lanes of K rows.

// import host: G, W
// export: READS, largest_of_tile

const READS = W / G;

// The largest of the numbers that the reads of a tile bring. All lanes get it, so loops up to it are uniform.
var<workgroup> of_slot: array<u32, READS>;
var<workgroup> largest: u32;

fn largest_of_tile(value: u32, lane: u32) -> u32 {
    if lane % G == 0u {
        of_slot[lane / G] = value;
    }
    workgroupBarrier();
    if lane == 0u {
        var found = 0u;
        for (var slot = 0u; slot < READS; slot++) {
            found = max(found, of_slot[slot]);
        }
        largest = found;
    }
    return workgroupUniformLoad(&largest);
}
