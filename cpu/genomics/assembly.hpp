// Local assembly: the alleles that the reads over a window of the reference spell together.
//
// Method. A graph of k-mers is made of the reference and the reads. Edges that few reads have are dropped. Each way that
// leaves the reference and comes back to it is aligned with the reference that it replaces; where they differ are
// alleles. k is the least of a ladder for which no k-mer of the reference occurs twice and no way leads back to itself.
#pragma once

#include <cstdint>
#include <vector>

#include "genomics/candidates.hpp"
#include "genomics/kmer_graph.hpp"

namespace pairhmm {

// The alleles, in order. `reference` begins at `start`; it and the reads have letters 0..3 alone. The order of the reads
// has no effect.
std::vector<Candidate> assembled_alleles(int64_t start, Stretch reference, const std::vector<Stretch>& reads,
                                         const CandidateThresholds& thresholds);

}  // namespace pairhmm
