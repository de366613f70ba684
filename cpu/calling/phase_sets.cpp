#include "calling/phase_sets.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "calling/phasing.hpp"

namespace pairhmm {

namespace {

bool is_heterozygous(const SampleGenotype& genotype) {
    return genotype.ploidy == 2 && genotype.alleles.size() == 2 && genotype.alleles[0] != genotype.alleles[1];
}

}  // namespace

void phase(const std::vector<SampleSite>& sites, int sample) {
    std::vector<SampleSite> heterozygous;
    std::copy_if(sites.begin(), sites.end(), std::back_inserter(heterozygous),
                 [](const SampleSite& site) { return is_heterozygous(*site.genotype); });
    if (heterozygous.size() < 2) return;
    Phaser phaser;
    std::vector<Phaser::Assignment> places;
    std::map<int64_t, int64_t> members, start;  // by set
    for (const SampleSite& site : heterozygous) {
        places.push_back(phaser.add(*site.reads, sample, site.genotype->alleles[0], site.genotype->alleles[1]));
        ++members[places.back().set];
    }
    for (size_t i = 0; i < heterozygous.size(); ++i) {
        const auto& [set, is_swapped] = places[i];
        if (members[set] < 2) continue;
        const auto own = start.emplace(set, heterozygous[i].position).first;
        // PS is a position: of two sets that begin at one place, the second can't be told apart.
        if (std::any_of(start.begin(), own, [&](const auto& other) { return other.second == own->second; })) continue;
        SampleGenotype& genotype = *heterozygous[i].genotype;
        genotype.phased = genotype.alleles;
        if (is_swapped) std::swap(genotype.phased[0], genotype.phased[1]);
        genotype.phase_set = own->second;
    }
}

}  // namespace pairhmm
