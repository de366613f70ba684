// Where regions come from: the candidates that reads show, listed candidates, or a region that is known beforehand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calling/candidates.hpp"
#include "calling/regions.hpp"

namespace pairhmm {

// Gives regions as reads arrive, in order. `reads` are the newest ones, of `chrom`.
class RegionSource {
public:
    virtual ~RegionSource() = default;
    // The intervals whose reads are needed, in order; none stands for everywhere.
    virtual std::vector<std::pair<int64_t, int64_t>> needed(const std::string& chrom, const Reads& reads) = 0;
    // The regions that are complete once all reads up to `frontier` have arrived.
    virtual std::vector<Region> advance(const std::string& chrom, const Reads& reads, int64_t frontier) = 0;
    // The last regions of a contig whose reads have all arrived, and of contigs before it.
    virtual std::vector<Region> finish(const std::string& chrom) = 0;
    // All remaining regions, once there are no more reads.
    virtual std::vector<Region> finish_all() = 0;
    // Where the region that is not complete begins.
    virtual std::optional<int64_t> open_start() const = 0;
};

}  // namespace pairhmm
