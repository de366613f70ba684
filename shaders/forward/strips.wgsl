// Strips of G * K rows, which pairs of any length are cut into: what long_rows.wgsl and long.wgsl share. A workgroup
// takes a strip.
//
// The G lanes of a strip form segments of SEGMENT lanes that hand values on. `strips` holds what each lane saves of its
// strip. long_rows.wgsl makes EMISSIONS and COEFFICIENTS once. STATES, BELOW, SUM and PASSING are saved between two
// dispatches. pairhmm/backends/webgpu/long_pairs.py says what each of them holds.

// import host: W, LEAD, STRIP_ENTRIES
// export: border, strips, first_step, strip_at

// Rows between two strips, in blocks: S and I of RESCALE_STEPS columns, and their exponent. A word that has not been
// written is 0.
@group(0) @binding(4) var<storage, read_write> border: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> strips: array<vec4<u32>>;  // [items][STRIP_ENTRIES][W]

// The step that a strip begins with. The first strip has no border above to take columns from, but it has a start that
// no step may pass over.
fn first_step(strip: u32) -> u32 {
    return select(0u, LEAD, strip == 0u);
}

// Index of a lane's first entry in `strips`. Its other entries follow at intervals of W.
fn strip_at(item: u32, lane: u32) -> u32 {
    return item * (STRIP_ENTRIES * W) + lane;
}
