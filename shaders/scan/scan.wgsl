// Signatures in samples: what the kernels of the scan share. mark.wgsl, match.wgsl, sums.wgsl and
// verify.wgsl do what cuda/scan.cu says of its kernels; constants that pairhmm/scanning/webgpu.py puts before this:
// BASES, TILE, SUMMED.
//
// Letters are sets of bases, one bit a base, eight to a word, the first one lowest; two letters match where their sets
// intersect. Positions are those of all segments end to end, 0-based half-open.

struct Params {
    bases: u32,
    words: u32,      // of letters
    segments: u32,
    carried: u32,
    first_at: u32,   // in the index, behind the bits: [5^BASES + 1] into anchors
    anchor_at: u32,  // and the handles of anchors
    anchors: u32,
    handles: u32,    // those behind the anchors are tried everywhere
    pattern_at: u32, // in the patterns, behind the handles: first word of letters, length
    letters_at: u32, // and the letters
    longest: u32,
    max_mismatches: u32,
    min_informative: u32,
    room: u32,       // of the list, and for hits
    sum_tiles: u32,
    scored: u32,     // whether there are qualities
}

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

// Mismatches and informative columns of eight.
fn columns_of(letters: u32, others: u32) -> vec2u {
    return 8u - vec2u(countOneBits(some(letters & others)), countOneBits(any_base(letters) | any_base(others)));
}

// Eight letters from the one at `position` of two words on.
fn joined(low: u32, high: u32, position: u32) -> u32 {
    let shift = position % 8u * 4u;
    return (low >> shift) | ((high << (31u - shift)) << 1u);
}

// Dispatches have rows, since one dimension may have 65,535 workgroups.
fn index_of(workgroup: vec3u, workgroups: vec3u) -> u32 {
    return workgroup.x + workgroup.y * workgroups.x;
}
