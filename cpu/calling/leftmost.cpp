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

// By how many bases a gap at `position` can be shifted, at most `most`. last_of(shift): its last letter, once shifted.
template <class LastOf>
int64_t gap_shift(const ReferenceWindows& reference, int64_t position, int64_t most, const LastOf& last_of) {
    int64_t shift = 0;
    for (; shift < most; ++shift) {
        const uint8_t before = reference.at(position - 1 - shift);
        if (before >= kCodeOfN || before != last_of(shift)) break;
    }
    return shift;
}

// Of a deletion of so many bases.
int64_t deletion_shift(const ReferenceWindows& reference, int64_t position, int64_t length, int64_t most) {
    return gap_shift(reference, position, most,
                     [&](int64_t shift) { return reference.at(position + length - 1 - shift); });
}

// Of an insertion of these bases before `position`.
int64_t insertion_shift(const ReferenceWindows& reference, int64_t position, const uint8_t* inserted, int64_t length,
                        int64_t most) {
    return gap_shift(reference, position, most, [&](int64_t shift) { return inserted[length - 1 - shift % length]; });
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
            const int64_t shift = is_deletion ? deletion_shift(reference, at, size, most)
                                              : insertion_shift(reference, at, inserted, size, most);
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
