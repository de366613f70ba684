// Which reads, and which parts of them, fit the haplotypes of their region.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "calling/scored_region.hpp"

namespace pairhmm {

// A read with soft clips, which is scored a second time without them.
struct ClippedRead {
    int64_t read;               // of its region
    int64_t leading, trailing;  // clipped bases
    double least = 0;           // score without clips by its qualities (least_scores in calling/preparation.hpp)
};

// Gives reads whose clips no haplotype explains the scores without them: what lies beyond a breakpoint that no
// haplotype has says nothing of the alleles on this side. Reads that fit one whole are over what their clips reach:
// aligners clip the reads of an allele, not those of the reference.
//
// log10, precision: [clipped][haplotypes], the scores without clips; least: [reads], as `set_aside` takes it.
void drop_foreign_clips(ScoredRegion& region, const std::vector<ClippedRead>& clipped, const double* log10,
                        const uint8_t* precision, double* least);

// Sets aside the reads that fit none of the haplotypes: as `set_aside` in pairhmm/models/gatk.py.
//
// ends: [reads] ends of its molecule that each has, 1 or 2; least: [reads] the scores of reads that fit, by their
// qualities, at least; error_rate: of their bases; none: all reads fit.
void set_aside(ScoredRegion& region, const int64_t* ends, const double* least, std::optional<double> error_rate);

}  // namespace pairhmm
