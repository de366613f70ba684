// The haplotypes that are present in mixtures: they link alleles, and have a table of their own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "calling/mixtures.hpp"
#include "calling/scored_region.hpp"
#include "calling/sites.hpp"

namespace pairhmm {

// QUAL from which on a haplotype is present.
constexpr double kLeastQuality = 20;

// How many reads of a sample lie over the region where a molecule has each haplotype, relative to others: as many as
// there are places where they may begin. A deletion takes some away, and an insertion adds some.
std::vector<double> fragment_lengths(const ScoredRegion& region, int32_t sample);

struct MixedHaplotype {
    size_t number;  // in the region
    MixedShare share;
    double quality;
};

// Those that are present in a sample, the most frequent first. Those that no fragment tells apart are one: the first.
std::vector<MixedHaplotype> present_haplotypes(const Mixture& mixture, const ScoredRegion& region);

// A site of one sample, and the allele of each haplotype.
struct MixedSite {
    int64_t position;
    const std::vector<int64_t>* allele_of;
    SampleGenotype* sample;
};

// Links the alleles of a sample at the sites of a region: each gets the alleles of the haplotypes, in their order. A
// site stays unphased where these do not have its alleles, and where it is the only one.
void link_alleles(const std::vector<MixedSite>& sites, const std::vector<MixedHaplotype>& present);

// The lines of a sample in the table of haplotypes.
std::string mixture_lines(const ScoredRegion& region, int32_t sample, const std::string& name,
                          const std::vector<MixedHaplotype>& present);

}  // namespace pairhmm
