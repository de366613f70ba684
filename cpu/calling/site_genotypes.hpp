// The genotypes of all samples at a site, and its QUAL.
#pragma once

#include <vector>

#include "calling/families.hpp"
#include "calling/genotype_tables.hpp"
#include "calling/genotypes.hpp"
#include "calling/sites.hpp"

namespace pairhmm {

// The most genotypes that a sample is tried with: those of 90 alleles at ploidy 2, or of 4 at ploidy 20. GATK: 1024.
constexpr int64_t kMaxGenotypes = 4096;

struct SiteGenotypes {
    std::vector<SampleGenotype> samples;
    double quality;  // QUAL, Phred
};

// Several samples share the frequencies of the alleles, and families share alleles (calling/shared_alleles.hpp). A
// single sample has the prior of `log10_priors`, and so has each of several where there are more than kMaxGenotypes.
//
// theta: [alternative alleles] the prior of each; ploidies: [samples]
SiteGenotypes call_site(const SiteReads& reads, const std::vector<double>& theta, const std::vector<int>& ploidies,
                        const std::vector<Family>& families, GenotypeTables& tables);

// The genotype of one sample. Where there are more than kMaxGenotypes, the alternative alleles that the fewest reads
// support are left out.
SampleGenotype call_sample(const SiteReads& reads, int sample, const std::vector<double>& theta, int ploidy,
                           GenotypeTables& tables);

}  // namespace pairhmm
