// A haplotype's letters as a lane of a strip takes them: a block of RESCALE_STEPS at a time, which is at most eight.
//
// A block that lies outside the haplotype reads whatever letters are beside it. `cut` removes them.

// needs host: RESCALE_STEPS, NO_LETTER
// needs forward/batch.wgsl: batch, joined
// gives: words_of, letters_of, cut

// Where a letter is read. `column` is negative before the haplotype's first letter.
fn letter_at(first: u32, column: u32) -> u32 {
    return first + u32(max(bitcast<i32>(column), -i32(RESCALE_STEPS)));
}

// Three words that have the letters of a block from `column` on; the haplotype's letters begin at `first`.
fn words_of(first: u32, column: u32) -> vec3<u32> {
    let word = letter_at(first, column) >> 2u;
    return vec3<u32>(batch[word], batch[word + 1u], batch[word + 2u]);
}

// The block's letters, four to a word.
fn letters_of(words: vec3<u32>, first: u32, column: u32) -> vec2<u32> {
    let shift = (letter_at(first, column) & 3u) * 8u;
    return vec2<u32>(joined(words.x, words.y, shift), joined(words.y, words.z, shift));
}

// Letters of a block in which a haplotype begins or ends. Past its ends they are NO_LETTER.
fn cut(letters: vec2<u32>, column: u32, columns: u32) -> vec2<u32> {
    var result = letters;
//#for u RESCALE_STEPS
    if column + $uu >= columns {
        result[$u.quad] = (result[$u.quad] & ~(255u << $u.byteu)) | (NO_LETTER << $u.byteu);
    }
//#end
    return result;
}
