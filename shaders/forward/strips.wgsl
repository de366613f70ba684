// Pairs of any length, cut into strips of G * K rows, each a workgroup's: what long_rows.wgsl and long.wgsl
// have in common. The G lanes of a strip are segments of SEGMENT lanes that hand values on.

// Rows between two strips, in blocks of S and I of RESCALE_STEPS columns and their exponent; 0 is a word that is not there.
@group(0) @binding(4) var<storage, read_write> border: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> strips: array<vec4<u32>>;  // [items][STRIP_ENTRIES][W]

// Of a strip's entry in `work.items`: read, haplotype, strip, first word of the border below it, pair.
const ITEM_WORDS = 5u;

const IN_VAIN = 0u;  // the word of `border` that says whether a strip has waited in vain
const BLOCK_WORDS = 2u * RESCALE_STEPS + 1u;
const LEAD = LEAD_BLOCKS * RESCALE_STEPS;  // steps before a strip's first column
// In all that are there: values are not negative, and exponents with this are not either.
const PRESENT = 0x80000000u;
const EXPONENT_OFFSET = 1073741824;

// What a lane has of its strip, in `strips`: made once,
const EMISSIONS = 0u;                          // [5 letters][QUADS]
const COEFFICIENTS = EMITTED * QUADS;          // [from_deletion, from_insertion, extend_insertion, extend_deletion][QUADS]
const STRIP_LANE = COEFFICIENTS + 4u * QUADS;  // sum_falls; bits of the strip's first_deletion
// and between two dispatches:
const STATES = STRIP_LANE + 1u;       // [S, D][QUADS]
const BELOW = STATES + 2u * QUADS;    // what goes to the next lane, its exponent
const SUM = BELOW + 1u;               // value, exponent, steps that are done
const PASSING = SUM + 1u;             // columns between segments, each with an exponent
const STRIP_ENTRIES = PASSING + PASSING_ENTRIES;

// Where a strip begins: the first one has no border above to take columns from, but a start that no step may pass over.
fn first_step(strip: u32) -> u32 {
    return select(0u, LEAD, strip == 0u);
}

fn strip_at(item: u32, lane: u32) -> u32 {
    return item * (STRIP_ENTRIES * W) + lane;
}
