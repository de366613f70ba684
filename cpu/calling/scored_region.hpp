// A scored region: its haplotypes, its reads, and the likelihood of each read given each haplotype.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calling/haplotypes.hpp"
#include "calling/neighbours.hpp"
#include "calling/regions.hpp"

namespace pairhmm {

// `Evidence` in pairhmm/calling/scored_region.py. Where reads were joined, a read is a profile.
struct ScoredRegion {
    Region region;
    std::vector<Haplotype> haplotypes;  // the reference first, unless they were given
    std::string names;                  // end to end
    std::vector<int64_t> name_end;      // [reads]
    std::vector<int32_t> sample;        // [reads]
    std::vector<uint16_t> flag;         // [reads] SAM flags
    std::vector<uint8_t> mapq;          // [reads]
    std::vector<int64_t> start, end;    // [reads] where each is aligned
    std::vector<int64_t> length;        // [reads] bases before it was cut
    std::vector<int32_t> from_end;      // [reads][candidates] bases to the nearer end of the read, or -1
    std::vector<double> log10;          // [reads][haplotypes] P(read | haplotype)
    std::vector<uint8_t> precision;     // [reads][haplotypes] index into PRECISIONS (pairhmm/models/batch.py)
    std::vector<uint8_t> set_aside;     // [reads] 1: it fits no haplotype; genotypes are made without it
    std::vector<uint8_t> unfit;         // the same, where genotypes use some of them all the same; empty: as set_aside
    std::vector<int64_t> members;       // [reads] where reads were joined: the number of reads of each profile
    std::vector<Extent> with_unlisted;  // [candidates] with the unlisted deletions over each; empty: there are none
    std::vector<int64_t> fragment;      // [reads] profiles, or reads, of one molecule have the same number
    std::optional<Mismatches> neighbours;  // of the reads' fragments; none where not all reads are at hand

    int64_t reads() const { return static_cast<int64_t>(sample.size()); }
    std::string_view name(int64_t read) const {
        const int64_t begin = read ? name_end[read - 1] : 0;
        return std::string_view(names).substr(begin, name_end[read] - begin);
    }
    // Whether a read fits no haplotype. Genotypes may use it all the same.
    bool is_unfit(int64_t read) const { return unfit.empty() ? set_aside[read] : unfit[read]; }
    bool is_over(int64_t read, const Extent& extent) const { return overlap({start[read], end[read]}, extent); }
};

// Reads of one name have the same number: that of the first of them.
void number_fragments(ScoredRegion& region);

// Adds the reads of another part of the same region.
void add_reads(ScoredRegion& region, ScoredRegion&& part);

// Moves a region of a circular contig of so many bases from its second turn to the contig.
void turn_back(ScoredRegion& region, int64_t length);

// The scored region without haplotypes of unlisted variants. The reads that are set aside stay the same.
ScoredRegion without_unlisted(const ScoredRegion& region);

// The share of a sample's reads over a site from which on the reads set aside are used all the same: over a listed
// site, and over one that was discovered.
//
// One chromosome of two has a larger share of the reads. Errors of mapping have a smaller one. A list lacks variants
// that discovery finds: what discovery lacks is rarer than reads with many errors, as in long runs.
constexpr double kManySetAside = 0.2, kManyOfDiscovered = 0.4;

// A scored region of listed candidates, for genotypes.
//
// A haplotype with unlisted alleles is the context of listed ones: it has the alleles of those sites that its unlisted
// ones leave as they are, and kUnlistedAllele at the others. Reads that fit no haplotype are set aside as errors of
// mapping, unless they are many. Many such reads come from a chromosome with a variant that neither the list nor any
// alignment shows. Without them, the other chromosome would be called twice.
ScoredRegion on_listed_alleles(const ScoredRegion& region);

// A scored region of discovered candidates, where reads that fit no haplotype are used all the same if they are many.
ScoredRegion with_many_unfit(ScoredRegion region);

}  // namespace pairhmm
