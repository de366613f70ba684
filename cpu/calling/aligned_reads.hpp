// All that a run knows of aligned reads of one contig, in order of start: what walks alignments needs less (Reads).
#pragma once

#include <cstdint>
#include <string_view>

#include "calling/candidates.hpp"

namespace pairhmm {

struct AlignedReads {
    Reads reads;
    const int64_t* end;    // [count] one behind the last reference base
    const uint16_t* flag;  // [count] SAM flags
    const uint8_t* mapq;   // [count]
    const char* names;     // end to end
    const int64_t* name_end;
    const uint8_t* insertion = nullptr;  // qualities of the reads' own, as long as their bases; null where none has any
    const uint8_t* deletion = nullptr;

    std::string_view name(int64_t read) const { return text_part(names, name_end, read); }
    // Bases before the read was cut.
    int64_t length(int64_t read) const { return reads.base_offset[read + 1] - reads.base_offset[read]; }
};

}  // namespace pairhmm
