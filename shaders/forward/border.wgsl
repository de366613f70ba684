// Borders: the rows between two strips in memory, which a strip writes and the one below it reads.
//
// A border has blocks of RESCALE_STEPS columns: S and I of each, and one exponent. Block b has the columns from (b - 1)
// RESCALE_STEPS + 1 on, which are those that leave a segment in one block of steps. WebGPU's atomics order nothing but
// themselves: so every word says itself whether it is there (PRESENT), and is written once.

// needs host: RESCALE_STEPS
// needs forward/batch.wgsl: work
// needs forward/strips.wgsl: border
// gives: blocks_of, border_column, is_there, awaited, put_column, values_of, exponent_in

const IN_VAIN = 0u;  // the word of `border`, before all borders, that says whether a strip has waited in vain
// In all that are there: values are not negative, and exponents with this are not either.
const PRESENT = 0x80000000u;
const EXPONENT_OFFSET = 1073741824;

// Blocks of a border of a haplotype with so many columns.
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

// A column once it is there, or what is there of it in the end. A strip that has waited in vain lets none wait any
// more. It looks by what could be a change: compilers may take loads alone out of a loop.
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

// Write S and I of a column; the one at position 0 brings the exponent of its block.
fn put_column(at: u32, position: u32, values: vec2<f32>, exponent: i32) {
    let bits = bitcast<vec2<u32>>(values);
    atomicStore(&border[at + 2u * position], bits.x | PRESENT);
    atomicStore(&border[at + 2u * position + 1u], bits.y | PRESENT);
    if position == 0u {
        atomicStore(&border[at + 2u * RESCALE_STEPS], bitcast<u32>(exponent + EXPONENT_OFFSET) | PRESENT);
    }
}
