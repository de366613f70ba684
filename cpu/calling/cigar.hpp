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

// Calls visit(operation, query, position, length) for each operation of a read, with where it begins.
template <class Reads, class Visit>
void each_operation(const Reads& reads, int64_t read, const Visit& visit) {
    int64_t position = reads.start[read], query = 0;
    for (int64_t c = reads.cigar_offset[read]; c < reads.cigar_offset[read + 1]; ++c) {
        const uint32_t operation = reads.cigar[c] & 15;
        const int64_t length = reads.cigar[c] >> 4;
        visit(operation, query, position, length);
        if (aligned(operation) || skips(operation)) position += length;
        if (reads_bases(operation)) query += length;
    }
}

// Calls visit(query, position, length) for each run of bases that a read aligns to the reference.
template <class Reads, class Visit>
void each_aligned(const Reads& reads, int64_t read, const Visit& visit) {
    each_operation(reads, read, [&](uint32_t operation, int64_t query, int64_t position, int64_t length) {
        if (aligned(operation)) visit(query, position, length);
    });
}

}  // namespace pairhmm
