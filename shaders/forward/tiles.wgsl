// A batch on the device, and the reads that share a workgroup: what forward.wgsl and scaled.wgsl have in common.
//
// A workgroup of W invocations is a tile: W / G reads, each spread over G neighbouring lanes of K rows. The constants G, K,
// W, LETTERS and QUADS stand before this text, and so does the way the lanes hand values on; pairhmm/backends/webgpu/kernels.py
// puts the parts together.

// Where the arrays of a batch lie in its one buffer, and what a dispatch is to do. pairhmm/backends/webgpu/layout.py writes it.
// Offsets count words of 32 bits, but for letters and qualities, which count bytes.
struct Work {
    read_offset: u32,       // u32[reads + 1] first position of a read
    read_group: u32,        // u32[reads]
    group_read: u32,        // u32[groups + 1] first read of a group
    group_haplotype: u32,   // u32[groups + 1] first haplotype of a group
    group_pair: u32,        // u32[groups + 1] first score of a group; scores are row-major (read, haplotype)
    haplotype_offset: u32,  // u32[haplotypes + 1] first letter of a haplotype
    order: u32,             // u32[reads] reads by tile
    letters: u32,           // bytes 0..4; readable from 31 letters before the first, and from the last on for as many as
                            // the longest haplotype has, and 48
    rows: u32,              // f32[positions][12] of rows_folded.wgsl, or f64[positions][4] of rows_profiles.wgsl
    constants: u32,         // f32[][2] of rows_profiles.wgsl
    bases: u32,             // bytes of rows_qualities.wgsl; a step of 0 is one value for all positions
    bases_step: u32,
    base_quality: u32,
    base_quality_step: u32,
    insertion_quality: u32,
    insertion_quality_step: u32,
    deletion_quality: u32,
    deletion_quality_step: u32,
    gap_quality: u32,
    gap_quality_step: u32,
    start_match: f32,      // M[0,0]
    start_deletion: f32,   // D[0,0] in units of 1 / haplotype length
    kept: u32,             // in `out`: i32[reads][2] log10 of what the scores are relative to
    items: u32,            // u32[items][2] first read of a tile (an index into order), block of haplotypes
    first_item: u32,       // of this dispatch
    end_item: u32,
    last: u32,             // one past the last read in order that has this shape
    haplotypes_each: u32,  // of a block
    rescuer: u32,          // which of the lists takes the pairs that are too small for this arithmetic
    list: u32,             // where it begins; of tall.wgsl: where its strips hand on what is between them,
    between: u32,          // and how many columns an item has there
    front: u32,            // of long.wgsl: how far strips go, in whole blocks,
    behind: u32,           // how far each stays behind the one above, in whole blocks,
    polls: u32,            // and how often they look for what is not there yet
    nothing: u32,          // 0, which compilers do not know (pairs.wgsl)
}

@group(0) @binding(0) var<storage, read> batch: array<u32>;
@group(0) @binding(1) var<storage, read> tables: array<vec4<u32>>;
@group(0) @binding(2) var<uniform> work: Work;
// u32[pairs][2]: the bits of a positive f32 sum and its exponent of 2, or zeros; behind them work.kept.
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

const READS = W / G;

// Why a pair is not scored: its rows do not fold, or do not fit lanes with exponents, or the read's lanes do not lie in one
// subgroup, one after the other, or a strip is not done.
const UNFOLDED = 1u;
const UNSCALED = 2u;
const UNORDERED = 4u;
const UNFINISHED = 8u;

fn byte(at: u32) -> u32 {
    return (batch[at >> 2u] >> ((at & 3u) * 8u)) & 255u;
}

// Bytes from `shift` bits on of two words.
fn joined(low: u32, high: u32, shift: u32) -> u32 {
    return (low >> shift) | ((high << 1u) << (31u - shift));
}

struct Read {
    index: u32,
    group: u32,
    first: u32,  // position
    rows: u32,
}

fn find_read(index: u32) -> Read {
    let first = batch[work.read_offset + index];
    return Read(index, batch[work.read_group + index], first, batch[work.read_offset + index + 1u] - first);
}

fn score_index(read: Read, haplotype: u32) -> u32 {
    let first = batch[work.group_haplotype + read.group];
    let width = batch[work.group_haplotype + read.group + 1u] - first;
    let row = read.index - batch[work.group_read + read.group];
    return batch[work.group_pair + read.group] + row * width + (haplotype - first);
}

// The largest of the numbers that the reads of a tile bring, for all of them: loops over it are uniform.
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
