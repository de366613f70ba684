// A haplotype's letters as the lanes of a read take them: PART columns at a time, each lane one step after the lane
// above.
//
// The words of a part are read while the part before it is computed.

// import host: PART_WORDS
// import forward/batch.wgsl: batch, joined
// export: first_letters, next_letters

struct Letters {
    shift: u32,  // bits of a word before a lane's letter
    word: u32,   // index of the word before those that are read ahead
    low: u32,    // that word
//#for q PART_WORDS
    ahead$q: u32,
//#end
}

struct Part {
//#for q PART_WORDS
    four$q: u32,
//#end
}

// Before a lane's first part, which begins at letter `at`.
fn first_letters(at: u32) -> Letters {
    var letters: Letters;
//#if FLAGS
    letters.shift = (at & 1u) * 16u;
    letters.word = at >> 1u;
//#else
    letters.shift = (at & 3u) * 8u;
    letters.word = at >> 2u;
//#end
    letters.low = batch[letters.word];
//#for q PART_WORDS
    letters.ahead$q = batch[letters.word + 1u + $qu];
//#end
    return letters;
}

// The letters of the next part, four to a word.
fn next_letters(letters: ptr<function, Letters>) -> Part {
    var part: Part;
//#for q PART_WORDS
    part.four$q = joined((*letters).low, (*letters).ahead$q, (*letters).shift);
    (*letters).low = (*letters).ahead$q;
//#end
    (*letters).word += PART_WORDS;
//#for q PART_WORDS
    (*letters).ahead$q = batch[(*letters).word + 1u + $qu];
//#end
    return part;
}
