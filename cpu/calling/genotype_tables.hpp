// The genotypes of some alleles at a ploidy, and their priors.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "calling/genotypes.hpp"

namespace pairhmm {

// Genotypes of so many alleles; 2^31 stands for as many or more.
int64_t count_genotypes(int64_t alleles, int64_t ploidy);

// All genotypes in VCF order (VCF 4.3, section 1.6.2: by the last allele, then the one before, ...):
// [genotypes][ploidy] alleles in ascending order.
std::vector<int16_t> genotype_table(int alleles, int ploidy);

// log10 prior of each genotype of a table, where `theta` has the prior of each alternative allele.
//
// k copies of an alternative allele have the neutral expectation theta / k (Watterson's estimator), so that a
// homozygote is half as likely as a heterozygote. Alleles are independent. The reference genotype gets the rest.
std::vector<double> log10_priors(const std::vector<double>& theta, const std::vector<int16_t>& table, int ploidy);

// Tables with their priors, which are made once.
class GenotypeTables {
public:
    // Valid until `forget_some`. At ploidy 0 there is no genotype.
    const Genotypes& of(const std::vector<double>& theta, int ploidy);
    // Bounds the memory.
    void forget_some();

private:
    std::map<std::pair<int, std::vector<double>>, Genotypes> known_;
};

}  // namespace pairhmm
