// The alleles of a region that reads carry by their alignments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calling/aligned_reads.hpp"
#include "calling/regions.hpp"

namespace pairhmm {

// The allele of each candidate that some reads carry: [reads][candidates]. kUnknownAllele where a read does not span
// the candidate, or shows none of its alleles. reference: bases of [haplotype_start, haplotype_end).
std::vector<int16_t> carried_alleles(const AlignedReads& reads, const std::vector<int64_t>& chosen,
                                     const Region& region, const std::string& reference);

}  // namespace pairhmm
