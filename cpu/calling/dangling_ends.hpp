// Dangling ends: ways of a graph of k-mers that stop, or begin, beside the reference, because no read spans k letters
// there.
#pragma once

#include <cstdint>
#include <optional>

#include "calling/kmer_graph.hpp"

namespace pairhmm {

// The k-mer of the reference that a way leads on to (or comes from), by the letters that they share.
struct Overlap {
    int64_t place;   // where those letters begin in the reference
    int64_t length;  // how many they are
};

// What the last letters of a k-mer (`is_last`), or the first ones, have in common with the reference. Nothing where it
// is too short, at several places, or a tandem repeat at its inner end: there the reference may have more copies than
// the reads, or fewer.
std::optional<Overlap> overlap_of(Stretch kmer, Stretch reference, bool is_last);

}  // namespace pairhmm
