// Reads of one haplotype that fit another one, since errors that qualities do not know of show its letter.
#pragma once

#include <vector>

#include "calling/error_rates.hpp"
#include "calling/mixed_haplotypes.hpp"
#include "calling/scored_region.hpp"

namespace pairhmm {

// The scores of a region, [reads][haplotypes], where P(read | haplotype) has more, of each haplotype that differs from
// it by one letter that the read is over: its own probability, times how often that error is made at the read's place.
// A profile of two reads has the errors of some copies, and of more reads, of many.
std::vector<double> scores_with_errors(const ScoredRegion& region, const ErrorRates& rates);

// Leaves out haplotypes of a sample that differ by one letter from a more frequent one, where errors that repeat at
// this place explain their reads better: those of one strand, of some cycles, or of ends of reads. `present` has the
// most frequent first.
void leave_out_errors(const ScoredRegion& region, const ErrorRates& rates, int32_t sample,
                      std::vector<MixedHaplotype>& present);

}  // namespace pairhmm
