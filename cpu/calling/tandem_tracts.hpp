// Tandem repeats of the reference, as `find_tracts` of pairhmm/sequences/tandem_repeats.py has those of any sequence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calling/variant.hpp"

namespace pairhmm {

struct Tract {
    int64_t start, end;  // the end may lie inside a last, incomplete copy
    int unit;            // bases of it

    int64_t copies() const { return (end - start) / unit; }
};

// The repeats that begin in [begin, end), in order, without those of N. Each is as long as it can be, and of its
// shortest unit. least_copies: by the bases of the unit, from 1 on.
std::vector<Tract> find_tracts(const std::string& chrom, int64_t begin, int64_t end,
                               const std::vector<int>& least_copies, ReferenceBases& reference);

}  // namespace pairhmm
