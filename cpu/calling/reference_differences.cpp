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
    const uint8_t* bases = reads.base + reads.base_offset[read];
    ReferenceDifferences counts;
    each_aligned(reads, read, [&](int64_t query, int64_t position, int64_t length) {
        const int64_t at = position - reads.start[read];
        if (at < end) compare(bases + query, letters.data() + at, std::min(length, end - at), counts);
    });
    return counts;
}

}  // namespace pairhmm
