// A haplotype's letters as a lane takes them, one step after the lane above: the words of the first part.
let letter_at = work.letters + offset - lane % G;
let shift = (letter_at & 3u) * 8u;
var word = letter_at >> 2u;
var low = batch[word];
//#for q PART_WORDS
var word$q = batch[word + 1u + $qu];
//#end
