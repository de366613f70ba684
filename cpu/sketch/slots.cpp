#include "sketch/slots.hpp"

#include <algorithm>
#include <cstddef>

#include "sketch/kmers.hpp"
#include "sketch/sketcher.hpp"

namespace pairhmm {

std::vector<uint64_t> dense_slots(const std::vector<uint64_t>& minima, int64_t slots) {
    const int64_t neighbours = kFineSlots / slots;
    std::vector<uint64_t> folded(static_cast<size_t>(slots));
    for (int64_t slot = 0; slot < slots; ++slot) {
        const auto first = minima.begin() + slot * neighbours;
        folded[static_cast<size_t>(slot)] = *std::min_element(first, first + neighbours);
    }
    std::vector<uint64_t> dense = folded;
    for (uint64_t slot = 0; slot < dense.size(); ++slot) {
        for (uint64_t attempt = 1; dense[slot] == kNoValue; ++attempt) {
            dense[slot] = folded[hash_of(slot << 32 | attempt) % folded.size()];
        }
    }
    return dense;
}

std::vector<uint64_t> bit_planes(const std::vector<uint64_t>& values, int bits) {
    const size_t words = values.size() / 64;
    std::vector<uint64_t> planes(static_cast<size_t>(bits) * words);
    for (size_t slot = 0; slot < values.size(); ++slot) {
        for (size_t bit = 0; bit < static_cast<size_t>(bits); ++bit) {
            planes[bit * words + slot / 64] |= (values[slot] >> bit & 1) << (slot % 64);
        }
    }
    return planes;
}

}  // namespace pairhmm
