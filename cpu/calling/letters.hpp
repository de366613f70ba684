// The two ways that bases are written: as codes, and as sets. Python's are pairhmm/sequences/letters.py.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pairhmm {

// A code: A C G T are 0 1 2 3.
constexpr uint8_t kCodeOfN = 4;
// The letter of each base's code.
constexpr char kBases[] = "ACGT";

// The code of each upper-case letter of a reference or haplotype.
struct LetterCodes {
    std::array<uint8_t, 256> code{};

    constexpr LetterCodes() {
        for (size_t i = 0; i < code.size(); ++i) code[i] = kCodeOfN;
        for (uint8_t i = 0; i < kCodeOfN; ++i) code[static_cast<uint8_t>(kBases[i])] = i;
        code['U'] = code['T'];
    }
    constexpr uint8_t operator()(char letter) const { return code[static_cast<uint8_t>(letter)]; }
};
constexpr LetterCodes code_of;

// A set has one bit a base, A C G T are 1 2 4 8; an ambiguous letter has several. N, which may be any base, has all.
constexpr uint8_t kAny = 15;

// How many bases a set has.
inline int bases_of(uint8_t set) { return (set & 1) + (set >> 1 & 1) + (set >> 2 & 1) + (set >> 3 & 1); }

// The set of the complements: A and T, C and G change places.
inline int complement_of(int set) { return (set & 1) << 3 | (set & 2) << 1 | (set & 4) >> 1 | (set & 8) >> 3; }

}  // namespace pairhmm
