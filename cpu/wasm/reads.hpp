// Reads and parts of the reference as JavaScript passes them (web/src/genomics/blocks.js).
#pragma once

#include <cstdint>
#include <vector>

#include "calling/candidates.hpp"
#include "wasm/arrays.hpp"

namespace pairhmm {

struct GivenReads {
    uint32_t count;
    const int32_t* start;
    const int32_t* sample;
    const uint32_t* base_offset;
    const uint8_t* base;
    const uint8_t* quality;
    const uint32_t* cigar_offset;
    const uint32_t* cigar;
};

struct OwnReads {
    explicit OwnReads(const GivenReads& given)
        : start(widened(given.start, given.count)),
          base_offset(widened(given.base_offset, int64_t{given.count} + 1)),
          cigar_offset(widened(given.cigar_offset, int64_t{given.count} + 1)),
          reads{given.count, start.data(),  given.sample,        base_offset.data(),
                given.base,  given.quality, cigar_offset.data(), given.cigar} {}

    std::vector<int64_t> start, base_offset, cigar_offset;
    Reads reads;
};

// start: [windows]; offset: [windows + 1] where each window's letters begin.
inline ReferenceWindows reference_windows(uint32_t windows, const int32_t* start, const uint32_t* offset,
                                          const uint8_t* letters) {
    ReferenceWindows reference;
    for (uint32_t i = 0; i < windows; ++i) {
        reference.windows.push_back({start[i], int64_t{offset[i + 1]} - offset[i], letters + offset[i]});
    }
    return reference;
}

}  // namespace pairhmm
