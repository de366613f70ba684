// Where regions come from: the candidates that reads show, listed candidates, or a region that is known beforehand.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calling/candidate_finder.hpp"
#include "calling/candidates.hpp"
#include "calling/intervals.hpp"
#include "calling/regions.hpp"
#include "calling/unlisted_variants.hpp"

namespace pairhmm {

// The contigs of a run and their lengths, in its order.
using ContigLengths = std::vector<std::pair<std::string, int64_t>>;

// Gives regions as reads arrive, in order. `reads` are the newest ones, of `chrom`.
class RegionSource {
public:
    virtual ~RegionSource() = default;
    // The intervals whose reads are needed, in order; without a value, those of everywhere.
    virtual std::optional<std::vector<std::pair<int64_t, int64_t>>> needed(const std::string&, const Reads&) {
        return {};
    }
    // The regions that are complete once all reads up to `frontier` have arrived.
    virtual std::vector<Region> advance(const std::string& chrom, const Reads& reads, int64_t frontier) = 0;
    // The last regions of a contig whose reads have all arrived, and of contigs before it.
    virtual std::vector<Region> finish(const std::string& chrom) = 0;
    // All remaining regions, once there are no more reads.
    virtual std::vector<Region> finish_all() = 0;
    // Where the region that is not complete begins.
    virtual std::optional<int64_t> open_start() const = 0;
    // Whether the reads show the candidates, and no list has them.
    virtual bool discovers() const { return false; }
};

// Gives regions of candidates that the reads show. Each region has a requested candidate. Candidates are sought in the
// padded intervals.
class DiscoveredRegions : public RegionSource {
public:
    DiscoveredRegions(CandidateFinder finder, RegionBuilder builder, GenomeIntervals requested, GenomeIntervals padded)
        : finder_(std::move(finder)),
          builder_(std::move(builder)),
          requested_(std::move(requested)),
          padded_(std::move(padded)) {}

    std::vector<Region> advance(const std::string& chrom, const Reads& reads, int64_t frontier) override;
    std::vector<Region> finish(const std::string& chrom) override;
    // Each contig was finished after its last read.
    std::vector<Region> finish_all() override { return {}; }
    // The first base that the region which is not complete, or a later one, may need.
    std::optional<int64_t> open_start() const override;
    bool discovers() const override { return true; }

private:
    std::vector<Region> join(std::vector<Variant> variants);

    CandidateFinder finder_;
    RegionBuilder builder_;
    GenomeIntervals requested_, padded_;
};

// Gives regions of listed candidates. Unlisted variants that reads show are added as nuisances.
//
// A read with an unlisted variant near a listed one fits no haplotype of listed alleles. An unlisted variant gives it a
// haplotype, and does not change how candidates are joined.
class ListedRegions : public RegionSource {
public:
    // Gives some of the next candidates, in order of contigs, then by position; none at the end. How many come at once
    // changes nothing.
    using Next = std::function<std::vector<Variant>()>;

    ListedRegions(Next next, CandidateFinder finder, RegionBuilder builder, ReferenceBases& reference,
                  const ContigLengths& contigs, GenomeIntervals requested);

    // The reads over the extents of listed candidates, and what may lie between two of a region.
    std::optional<std::vector<std::pair<int64_t, int64_t>>> needed(const std::string& chrom,
                                                                   const Reads& reads) override;
    std::vector<Region> advance(const std::string& chrom, const Reads& reads, int64_t frontier) override;
    std::vector<Region> finish(const std::string& chrom) override;
    std::vector<Region> finish_all() override;
    // Where the first region that was not given yet begins.
    std::optional<int64_t> open_start() const override;

private:
    // A contig, by its rank in the run, and a position on it.
    using Locus = std::pair<int64_t, int64_t>;
    struct Listed {
        Locus locus;
        Variant variant;
        Extent extent;
    };

    const Listed* ahead(size_t number);
    void widen_windows(const std::string& chrom, const Reads& reads);
    void forget(int64_t settled);
    void join(const Locus& before);
    void close(std::optional<Region> region);
    void take(std::vector<Region>& regions);
    std::vector<Region> rest();

    Next next_;
    UnlistedVariants unlisted_;
    RegionBuilder builder_;
    ReferenceBases& reference_;
    GenomeIntervals requested_;
    std::map<std::string, int64_t> rank_;
    int64_t margin_;            // a region reaches no further beyond its candidates, and has no larger gap between them
    std::deque<Listed> ahead_;  // candidates that were read and not joined yet
    bool has_more_ = true;
    // Windows around candidates, the extents with the margin on either side, of one contig. Reads and unlisted variants
    // outside them are ignored. They don't overlap.
    std::vector<std::pair<int64_t, int64_t>> windows_;
    // Those whose reads are needed.
    std::vector<std::pair<int64_t, int64_t>> needed_;
    int64_t windows_rank_ = -1;
    size_t windowed_ = 0;  // candidates of ahead_ that have their windows
    // Regions whose candidates are complete, but in which later reads may show an unlisted variant.
    std::deque<Region> joined_;
};

// Gives one region that is known beforehand.
class GivenRegion : public RegionSource {
public:
    GivenRegion(Region region, const ContigLengths& contigs);

    // The region, once the reads have reached it.
    std::vector<Region> advance(const std::string& chrom, const Reads& reads, int64_t frontier) override;
    std::vector<Region> finish(const std::string& chrom) override;
    std::vector<Region> finish_all() override;
    // The region is complete from the start.
    std::optional<int64_t> open_start() const override { return {}; }

private:
    std::optional<Region> region_;
    std::map<std::string, int64_t> rank_;
};

}  // namespace pairhmm
