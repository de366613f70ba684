// Haplotypes of a region: the reference with combinations of the candidates' alleles.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calling/kmer_graph.hpp"
#include "calling/regions.hpp"

namespace pairhmm {

// Stand for the allele of a read whose alignment does not show it, and for one of a haplotype that is not listed.
constexpr int16_t kUnknownAllele = -1, kUnlistedAllele = -2;

struct Haplotype {
    std::string sequence;
    std::vector<int16_t> alleles;  // at each of the region's candidates; 0 is the reference
    std::string name;              // of its FASTA record, where haplotypes were given
    bool is_nuisance = false;      // every combination of alleles that spells it has a nuisance's allele
};

// The allele of each candidate of a region that each read carries by its alignment: [reads][candidates]. In a mixture,
// that which each fragment carries.
using CarriedAlleles = std::function<std::vector<int16_t>(const Region& region)>;

// The words of haplotypes that reads have, whatever their alignments: hashes of each kWordLetters letters.
constexpr int kWordLetters = 16;
using ReadWords = std::function<EdgeSet()>;

// The haplotypes of a region: the reference first, those with a nuisance last. No two have the same sequence.
//
// reference: bases of [haplotype_start, haplotype_end). most: combinations, unless there are more single alleles.
// Several combinations may spell one haplotype. It has all their alleles where candidates are listed, and where they
// are discovered those of the combination that reads show.
//
// carried: asked only where there are too many combinations, or several that spell the same.
//
// words: asked only where there are too many combinations. Those come first that have the fewest words that no read
// has.
//
// of_mixture: the combinations are those of which a mixture of them explains what fragments carry.
std::vector<Haplotype> build_haplotypes(const Region& region, const std::string& reference, int64_t most,
                                        const CarriedAlleles& carried, const ReadWords& words, bool are_discovered,
                                        bool of_mixture = false);

// The region without unlisted variants.
Region without_nuisances(const Region& region);

}  // namespace pairhmm
