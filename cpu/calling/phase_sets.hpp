// The phase sets of one sample's sites in a region.
#pragma once

#include <cstdint>
#include <vector>

#include "calling/genotypes.hpp"
#include "calling/sites.hpp"

namespace pairhmm {

// A site of one sample.
struct SampleSite {
    int64_t position;
    const SiteReads* reads;
    SampleGenotype* genotype;
};

// Gives the genotypes of a sample at the sites of a region, in order of position, their phase.
//
// Diploid heterozygous sites whose alleles some fragments tell apart together are a phase set. A site without another
// one in its set stays unphased.
void phase(const std::vector<SampleSite>& sites, int sample);

}  // namespace pairhmm
