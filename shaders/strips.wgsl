// Pairs of any length, cut into strips of G * K rows, each a workgroup's: what forward_long_rows.wgsl and forward_long.wgsl
// have in common. The G lanes of a strip are segments of SEGMENT lanes that hand values on.

@group(0) @binding(4) var<storage, read_write> border: array<vec4<u32>>;  // bits of S and I, their exponent; a column each
@group(0) @binding(5) var<storage, read_write> strips: array<vec4<u32>>;  // [items][STRIP_ENTRIES][W]

// Of a strip's entry in `work.items`: read, haplotype, strip, first column of the border, pair.
const ITEM_WORDS = 5u;

// What a lane has of its strip, in `strips`: made once,
const EMISSIONS = 0u;                          // [5 letters][QUADS]
const COEFFICIENTS = EMITTED * QUADS;          // [from_deletion, from_insertion, extend_insertion, extend_deletion][QUADS]
const STRIP_LANE = COEFFICIENTS + 4u * QUADS;  // sum_falls; bits of the strip's first_deletion
// and between two waves:
const STATES = STRIP_LANE + 1u;       // [S, D][QUADS]
const BELOW = STATES + 2u * QUADS;    // what goes to the next lane, its exponent
const SUM = BELOW + 1u;               // value, exponent
const PASSING = SUM + 1u;             // columns between segments, each with an exponent
const STRIP_ENTRIES = PASSING + PASSING_ENTRIES;

fn strip_at(item: u32, lane: u32) -> u32 {
    return item * (STRIP_ENTRIES * W) + lane;
}
