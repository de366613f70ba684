// The two ways that bases are written: as codes, and as sets. Python's are pairhmm/sequences/letters.py and iupac.py.
#pragma once

#include <cstdint>

namespace pairhmm {

// A code: A C G T are 0 1 2 3.
constexpr uint8_t kCodeOfN = 4;
// The letter of each base's code.
constexpr char kBases[] = "ACGT";

// The code of an upper-case letter of a reference or haplotype.
inline uint8_t code_of(char letter) {
    return letter == 'A' ? 0 : letter == 'C' ? 1 : letter == 'G' ? 2 : letter == 'T' || letter == 'U' ? 3 : kCodeOfN;
}

// A set has one bit a base, A C G T are 1 2 4 8; an ambiguous letter has several. N, which may be any base, has all.
constexpr uint8_t kAny = 15;

// How many bases a set has.
inline int bases_of(uint8_t set) { return (set & 1) + (set >> 1 & 1) + (set >> 2 & 1) + (set >> 3 & 1); }

// The set of the complements: A and T, C and G change places.
inline int complement_of(int set) { return (set & 1) << 3 | (set & 2) << 1 | (set & 4) >> 1 | (set & 8) >> 3; }

}  // namespace pairhmm
