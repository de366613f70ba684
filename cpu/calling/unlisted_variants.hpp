// Unlisted variants, which reads show near listed candidates: the nuisances of their regions.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "calling/candidate_finder.hpp"
#include "calling/regions.hpp"

namespace pairhmm {

// Collects the variants that the reads of a contig show, and adds them to regions of listed candidates.
class UnlistedVariants {
public:
    UnlistedVariants(CandidateFinder finder, ReferenceBases& reference)
        : finder_(std::move(finder)), reference_(reference) {}

    // All variants that the reads of the contig show before this position are known.
    int64_t settled() const { return finder_.settled(); }
    // Finds variants in the next reads, as CandidateFinder::scan does.
    void scan(const std::string& chrom, const Reads& reads, const std::vector<std::pair<int64_t, int64_t>>& places);
    // Finds the last variants: the contig has no more reads.
    void finish();
    // Drops the variants before a position, which no later region needs.
    void forget(int64_t position);
    // Adds the unlisted variants that lie in a region, and the deletions that take a part of its core away. The region
    // is widened to these.
    void add_to(Region& region, const RegionBuilder& builder);

private:
    // The position of an allele, the bases that it replaces, and its own, shifted left: equal alleles have equal
    // changes.
    using Change = std::tuple<int64_t, std::string, std::string>;

    std::deque<Variant>::iterator from(int64_t position);
    Change change(const Variant& variant, const std::string& alt);
    std::set<Change> changes(const std::vector<Variant>& variants);

    CandidateFinder finder_;
    ReferenceBases& reference_;
    std::deque<Variant> shown_;  // in order of position
};

}  // namespace pairhmm
