// Pairs of any length, cut into strips of G * K rows, each a workgroup's: what long_rows.wgsl and long.wgsl share.
//
// The G lanes of a strip are segments of SEGMENT lanes that hand values on. What a lane keeps of its strip lies in
// `strips`: made once by long_rows.wgsl are EMISSIONS and COEFFICIENTS; STATES, BELOW, SUM and PASSING are kept between
// two dispatches (pairhmm/backends/webgpu/strips.py says what each has).

// needs host: W, LEAD, STRIP_ENTRIES
// gives: border, strips, first_step, strip_at

// Rows between two strips, in blocks of S and I of RESCALE_STEPS columns and their exponent; 0 is a word that is not
// there.
@group(0) @binding(4) var<storage, read_write> border: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> strips: array<vec4<u32>>;  // [items][STRIP_ENTRIES][W]

// The step that a strip begins with. The first strip has no border above to take columns from, but a start that no step
// may pass over.
fn first_step(strip: u32) -> u32 {
    return select(0u, LEAD, strip == 0u);
}

// The first entry of a lane in `strips`; those behind it are W apart.
fn strip_at(item: u32, lane: u32) -> u32 {
    return item * (STRIP_ENTRIES * W) + lane;
}
