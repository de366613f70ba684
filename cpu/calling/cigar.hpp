// The operations of a CIGAR, as BAM numbers them: M I D N S H P = X.
#pragma once

#include <cstdint>

namespace pairhmm {

enum Operation : uint32_t { kMatch = 0, kInsert, kDelete, kSkip, kSoftClip, kHardClip, kPad, kEqual, kDiffer };

// Whether an operation aligns bases of the read with bases of the reference.
inline bool aligned(uint32_t operation) { return operation == kMatch || operation == kEqual || operation == kDiffer; }

// Whether an operation passes bases of the reference that the read lacks.
inline bool skips(uint32_t operation) { return operation == kDelete || operation == kSkip; }

// Whether an operation passes bases of the read.
inline bool reads_bases(uint32_t operation) {
    return aligned(operation) || operation == kInsert || operation == kSoftClip;
}

}  // namespace pairhmm
