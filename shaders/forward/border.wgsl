// Borders: the rows between two strips. A strip writes its border to memory, and the strip below reads it.
//
// A border consists of blocks of RESCALE_STEPS columns: S and I of each column, and one exponent. Block b begins with
// column (b - 1) RESCALE_STEPS + 1. Its columns leave a segment in one block of steps. WebGPU's atomics do not order
// other accesses to memory. So each word is written once, and its bit PRESENT says that it has been written.

// import host: RESCALE_STEPS
// import forward/batch.wgsl: work
// import forward/strips.wgsl: border
// export: blocks_of, border_column, is_there, awaited, put_column, values_of, exponent_in

const IN_VAIN = 0u;  // the word of `border`, before all borders, that says whether a strip has waited in vain
// Set in every word that has been written. Values are not negative, nor are exponents plus EXPONENT_OFFSET.
const PRESENT = 0x80000000u;
const EXPONENT_OFFSET = 1073741824;

// Number of blocks in the border of a haplotype with `columns` columns.
fn blocks_of(columns: u32) -> u32 {
    return (columns + 2u * RESCALE_STEPS - 2u) / RESCALE_STEPS;
}

// S and I of a column, at `position` of the block whose first word that is, and their exponent, each with PRESENT.
fn border_column(at: u32, position: u32) -> vec3<u32> {
    return vec3<u32>(
        atomicLoad(&border[at + 2u * position]),
        atomicLoad(&border[at + 2u * position + 1u]),
        atomicLoad(&border[at + 2u * RESCALE_STEPS]),
    );
}

fn is_there(entry: vec3<u32>) -> bool {
    return all(entry != vec3<u32>(0u, 0u, 0u));
}

fn values_of(entry: vec3<u32>) -> vec2<f32> {
    return bitcast<vec2<f32>>(entry.xy & vec2<u32>(~PRESENT, ~PRESENT));
}

fn exponent_in(entry: vec3<u32>) -> i32 {
    return bitcast<i32>(entry.z & ~PRESENT) - EXPONENT_OFFSET;
}

// Wait for a column; if that is in vain, return what there is of it. After one strip has waited in vain, no other waits
// any more. Polling uses an operation that could change the word: compilers may move a plain load out of the loop.
fn awaited(at: u32, position: u32) -> vec3<u32> {
    var entry = border_column(at, position);
    for (var polls = work.polls; polls > 0u && !is_there(entry); polls--) {
        if atomicOr(&border[at + 2u * RESCALE_STEPS], 0u) != 0u {
            entry = border_column(at, position);
        } else if polls == 1u {
            atomicStore(&border[IN_VAIN], 1u);
        } else if polls % 64u == 0u && atomicLoad(&border[IN_VAIN]) != 0u {
            break;
        }
    }
    return entry;
}

// Write S and I of a column. The column at position 0 also writes the exponent of its block.
fn put_column(at: u32, position: u32, values: vec2<f32>, exponent: i32) {
    let bits = bitcast<vec2<u32>>(values);
    atomicStore(&border[at + 2u * position], bits.x | PRESENT);
    atomicStore(&border[at + 2u * position + 1u], bits.y | PRESENT);
    if position == 0u {
        atomicStore(&border[at + 2u * RESCALE_STEPS], bitcast<u32>(exponent + EXPONENT_OFFSET) | PRESENT);
    }
}
