// Canonical k-mers of letters, and their hashes. tests/map/sketch/permutation.py says the same in NumPy.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace pairhmm {

constexpr int kLongestKmer = 31;

// splitmix64 (Steele, Lea and Flood 2014): a bijection, so two k-mers never share a hash.
inline uint64_t hash_of(uint64_t word) {
    word += 0x9E3779B97F4A7C15u;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return word ^ (word >> 31);
}

// The two bits of a base, by its set (pairhmm/sequences/letters.py); kBreak for a set of several bases.
constexpr uint8_t kBreak = 4;
constexpr std::array<uint8_t, 16> kBitsOfSet = {4, 0, 1, 4, 2, 4, 4, 4, 3, 4, 4, 4, 4, 4, 4, 4};

// take(hash) for each k-mer of sets[count], in order: the lesser of the k-mer and its reverse complement, two bits a
// base. A k-mer holds A, C, G and T alone. Returns how many there were.
template <class Take>
int64_t each_hash(const uint8_t* sets, int64_t count, int k, Take&& take) {
    const uint64_t mask = (uint64_t{1} << (2 * k)) - 1;
    const int top = 2 * (k - 1);
    int64_t kmers = 0;
    for (int64_t at = 0; at < count;) {
        uint64_t forward = 0, reverse = 0;
        const int64_t begin = at;
        int64_t bits = 0;
        const auto roll = [&] {
            bits = kBitsOfSet[sets[at] & 15];
            if (bits == kBreak) return false;
            forward = (forward << 2 | static_cast<uint64_t>(bits)) & mask;
            reverse = reverse >> 2 | static_cast<uint64_t>(3 - bits) << top;
            ++at;
            return true;
        };
        const int64_t first = std::min(count, begin + k - 1);
        while (at < first && roll()) {
        }
        if (bits != kBreak) {
            const int64_t last = at;
            while (at < count && roll()) take(hash_of(std::min(forward, reverse)));
            kmers += at - last;
        }
        if (at < count) ++at;  // over the break
    }
    return kmers;
}

}  // namespace pairhmm
