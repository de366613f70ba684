// How much reads differ from the reference that they are said to be aligned to.
#pragma once

#include <cstdint>
#include <string>

#include "calling/candidates.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

// Aligned bases of a read that are no N, nor is the reference there: how many, and how many of them differ.
struct ReferenceDifferences {
    int64_t compared = 0, differing = 0;
};

ReferenceDifferences reference_differences(const std::string& chrom, const Reads& reads, int64_t read,
                                           ReferenceBases& reference);

}  // namespace pairhmm
