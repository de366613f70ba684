// The molecules that cut reads are from.
#pragma once

#include <cstdint>
#include <vector>

#include "calling/joining.hpp"

namespace pairhmm {

// Numbers of fragments and families are those of the first read of the same one.
class Molecules {
public:
    explicit Molecules(const CutReads& cut);

    // The reads by fragment, and within it by family.
    std::vector<int64_t> order() const;

    std::vector<int64_t> fragment, family;
    std::vector<uint8_t> end;   // that each was read from, 0 to 2: its strand, or the mate's number without a molecule
    std::vector<int64_t> base;  // where the bases of each read begin, and where the last ones end

private:
    void number(const CutReads& cut, int64_t begin, int64_t stop);
};

}  // namespace pairhmm
