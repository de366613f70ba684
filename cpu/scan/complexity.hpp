// Tiles of low complexity: those in which short words repeat, such as A...A, ACAC... or (CAG)n.
//
// Rule. A word is three letters in a row of A, C, G and T. A tile is of low complexity if more than kMostEqual percent
// of all pairs of its words are equal. One letter gives 100%, two in turn 48%, three 31%, six 14%, and random letters
// 2%. For 31 letters this is DUST's score (Morgulis et al. 2006) at its usual threshold of 20. A word with another
// letter is equal to none. A tile and its reverse complement have the same share.
#pragma once

#include <cstdint>
#include <vector>

namespace pairhmm {

constexpr int64_t kMostEqual = 14;

// Consecutive places where such tiles begin: [begin, end).
struct MaskedSpan {
    int64_t begin, end;
};

// The places in `count` sequences that are laid end to end, in order; no interval spans two sequences.
std::vector<MaskedSpan> low_complexity(const uint8_t* letters, const int64_t* offset, int64_t count, int64_t length);

}  // namespace pairhmm
