// Sites of a region that depend on each other: spanning deletions, and neighbouring SNVs as one MNV.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "calling/variant.hpp"

namespace pairhmm {

// The allele of a chromosome on which a deletion that begins further ahead takes a site away (VCF 4.3).
constexpr const char* kSpannedAllele = "*";

// A site of a region: its variant, the allele of each haplotype, and the alternative alleles that samples have.
struct CalledVariant {
    const Variant& variant;
    const std::vector<int64_t>& allele_of;
    std::set<int> called;
};

// The haplotypes on which a called deletion of another site takes a site away.
std::set<size_t> spanned_haplotypes(size_t site, const std::vector<CalledVariant>& sites);

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

}  // namespace pairhmm
