#include "calling/dangling_ends.hpp"

#include <algorithm>

namespace pairhmm {

namespace {

// The least letters in common, and those at the inner end that must not be a repeat of a unit of at most so many.
constexpr int64_t kLeastOverlap = 15, kInner = 12, kLongestUnit = 6;

bool is_repeat(const uint8_t* inner) {
    for (int64_t unit = 1; unit <= kLongestUnit; ++unit)
        if (std::equal(inner + unit, inner + kInner, inner)) return true;
    return false;
}

}  // namespace

std::optional<Overlap> overlap_of(Stretch kmer, Stretch reference, bool is_last) {
    Overlap best{0, 0};
    bool is_unique = false;
    for (int64_t edge = 0; edge <= reference.length; ++edge) {
        int64_t length = 0;
        if (is_last) {
            const int64_t most = std::min(kmer.length, edge);
            while (length < most && reference.letter[edge - 1 - length] == kmer.letter[kmer.length - 1 - length])
                ++length;
        } else {
            const int64_t most = std::min(kmer.length, reference.length - edge);
            while (length < most && reference.letter[edge + length] == kmer.letter[length]) ++length;
        }
        if (length < best.length) continue;
        is_unique = length > best.length;
        best = {is_last ? edge - length : edge, length};
    }
    if (best.length < kLeastOverlap || !is_unique) return std::nullopt;
    const uint8_t* inner = reference.letter + best.place + (is_last ? 0 : best.length - kInner);
    if (is_repeat(inner)) return std::nullopt;
    return best;
}

}  // namespace pairhmm
