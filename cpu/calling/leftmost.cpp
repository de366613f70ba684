#include "calling/leftmost.hpp"

#include <cstddef>

#include "calling/cigar.hpp"

namespace pairhmm {

namespace {

// Appends an operation, or makes the last one longer.
void append(std::vector<AlignedPiece>& pieces, uint32_t operation, int64_t length) {
    if (length == 0) return;
    if (!pieces.empty() && pieces.back().operation == operation) pieces.back().length += length;
    else pieces.push_back({operation, length});
}

}  // namespace

void leftmost_alignment(const Reads& reads, int64_t read, const ReferenceWindows& reference,
                        LeftmostAlignment& alignment) {
    std::vector<AlignedPiece>& done = alignment.pieces;
    done.clear();
    alignment.start = reads.start[read];
    int64_t position = alignment.start;
    const uint8_t* query = reads.base + reads.base_offset[read];
    for (int64_t c = reads.cigar_offset[read]; c < reads.cigar_offset[read + 1]; ++c) {
        const uint32_t operation = aligned(reads.cigar[c] & 15) ? kMatch : reads.cigar[c] & 15;
        const int64_t length = reads.cigar[c] >> 4;
        if (operation == kHardClip || operation == kPad) continue;
        const bool is_deletion = operation == kDelete;
        // Of the indel: its bases, where it stands, and how many aligned bases have passed behind it.
        int64_t size = length, at = position, passed = 0;
        const uint8_t* inserted = query;
        while ((is_deletion || operation == kInsert) && size > 0 && !done.empty() && done.back().operation == kMatch) {
            const size_t before = done.size() - 1;
            const bool is_first = before == 0 || (before == 1 && done[0].operation == kSoftClip);
            const bool meets_same = before > 0 && done[before - 1].operation == operation;
            // Between an indel and any other operation, one base stays.
            const int64_t most = done[before].length - (is_first || meets_same ? 0 : 1);
            const int64_t shift = gap_shift(reference, at, most, [&](int64_t shifted) {
                return is_deletion ? reference.at(at + size - 1 - shifted) : inserted[size - 1 - shifted % size];
            });
            at -= shift;
            inserted -= shift;
            passed += shift;
            done[before].length -= shift;
            if (done[before].length > 0) break;
            done.pop_back();
            if (is_first) {
                if (is_deletion) alignment.start += size;
                else append(done, kSoftClip, size);
                size = 0;
            } else {
                at -= is_deletion ? done.back().length : 0;
                inserted -= is_deletion ? 0 : done.back().length;
                size += done.back().length;
                done.pop_back();
            }
        }
        append(done, operation, size);
        append(done, kMatch, passed);
        if (aligned(operation) || skips(operation)) position += length;
        if (reads_bases(operation)) query += length;
    }
}

}  // namespace pairhmm
