// The samples of a site together: they share the frequencies of its alleles, and relatives share alleles. docs/model.md
// has the formulas.
#pragma once

#include <vector>

#include "calling/families.hpp"
#include "calling/genotypes.hpp"

namespace pairhmm {

// What a site's samples say of each other.
struct SharedAlleles {
    std::vector<std::vector<double>> prior;  // [samples][genotypes] log10 P(genotype | reads of all other samples)
    // log10 P(none of the samples whose reads tell genotypes apart has an alternative allele | reads of all samples)
    double log10_reference = 0;
};

// reads: of all samples; genotypes: [samples] those of each at its ploidy; theta: [alternative alleles] the prior of
// each in one sample.
SharedAlleles share_alleles(const SiteReads& reads, const std::vector<const Genotypes*>& genotypes,
                            const std::vector<double>& theta, const std::vector<Family>& families);

}  // namespace pairhmm
