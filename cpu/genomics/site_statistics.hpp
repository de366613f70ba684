// What the reads over a site say of errors: strands, mapping qualities, and places in reads. docs/vcf.md has the
// definitions, which are GATK's.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "genomics/genotypes.hpp"

namespace pairhmm {

// Of the reads of a region: [reads].
struct ReadFacts {
    const uint16_t* flag;     // SAM flags
    const uint8_t* mapq;      // 255: not known
    const int32_t* from_end;  // bases from the site to the nearer end of a read, or -1
    int64_t stride;           // of `from_end`
};

// Informative reads: of the reference on the forward and the reverse strand, and of all other alleles on both.
using Strands = std::array<int64_t, 4>;

struct SiteStatistics {
    std::vector<Strands> strands;  // [samples]
    double fisher_strand;          // Phred
    double strand_odds;            // natural logarithm
    double mapping_quality;        // root mean square; NaN without a read whose mapping quality is known
    double mapping_rank;           // z; NaN where only one side has reads
    double position_rank;          // z; NaN where only one side has reads
};

SiteStatistics site_statistics(const SiteReads& reads, const ReadFacts& facts);

// Phred-scaled p of Fisher's exact test, two-sided.
double fisher_strand(const Strands& table);

// The symmetric odds ratio of strands.
double strand_odds(const Strands& table);

// z of the rank sum test (Mann and Whitney): positive where values of `ours` are larger. NaN where one side is empty.
double rank_sum(const std::vector<int>& ours, const std::vector<int>& theirs);

}  // namespace pairhmm
