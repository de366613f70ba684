// Genotyped candidates.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "calling/variant.hpp"

namespace pairhmm {

// The share of an allele in a mixture, and its 95% interval.
struct AlleleFraction {
    double fraction, low, high;
};

// The genotype of one sample at one site: `SampleGenotype` in pairhmm/variants/genotypes.py.
struct SampleGenotype {
    // Ascending; none where reads do not tell genotypes apart. Chromosomes with an allele that is not listed have none.
    std::vector<int> alleles;
    std::vector<int64_t> depths;       // [alleles] informative reads (AD)
    int64_t depth = 0;                 // DP
    int quality = 0;                   // GQ
    std::vector<int64_t> likelihoods;  // [genotypes] PL; none where an allele is left out or not listed
    double log10_reference = 0;        // log10 posterior of genotypes without an alternative allele
    int ploidy = 2;
    int left_out = 0;                  // alternative alleles that were not considered
    std::array<int64_t, 4> strands{};  // SB
    std::vector<int> phased;           // the alleles in the order of the haplotypes of its phase set; none: not phased
    std::optional<int64_t> phase_set;  // position of the first site of the set
    std::vector<int64_t> with_others;  // likelihoods with one allele more, which stands for all others
    std::vector<AlleleFraction> fractions;  // [alleles] where the sample is a mixture; NaN without a read
    bool is_called = false;                 // it has a genotype: `alleles` may be none at ploidy 0, too
};

// Known mapping qualities of the reads over a site: the sum of their squares, and their number.
struct SquaredMapqs {
    int64_t sum = 0, reads = 0;
};

struct Site {
    Variant variant;
    double quality = 0;  // QUAL
    std::vector<SampleGenotype> samples;
    int left_out = 0;                 // alternative alleles that were not considered in some sample
    std::vector<double> annotations;  // as site_annotations(); NaN where one is not known
    SquaredMapqs mapqs;
    double unfit = 0;  // the share of the reads over the site that fit no haplotype
};

}  // namespace pairhmm
