// Columns on their way through a strip: from the border above into the first segment, from segment to segment, and from
// the last one to the border below.
//
// What enters segment g, and what leaves the last one, lies in `passing`: values [g][block][step of the block], each
// block with an exponent. Blocks and steps are those of the segment above, which a column leaves DELAY steps after it
// entered it. So a block takes what two blocks gave: its first column from one, the others from the next.

// import host: G, W, SEGMENT, BLOCKS, RESCALE_STEPS, BLOCK_WORDS, LEAD, SKEW
//#if PASSING_ENTRIES
// import host: PASSING
// import forward/strips.wgsl: strips
//#end
// import forward/border.wgsl: blocks_of, is_there, awaited, put_column, values_of, exponent_in
// export: Columns, Entering, entering_columns, pass_on, take, take_lead, give, clear_passing
// export: restore_passing, save_passing, exponent_passed

const SEGMENTS = G / SEGMENT;
const DELAY = SEGMENT - 1u;  // of a column, from a segment's first lane to its last
const FIRST_LEAVING = DELAY / RESCALE_STEPS;  // the block, of a segment's steps, in which the first column leaves
const RING = BLOCKS * RESCALE_STEPS;

var<workgroup> passing: array<array<array<vec2<f32>, RESCALE_STEPS>, BLOCKS>, SEGMENTS + 1u>;
var<workgroup> passing_exponent: array<array<i32, BLOCKS>, SEGMENTS + 1u>;

fn block_of(step: u32) -> u32 {
    return step / RESCALE_STEPS % BLOCKS;
}

// S and I of a block's columns.
struct Columns {
//#for u RESCALE_STEPS
    at$u: vec2<f32>,
//#end
}

// A block that enters a segment: its first column has one exponent, the others have another.
struct Entering {
    columns: Columns,
    first_top: f32,  // largest value of the first column,
    next_top: f32,   // and of the others
    first_exponent: i32,
    next_exponent: i32,
}

// What enters a segment in the block of steps that begins with its own step `step`.
fn entering_columns(segment: u32, step: u32) -> Entering {
    let first_block = block_of(step + DELAY);
    let next_block = block_of(step + SEGMENT);
    var entering: Entering;
    var first_top = 0.0;
    var next_top = 0.0;
//#for u RESCALE_STEPS
    let entering$u = passing[segment][select(next_block, first_block, $u == 0)][($u + DELAY) % RESCALE_STEPS];
    first_top = max(first_top, select(0.0, max(entering$u.x, entering$u.y), $u == 0));
    next_top = max(next_top, select(max(entering$u.x, entering$u.y), 0.0, $u == 0));
    entering.columns.at$u = entering$u;
//#end
    entering.first_top = first_top;
    entering.next_top = next_top;
    entering.first_exponent = passing_exponent[segment][first_block];
    entering.next_exponent = passing_exponent[segment][next_block];
    return entering;
}

// Say what exponent the columns have that leave a segment in the block of its own step `step`.
fn exponent_passed(segment: u32, step: u32, exponent: i32) {
    passing_exponent[segment + 1u][block_of(step)] = exponent;
}

// Store the columns that left a segment in that block. The segment's last lane does this.
fn pass_on(segment: u32, step: u32, leaving: Columns, columns: u32) {
//#for u RESCALE_STEPS
    passing[segment + 1u][block_of(step)][$u] = leaving.at$u;
//#end
    // No columns leave behind the last one.
    if bitcast<i32>(step + RESCALE_STEPS - 1u - DELAY) >= i32(columns) {
//#for u RESCALE_STEPS
        if bitcast<i32>(step + $uu - DELAY) >= i32(columns) {
            passing[segment + 1u][block_of(step)][$u] = vec2<f32>(0.0, 0.0);
        }
//#end
    }
}

// Let a column of the border above enter the first segment: it is at `position` of a block.
fn take(entry: vec3<u32>, block: u32, position: u32) {
    let to = (block + FIRST_LEAVING) % BLOCKS;
    passing[0][to][position] = values_of(entry);
    if position == 0u {
        passing_exponent[0][to] = exponent_in(entry);
    }
}

// Take again those columns of the border above that an earlier dispatch took, but did not use up. `known_blocks` blocks
// of the border are known. Returns whether all of the columns are there.
fn take_lead(above_at: u32, known_blocks: u32, t_begin: u32, lane: u32) -> bool {
    if lane >= LEAD {
        return true;
    }
    let block = t_begin / RESCALE_STEPS - LEAD / RESCALE_STEPS + lane / RESCALE_STEPS;
    let position = lane % RESCALE_STEPS;
    var entry = vec3<u32>(0u, 0u, 0u);
    var found = true;
    if block < known_blocks {
        entry = awaited(above_at + BLOCK_WORDS * block, position);
        found = is_there(entry);
    }
    take(entry, block, position);
    return found;
}

// Write to the border below what left the last segment in the block from step `t` on. The last lanes do this.
fn give(t: u32, below_at: u32, columns: u32, lane: u32) {
    let from_block = t / RESCALE_STEPS - (LEAD + (SEGMENTS - 1u) * SKEW) / RESCALE_STEPS;
    let block = from_block - FIRST_LEAVING;
    if lane < W - RESCALE_STEPS || block >= blocks_of(columns) {
        return;
    }
    let position = lane - (W - RESCALE_STEPS);
    let exponent = passing_exponent[SEGMENTS][from_block % BLOCKS];
    put_column(below_at + BLOCK_WORDS * block, position, passing[SEGMENTS][from_block % BLOCKS][position], exponent);
}

// Clear what is between segments, before a strip's first step.
fn clear_passing(lane: u32) {
//#for p PASSING_ENTRIES
    if lane + $pu * W < (SEGMENTS - 1u) * RING {
        passing[1u + (lane + $pu * W) / RING][block_of(lane)][lane % RESCALE_STEPS] = vec2<f32>(0.0, 0.0);
    }
//#end
}

// Save what is between segments for the next dispatch.
fn save_passing(at: u32, lane: u32) {
//#for p PASSING_ENTRIES
    if lane + $pu * W < (SEGMENTS - 1u) * RING {
        let g = 1u + (lane + $pu * W) / RING;
        let passed = bitcast<vec2<u32>>(passing[g][block_of(lane)][lane % RESCALE_STEPS]);
        let of_block = bitcast<u32>(passing_exponent[g][block_of(lane)]);
        strips[at + (PASSING + $pu) * W] = vec4<u32>(passed, of_block, 0u);
    }
//#end
}

fn restore_passing(at: u32, lane: u32) {
//#for p PASSING_ENTRIES
    if lane + $pu * W < (SEGMENTS - 1u) * RING {
        let passed$p = strips[at + (PASSING + $pu) * W];
        let g = 1u + (lane + $pu * W) / RING;
        passing[g][block_of(lane)][lane % RESCALE_STEPS] = bitcast<vec2<f32>>(passed$p.xy);
        if lane % RESCALE_STEPS == 0u {
            passing_exponent[g][block_of(lane)] = bitcast<i32>(passed$p.z);
        }
    }
//#end
}
