// The letters of a part, four in each of `letters`; those of the next part are read before their turn.
//#for q PART_WORDS
let letters$q = joined(low, word$q, shift);
low = word$q;
//#end
word += PART_WORDS;
//#for q PART_WORDS
word$q = batch[word + 1u + $qu];
//#end
