// What the reads over a site say of errors: strands, mapping qualities, and places in reads. docs/vcf.md has the
// definitions, which are GATK's.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "calling/genotypes.hpp"
#include "calling/sites.hpp"

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

// What is summed over the reads of a site.
struct SiteSums {
    Strands strands{};             // of all samples
    std::vector<int> mapq[2];      // known mapping qualities of reads of the reference, and of other alleles
    std::vector<int> from_end[2];  // distances from the nearer end of the read, of the same
    SquaredMapqs mapqs;            // of all reads
};

// An INFO field of VCF. The writers of VCF, here and in the browser, take all that they write of it from here.
struct SiteAnnotation {
    const char* id;
    int decimals;
    const char* description;
    double (*value)(const SiteSums& sums);  // NaN where it is not known
};

const std::vector<SiteAnnotation>& site_annotations();

struct SiteStatistics {
    std::vector<Strands> strands;     // [samples]
    std::vector<double> annotations;  // as `site_annotations`
    SquaredMapqs mapqs;
};

SiteStatistics site_statistics(const SiteReads& reads, const ReadFacts& facts);

// Phred-scaled p of Fisher's exact test, two-sided.
double fisher_strand(const Strands& table);

// The symmetric odds ratio of strands.
double strand_odds(const Strands& table);

// z of the rank sum test (Mann and Whitney): positive where values of `ours` are larger. NaN where one side is empty.
double rank_sum(const std::vector<int>& ours, const std::vector<int>& theirs);

}  // namespace pairhmm
