// Which alleles of a sample's heterozygous sites lie on one chromosome, by the fragments that tell alleles apart at
// both sites. docs/model.md has the formula.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "calling/genotypes.hpp"

namespace pairhmm {

// log10 of the odds from which on a site is phased: it is wrong once in a hundred by the model.
constexpr double kPhasedOdds = 2;

// Phases the heterozygous sites of one sample in a region. Sites are added in order of position.
class Phaser {
public:
    struct Assignment {
        int64_t set;   // number of its phase set; a site that can't be phased begins one
        bool swapped;  // whether `other` lies on the set's first haplotype, in place of `one`
    };

    // Adds a site with the two alleles of the sample's genotype.
    Assignment add(const SiteReads& reads, int sample, int one, int other);

private:
    // log10 P(fragment | second haplotype) - log10 P(fragment | first haplotype), by fragment.
    using Ratios = std::unordered_map<int64_t, double>;

    std::vector<Ratios> sets_;
};

}  // namespace pairhmm
