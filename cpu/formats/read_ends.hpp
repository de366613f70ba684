// The ends of a read that say nothing of the sample, as GATK's HaplotypeCaller cuts them off (finalizeRegion of
// AssemblyBasedCallerUtils, ReadClipper): bases of low quality, adaptors, and clips of odd pairs.
#pragma once

#include <cstdint>

#include "formats/bam_record.hpp"

namespace pairhmm {

// Bases [first, last) of a read.
struct KeptBases {
    int64_t first, last;
};

// What is left of a read, one behind whose last reference base is `end`.
//
// A pair tells where its fragment ends: bases beyond are the adaptor's. Where mates do not face each other, it does
// not, and soft clips go. Then bases below quality 10 go from both ends. Clips of reads without a mate stay.
KeptBases kept_bases(const BamRecord& record, int64_t end);

}  // namespace pairhmm
