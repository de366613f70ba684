// Alignment of haplotypes, from end to end, with the costs that GATK has for it.
#pragma once

#include <cstdint>
#include <vector>

#include "calling/kmer_graph.hpp"

namespace pairhmm {

struct HaplotypeAlignment {
    std::vector<uint32_t> cigar;  // length << 4 | operation (align/level.hpp)
    int32_t score = 0;
};

HaplotypeAlignment align_haplotype(Stretch query, Stretch target);
// The score of a sequence that is aligned with itself.
int32_t score_of_itself(Stretch sequence);

// Whether target [first, end) is in the query as it is: nothing inserted, deleted or replaced.
bool has_intact(const HaplotypeAlignment& alignment, Stretch query, Stretch target, int64_t first, int64_t end);

}  // namespace pairhmm
