// Alignments whose insertions and deletions stand as far left as they can, as those of records do.
#pragma once

#include <cstdint>
#include <vector>

#include "calling/candidates.hpp"

namespace pairhmm {

// One operation of an alignment (calling/cigar.hpp).
struct AlignedPiece {
    uint32_t operation;
    int64_t length;
};

// Where a read is aligned: its first reference base, and the operations from there on.
struct LeftmostAlignment {
    int64_t start = 0;
    std::vector<AlignedPiece> pieces;
};

// The alignment of a read with each insertion and deletion shifted left through the repeat that it stands in. As many
// bases as before differ from the reference. One that can be shifted beyond the read's first base says nothing of the
// reference: a deletion is taken away, and the bases of an insertion become a soft clip. Neighbours that meet in a
// repeat become one. `alignment` gets the result.
void leftmost_alignment(const Reads& reads, int64_t read, const ReferenceWindows& reference,
                        LeftmostAlignment& alignment);

}  // namespace pairhmm
