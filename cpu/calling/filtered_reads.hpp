// Reads that fit no haplotype, and reads that share their name, counted over regions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "calling/scored_region.hpp"

namespace pairhmm {

struct FilteredReads {
    int64_t reads = 0, set_aside = 0;  // that were scored, and those of them that fit no haplotype
    int64_t bases = 0;                 // of those that fit none
    int64_t sites = 0, emptied = 0;    // that reads cover, and those at which a sample has no read left
    std::optional<std::pair<std::string, int32_t>> first_emptied;  // the first of these, and the sample
    int64_t namesakes = 0;  // reads over a base of another read of their sample, of the same name and mate
    std::string first_namesake;

    void add(const ScoredRegion& region);

private:
    void add_namesakes(const ScoredRegion& region);
};

}  // namespace pairhmm
