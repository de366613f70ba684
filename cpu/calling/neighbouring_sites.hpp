// Sites of a region that depend on each other: spanning deletions, neighbouring SNVs as one MNV, and an SNV with an
// insertion or deletion behind its base as one site.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "calling/sites.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

// A site of a region: its variant, the allele of each haplotype, and the alternative alleles that samples have.
struct CalledVariant {
    const Variant& variant;
    const std::vector<int64_t>& allele_of;
    std::set<int> called;
};

// Called deletions that take a site away.
struct SpanningDeletions {
    std::set<size_t> sites;       // those that they are alleles of
    std::set<size_t> haplotypes;  // those that have one
};

// Those over a site.
SpanningDeletions deletions_over(size_t site, const std::vector<CalledVariant>& sites);

// The runs [first, last) of two SNVs or more at neighbouring positions, longer runs before the ones within them.
std::vector<std::pair<size_t, size_t>> snv_runs(const std::vector<const Variant*>& variants);

// Neighbouring SNVs as one variant, whose alternative alleles are what the haplotypes have.
struct JoinedSnvs {
    Variant variant;
    std::vector<int64_t> allele_of;  // [haplotypes]; -1 for one that has none of the alleles of some SNV
    std::set<int> changed;           // the alleles that differ from the reference at every base
};

// allele_of: [variants][haplotypes]
JoinedSnvs join_snvs(const std::vector<const Variant*>& variants,
                     const std::vector<const std::vector<int64_t>*>& allele_of);

// The alleles of each chromosome at an SNV and at an insertion or deletion behind its base.
using AllelePairs = std::vector<std::pair<int, int>>;

// Those that two genotypes of a sample allow: one, or two where phase does not tell which alleles lie together.
std::vector<AllelePairs> possible_pairs(const SampleGenotype& snv, const SampleGenotype& indel);

// Both sites as one variant, whose alternative alleles are those of some pairs.
struct JoinedSites {
    Variant variant;
    std::vector<int64_t> allele_of;  // [haplotypes]; -1 for one with another pair
    std::vector<int> alleles;        // [pairs]
};

JoinedSites join_sites(const CalledVariant& snv, const CalledVariant& indel, const AllelePairs& pairs);

}  // namespace pairhmm
