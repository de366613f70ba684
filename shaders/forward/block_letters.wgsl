// A haplotype's letters as a lane of a strip takes them: a block of RESCALE_STEPS at a time, which is at most eight.
//
// A block that lies outside the haplotype reads whatever letters are beside it. `cut` removes them.

// import host: RESCALE_STEPS, NO_LETTER
// import forward/batch.wgsl: batch, joined
// export: letter_at, words_of, letters_of, cut

// Where a column has its letter, from column 0's on: a right half reads the haplotype from its end. `column` is negative
// before the first letter.
fn letter_at(first: u32, column: u32, is_right: bool) -> u32 {
    let columns = max(bitcast<i32>(column), -i32(RESCALE_STEPS));
    return first + u32(select(columns, -columns, is_right));
}

// The lowest place of a block's letters.
fn lowest_letter(first: u32, column: u32, is_right: bool) -> u32 {
    return letter_at(first, column, is_right) - select(0u, RESCALE_STEPS - 1u, is_right);
}

// Three words that have the letters of a block from `column` on.
fn words_of(first: u32, column: u32, is_right: bool) -> vec3<u32> {
    let word = lowest_letter(first, column, is_right) >> 2u;
    return vec3<u32>(batch[word], batch[word + 1u], batch[word + 2u]);
}

// Four letters in reverse order.
fn turned(four: u32) -> u32 {
    return (four << 24u) | ((four & 0xff00u) << 8u) | ((four >> 8u) & 0xff00u) | (four >> 24u);
}

// The block's letters in the order of its columns, four to a word.
fn letters_of(words: vec3<u32>, first: u32, column: u32, is_right: bool) -> vec2<u32> {
    let shift = (lowest_letter(first, column, is_right) & 3u) * 8u;
    let letters = vec2<u32>(joined(words.x, words.y, shift), joined(words.y, words.z, shift));
    return select(letters, vec2<u32>(turned(letters.y), turned(letters.x)), is_right);
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
