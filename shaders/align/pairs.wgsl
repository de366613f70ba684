// What the aligners share: the parameters of a call, its pairs, and their letters.
//
// A pair has rows, which are in registers, and columns, which are taken one after the other. Rows are the query's
// letters and columns the target's; where the target's ends are free, it is the other way round. So all that is free is
// in the column before the first and in the last one, which a lane holds in its registers.

// import host: Params, Pair, PER_WORD
//#if UNKNOWN
// export: params, pairs, found, Found, index_of, letters_at, unknown_at
//#else
// export: params, pairs, found, Found, index_of, letters_at
//#end

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> letters: array<u32>;  // two bits a letter, the first lowest; 0 for N
@group(0) @binding(2) var<storage, read> pairs: array<Pair>;
@group(0) @binding(3) var<storage, read_write> found: array<Found>;  // of each pair
//#if UNKNOWN
@group(0) @binding(5) var<storage, read> unknown: array<u32>;  // a bit a letter, set for N
//#end

// In the last column: the score of the last row, and the best one of all rows; of those that are done, until all are.
struct Found {
    last: i32,
    best: i32,
}

// Dispatches have rows of workgroups, because one dimension may have only 65,535.
fn index_of(workgroup: vec3u, workgroups: vec3u) -> u32 {
    return workgroup.x + workgroup.y * workgroups.x;
}

// 16 letters, of which those behind the last are any.
fn letters_at(letter: u32) -> u32 {
    let shift = letter % PER_WORD * 2u;
    let word = letter / PER_WORD;
    return (letters[word] >> shift) | ((letters[word + 1u] << (31u - shift)) << 1u);
}

//#if UNKNOWN
// The bits of 32 letters.
fn unknown_at(letter: u32) -> u32 {
    let shift = letter % 32u;
    let word = letter / 32u;
    return (unknown[word] >> shift) | ((unknown[word + 1u] << (31u - shift)) << 1u);
}
//#end
