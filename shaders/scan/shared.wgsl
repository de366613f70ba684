// What the kernels of the scan share: the parameters of a call, and letters as sets of bases.
//
// A letter has one bit a base; a word has eight letters, the first one lowest. Two letters match where their sets
// intersect. Positions are those of all segments end to end, 0-based half-open.

// import host: Params
// export: params, ONES, columns_of, joined, index_of

@group(0) @binding(0) var<uniform> params: Params;

const ONES = 0x11111111u;

// Bit 0 of each letter that is, by its four bits, not 0.
fn some(letters: u32) -> u32 {
    return (letters | (letters >> 1u) | (letters >> 2u) | (letters >> 3u)) & ONES;
}

// Bit 0 of each letter that is N.
fn any_base(letters: u32) -> u32 {
    return letters & (letters >> 1u) & (letters >> 2u) & (letters >> 3u) & ONES;
}

// Mismatches and informative columns among eight columns.
fn columns_of(letters: u32, others: u32) -> vec2u {
    return 8u - vec2u(countOneBits(some(letters & others)), countOneBits(any_base(letters) | any_base(others)));
}

// Eight letters of two words, from the letter at `position` on.
fn joined(low: u32, high: u32, position: u32) -> u32 {
    let shift = position % 8u * 4u;
    return (low >> shift) | ((high << (31u - shift)) << 1u);
}

// Dispatches have rows of workgroups, because one dimension may have only 65,535.
fn index_of(workgroup: vec3u, workgroups: vec3u) -> u32 {
    return workgroup.x + workgroup.y * workgroups.x;
}
