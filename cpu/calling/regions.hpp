// Joins candidates into regions, whose haplotypes are scored together.
//
// Candidates whose extents lie close together share reads, and are scored as combinations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calling/variant.hpp"

namespace pairhmm {

// The most bases by which a flank is longer, to end outside repeats.
constexpr int64_t kRepeatReach = 100;

// How candidates are joined, in bases: `RegionOptions` in pairhmm/variants/regions.py.
struct RegionOptions {
    int64_t join_distance, max_span, max_alleles, flank, min_flank, pad;
    int64_t window = 0;

    // A region reaches no further beyond its candidates, and has no larger gap between them.
    int64_t margin() const { return std::max(join_distance, flank + kRepeatReach) + window; }
};

// An interval of a contig with the candidates in it.
struct Region {
    std::string chrom;
    int64_t core_start = 0, core_end = 0;            // the extent of the candidates, or their window; reads that
                                                     // overlap it, or whose clips do, are scored
    int64_t start = 0, end = 0;                      // reads are cut to it
    int64_t haplotype_start = 0, haplotype_end = 0;  // haplotypes span it
    std::vector<Variant> variants;                   // in order of position; none where haplotypes were given
    std::vector<Extent> extents;                     // of each candidate
    int64_t circle = 0;                              // bases of its contig, if that is circular: a region over the
                                                     // origin begins before 0, or ends behind the last base

    // Where a position lies on the contig.
    int64_t on_contig(int64_t position) const { return circle ? (position + circle) % circle : position; }
    // Where the reads that are scored lie: over the core, or over an unlisted deletion that takes some of it away.
    Extent of_reads() const;
    // What of [first, last) lies on the contig without passing its ends.
    Extent within_contig(int64_t first, int64_t last) const {
        return circle ? Extent{std::max<int64_t>(0, first), std::min(last, circle)} : Extent{first, last};
    }
    // First and last base of an interval, as names of haplotypes have them.
    std::string place(int64_t first, int64_t last) const {
        return chrom + ':' + std::to_string(on_contig(first) + 1) + '-' + std::to_string(on_contig(last - 1) + 1);
    }
};

// Joins a stream of candidates, in order of position, into regions. Which candidates share a region depends on the
// candidates alone, not on when they are pushed.
class RegionBuilder {
public:
    RegionBuilder(ReferenceBases& reference, std::map<std::string, int64_t> contig_length, RegionOptions options);

    const RegionOptions& options() const { return options_; }
    // Takes the next candidate, whose extent may be known. Gives the open region where it does not join it.
    std::optional<Region> push(Variant variant, std::optional<Extent> extent = {});
    // Gives the open region once no candidate at or after `frontier` can join it or limit its flank.
    std::optional<Region> advance(const std::string& chrom, int64_t frontier);
    // Gives the open region, if any.
    std::optional<Region> finish();
    // Where the open region's core begins.
    std::optional<int64_t> open_start() const;
    // Widens a region, but not its core, to an extent with flanks.
    void widen(Region& region, const Extent& extent) const;

private:
    Extent core_of(const Variant& variant, const Extent& extent) const;
    bool joins(const Variant& variant, const Extent& extent) const;
    Region close(std::optional<int64_t> next_start);
    Extent flanked(const std::string& chrom, const Extent& core) const;

    ReferenceBases& reference_;
    std::map<std::string, int64_t> contig_length_;
    RegionOptions options_;
    std::vector<Variant> variants_;
    std::vector<Extent> extents_;
    int64_t core_start_ = 0, core_end_ = 0, alleles_ = 0, joined_until_ = 0;
    // The region before.
    std::string previous_chrom_;
    int64_t previous_start_ = 0, previous_core_end_ = 0;
};

}  // namespace pairhmm
