#include "calling/reference_differences.hpp"

#include <algorithm>

#include "calling/cigar.hpp"
#include "calling/letters.hpp"

namespace pairhmm {
namespace {

void compare(const uint8_t* bases, const char* letters, int64_t length, ReferenceDifferences& counts) {
    for (int64_t i = 0; i < length; ++i) {
        const uint8_t expected = code_of(letters[i]);
        const bool is_compared = bases[i] < kCodeOfN && expected < kCodeOfN;
        counts.compared += is_compared;
        counts.differing += is_compared && bases[i] != expected;
    }
}

}  // namespace

ReferenceDifferences reference_differences(const std::string& chrom, const Reads& reads, int64_t read,
                                           ReferenceBases& reference) {
    const std::string letters = reference.fetch(chrom, reads.start[read], read_end(reads, read));
    const auto end = static_cast<int64_t>(letters.size());
    ReferenceDifferences counts;
    int64_t base = reads.base_offset[read], at = 0;
    for (int64_t i = reads.cigar_offset[read]; i < reads.cigar_offset[read + 1]; ++i) {
        const uint32_t operation = reads.cigar[i] & 15;
        const int64_t length = reads.cigar[i] >> 4;
        if (aligned(operation) && at < end)
            compare(reads.base + base, letters.data() + at, std::min(length, end - at), counts);
        if (reads_bases(operation)) base += length;
        if (aligned(operation) || skips(operation)) at += length;
    }
    return counts;
}

}  // namespace pairhmm
