// Which haplotypes samples may have: those of pairs (of single ones, at ploidy 1) that explain all their reads.
//
// A site's alleles are compared by the best haplotype that has each. Were that any haplotype, every read could take
// another one, and each site of a region might look like the reference where no pair of haplotypes does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "calling/genotypes.hpp"
#include "calling/haplotypes.hpp"

namespace pairhmm {

class HaplotypePairs {
public:
    // At a ploidy above 2, samples may have all haplotypes.
    HaplotypePairs(const ScoredReads& reads, const std::vector<int>& ploidies);

    // [samples][haplotypes] 1: some pair with it is at most 10 (log10) less likely than the best one; where `correct`
    // left one pair, those of it, and what differs from them at a site alone. allele_of: the allele that each has
    // there. unlisted: that of all alleles that are not listed, if there are any. A sample has one or two of these, so
    // only the haplotypes of the best pair with one count: of many, every read could take another one.
    std::vector<uint8_t> are_likely(const std::vector<int64_t>& allele_of, const std::vector<Haplotype>& haplotypes,
                                    std::optional<int64_t> unlisted) const;

    // Looks at the genotypes of a sample, which were called site by site. Where the best pair that they spell is far
    // less likely than the best one, only this one stays likely, and at each site what differs from it there alone;
    // reads that fit another haplotype are set aside. Whether that is so.
    //
    // called: [candidates] alleles in ascending order; none where there is no genotype. set_aside: [reads].
    bool correct(size_t sample, const ScoredReads& reads, const std::vector<Haplotype>& haplotypes,
                 const std::vector<std::vector<int>>& called, std::vector<uint8_t>& set_aside);

private:
    // A pair with its log10 P(reads | pair).
    struct Pair {
        size_t one, other;
        double log10;
    };

    void mark_likely(size_t sample);
    void keep_best_with(size_t sample, const std::vector<int64_t>& allele_of, int64_t allele, uint8_t* likely) const;

    size_t haplotypes_;
    std::vector<std::vector<Pair>> pairs_;  // [samples]
    std::vector<const Pair*> only_;         // [samples] the pair that stays likely; nullptr: others do
    std::vector<uint8_t> are_likely_;
};

}  // namespace pairhmm
