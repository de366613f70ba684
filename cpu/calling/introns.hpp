// Reads of RNA: a CIGAR skips introns (N), in which a read says nothing.
#pragma once

#include "calling/read_buffer.hpp"

namespace pairhmm {

// Makes each part of a read between introns a read of its own, of the same name. Whatever comes after sees no intron.
class IntronSplitter {
public:
    // The reads of a block of one contig, and those parts that begin before its last read, in order of start. They are
    // used until the next call; the block's own arrays serve where it has no introns.
    AlignedReads split(const AlignedReads& block);
    // Whether there are parts that no block has reached.
    bool has_rest() const { return !held_.start.empty(); }
    // These parts: no read of their contig comes after them.
    AlignedReads rest();

private:
    ReadColumns held_, given_;
};

}  // namespace pairhmm
