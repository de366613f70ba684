// The scan's inner loops for an instruction set, as a `ScanLevel`.
//
// Method. Two ways to search a tile of kTile positions; scan/scanner.cpp chooses:
//
// * look_up makes the base-5 code of the letters at each position and looks it up in the index of anchors
//   (scan/index.hpp): in a bitmap first, which stays in a cache, and in a table only where the bitmap says so. The
//   kExtension letters behind an anchor are compared before the place is reported.
// * filter is bit-sliced. make_planes makes four planes of bits, `may be A` to `may be T`, each in kShifts copies that
//   are shifted by one bit more. A column of a pattern selects planes, and one AND takes as many positions as a vector
//   has bits. Mismatches are counted in unary, one vector for each number.
//
// find_seeds is for tiles (scan/tiles.hpp): it looks up the seed at each position, and compares the letters around it
// with those around each seed of the index, two bits a letter and a word a seed.
//
// Versions, single thread of an AMD EPYC with AVX-512, 1,000 signatures of 3,000 to 10,000 bases, both strands, against
// 162 Mbp, a tenth of all letters N on both sides (benchmarks/scan.py):
//
//   brute force, every pattern at every position    1,329 s, scaled from a slice; 4.1 ns a base and pattern
//   this file, anchors looked up                    0.374 s
//   the same samples, 10,000 signatures             1.182 s, where 1,000 took 0.474 s in the same run
//
// Limits. Ns list more anchors: a base takes 2 ns at an N ratio of 0.1, some 20 ns at 0.3 and 150 ns at 0.5. The filter
// counts up to kMostCounted mismatches; where more are allowed it passes every position.

#include <cstring>

#include "scan/level.hpp"
#include "simd/level.hpp"

namespace pairhmm {
namespace PAIRHMM_LEVEL {

constexpr int kVectorBits = PAIRHMM_VECTOR * 8;
constexpr uint64_t kHighBits = 0x8080808080808080, kLowSeven = 0x7f7f7f7f7f7f7f7f;

// Bits of many positions. Aligned as a byte is: a column's bits begin at any of them.
typedef uint64_t Bits __attribute__((vector_size(PAIRHMM_VECTOR), aligned(1), may_alias));

inline uint64_t load_word(const uint8_t* from) {
    uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

// The high bit of each of eight letters that has no base in common with the one beside it.
inline uint64_t differing(uint64_t letters, uint64_t others) { return ~((letters & others) + kLowSeven) & kHighBits; }

// The base-5 digit of a letter: A C G T are 0 1 2 3; N, and what is looked up as N, is 4. It is written as arithmetic,
// since a choice would become a branch, which Ns make hard to predict.
inline uint8_t digit(uint8_t letter) {
    return static_cast<uint8_t>(4 - 4 * (letter == 1) - 3 * (letter == 2) - 2 * (letter == 4) - (letter == 8));
}

// The base-5 code of the letters at each position. Codes of two letters are made from single digits, codes of four from
// two, and so on: unlike with a rolling code, no position waits for the one before it.
inline void make_codes(const TileLetters& tile, int bases, uint32_t* codes) {
    constexpr int kLetters = kTile + 16;
    uint8_t one[kLetters], two[kLetters];
    uint16_t four[kLetters];
    for (int i = 0; i < kLetters; ++i) one[i] = digit(tile.letter[i]);
    for (int i = 0; i < kLetters - 1; ++i) two[i] = static_cast<uint8_t>(5 * one[i] + one[i + 1]);
    for (int i = 0; i < kLetters - 3; ++i) four[i] = static_cast<uint16_t>(25 * two[i] + two[i + 2]);
    for (int i = 0; i < kTile; ++i) codes[i] = 625u * four[i] + four[i + 4];
    if (bases == kFewBases) {
        for (int i = 0; i < kTile; ++i) codes[i] = 5u * codes[i] + one[i + 8];
    } else {
        for (int i = 0; i < kTile; ++i) codes[i] = 25u * codes[i] + two[i + 8];
    }
}

inline bool look_up(const TileLetters& tile, const IndexView& index, int64_t max_mismatches, int64_t most,
                    const Found& found) {
    uint32_t codes[kTile];
    uint16_t position[kTile + 1];
    make_codes(tile, index.bases, codes);
    int count = 0;
    for (int i = 0; i < tile.count; ++i) {
        const uint32_t code = codes[i];
        position[count] = static_cast<uint16_t>(i);
        count += static_cast<int>(index.known[code >> 6] >> (code & 63) & 1);
    }
    // Several passes over the few positions that are left: each prefetches what the next one reads.
    for (int k = 0; k < count; ++k) __builtin_prefetch(index.first + codes[position[k]]);
    int64_t listed = 0;
    for (int k = 0; k < count; ++k) {
        const uint32_t* first = index.first + codes[position[k]];
        listed += first[1] - first[0];
        __builtin_prefetch(index.anchor + first[0]);
    }
    if (listed > most) return false;
    for (int k = 0; k < count; ++k) {
        const int at = position[k];
        const uint64_t near = load_word(tile.letter + at + index.bases);
        const uint64_t far = load_word(tile.letter + at + index.bases + 8);
        const uint32_t* first = index.first + codes[at];
        for (uint32_t i = first[0]; i < first[1]; ++i) {
            const uint32_t anchor = index.anchor[i];
            const uint64_t* extension = index.extension + size_t{anchor} * (kExtension / 8);
            const uint64_t differs = differing(near, extension[0]), differs_too = differing(far, extension[1]);
            if ((differs | differs_too) == 0 ||
                (max_mismatches > 0 &&
                 __builtin_popcountll(differs) + __builtin_popcountll(differs_too) <= max_mismatches)) {
                found.tell(found.context, anchor, at);
            }
        }
    }
    return true;
}

// Bit 0 of each of eight bytes, gathered into one byte, the first one lowest.
inline uint8_t gather_bits(uint64_t bytes) {
    return static_cast<uint8_t>((bytes & 0x0101010101010101) * 0x0102040810204080 >> 56);
}

inline void make_planes(const TileLetters& tile, BitPlanes& planes) {
    constexpr int kBytes = (kTile + kReach) / 8;
    for (int base = 0; base < 4; ++base) {
        uint8_t* plain = planes.plane[base][0];
        for (int i = 0; i < kBytes; ++i) plain[i] = gather_bits(load_word(tile.letter + 8 * i) >> base);
        std::memset(plain + kBytes, 0xff, kPlaneBytes - kBytes);
        for (int shift = 1; shift < kShifts; ++shift) {
            uint8_t* shifted = planes.plane[base][shift];
            for (int i = 0; i < kPlaneBytes - 1; ++i)
                shifted[i] = static_cast<uint8_t>(plain[i] >> shift | plain[i + 1] << (8 - shift));
            shifted[kPlaneBytes - 1] = 0xff;
        }
    }
}

// Whether any bit is set. Compilers would take the vector apart for this, which would be most of a filter's time.
inline bool any(const Bits& bits) {
#if PAIRHMM_VECTOR == 64 && defined(__AVX512F__)
    return _mm512_test_epi64_mask((__m512i)bits, (__m512i)bits) != 0;
#elif PAIRHMM_VECTOR == 32 && defined(__AVX2__)
    return _mm256_testz_si256((__m256i)bits, (__m256i)bits) == 0;
#elif PAIRHMM_VECTOR == 16 && defined(__SSE4_1__)
    return _mm_testz_si128((__m128i)bits, (__m128i)bits) == 0;
#else
    uint64_t all = 0;
    for (int i = 0; i < PAIRHMM_VECTOR / 8; ++i) all |= bits[i];
    return all != 0;
#endif
}

inline Bits column_bits(const uint8_t* at, const FilterColumn& column) {
    Bits bits = *reinterpret_cast<const Bits*>(at + column.offset[0]);
    for (int i = 1; i < column.planes; ++i) bits |= *reinterpret_cast<const Bits*>(at + column.offset[i]);
    return bits;
}

inline Bits matching(const uint8_t* at, const FilterColumn* columns, int64_t count) {
    constexpr int64_t kUnlooked = 3;  // columns between two looks at whether anything is left
    Bits left = ~Bits{};
    for (int64_t i = 0; i < count;) {
        for (const int64_t end = i + kUnlooked < count ? i + kUnlooked : count; i < end; ++i)
            left &= column_bits(at, columns[i]);
        if (!any(left)) break;
    }
    return left;
}

// Counters in unary: bit p of over[m] is whether position p has more than m mismatches.
inline Bits matching_but(const uint8_t* at, const FilterColumn* columns, int64_t count, int64_t max_mismatches) {
    Bits over[kMostCounted + 1] = {};
    for (int64_t i = 0; i < count; ++i) {
        const Bits differs = ~column_bits(at, columns[i]);
        for (int64_t m = max_mismatches; m > 0; --m) over[m] |= over[m - 1] & differs;
        over[0] |= differs;
        if (i >= max_mismatches && !any(~over[max_mismatches])) break;
    }
    return ~over[max_mismatches];
}

inline void filter(const BitPlanes& planes, int count, const FilterColumn* columns, int64_t column_count,
                   int64_t max_mismatches, uint32_t anchor, const Found& found) {
    const uint8_t* bytes = planes.plane[0][0];
    for (int first = 0; first < count; first += kVectorBits) {
        const Bits left = max_mismatches == 0 ? matching(bytes + first / 8, columns, column_count)
                                              : matching_but(bytes + first / 8, columns, column_count, max_mismatches);
        if (!any(left)) continue;
        for (int word = 0; word < PAIRHMM_VECTOR / 8; ++word) {
            for (uint64_t bits = left[word]; bits != 0; bits &= bits - 1) {
                const int position = first + 64 * word + __builtin_ctzll(bits);
                if (position < count) found.tell(found.context, anchor, position);
            }
        }
    }
}

constexpr int kAnyMismatches = -1;  // a template argument: as many as the seeds' view says

// Contexts of several seeds.
typedef uint64_t Contexts __attribute__((vector_size(PAIRHMM_VECTOR), aligned(1), may_alias));

// A bit for each context that is zero, the first one lowest.
inline uint32_t zero_contexts(const Contexts& contexts) {
#if PAIRHMM_VECTOR == 64 && defined(__AVX512F__)
    return _mm512_testn_epi64_mask((__m512i)contexts, (__m512i)contexts);
#elif PAIRHMM_VECTOR == 32 && defined(__AVX2__)
    const __m256i zero = _mm256_cmpeq_epi64((__m256i)contexts, _mm256_setzero_si256());
    return static_cast<uint32_t>(_mm256_movemask_pd((__m256d)zero));
#elif PAIRHMM_VECTOR == 16 && defined(__SSE4_1__)
    return static_cast<uint32_t>(_mm_movemask_pd((__m128d)_mm_cmpeq_epi64((__m128i)contexts, _mm_setzero_si128())));
#else
    uint32_t zero = 0;
    for (int i = 0; i < PAIRHMM_VECTOR / 8; ++i) zero |= static_cast<uint32_t>(contexts[i] == 0) << i;
    return zero;
#endif
}

// Whether the letters of one of the masks have few enough mismatches. It looks at all masks: few seeds pass any, so
// that the answer is easy to predict where a way out after each mask is not.
inline bool passes_a_mask(uint64_t differing, const SeedView& seeds) {
    bool passes = false;
    for (int m = 0; m < seeds.masks; ++m)
        passes |= __builtin_popcountll(differing & seeds.mask[m]) <= seeds.max_mismatches;
    return passes;
}

// Reports the seeds first to end - 1 whose contexts pass. As many are compared at once as a vector has words.
template <int kMismatches>
inline void compare_contexts(const PackedLetters& letters, int position, uint32_t first, uint32_t end,
                             const SeedView& seeds, const Found& found) {
    constexpr uint32_t kSeeds = PAIRHMM_VECTOR / 8;
    const int most = kMismatches == kAnyMismatches ? seeds.max_mismatches : kMismatches;
    const uint64_t here = context_at(letters.word, position - seeds.before);
    uint64_t plain = kLowBitOfLetters;
    if (letters.is_plain != nullptr) plain = context_at(letters.is_plain, position - seeds.before);
    for (uint32_t i = first; i < end; i += kSeeds) {
        const Contexts bits = *reinterpret_cast<const Contexts*>(seeds.context + i) ^ here;
        const Contexts differing = bits | bits >> 1;
        uint32_t passing = 0;
        for (const uint64_t mask : seeds.side_mask) {
            Contexts left = differing & (mask & plain);
            for (int k = 0; k < most; ++k) left &= left - 1;  // takes the lowest bit away
            passing |= zero_contexts(left);
        }
        if (end - i < kSeeds) passing &= (1u << (end - i)) - 1;
        for (; passing != 0; passing &= passing - 1) {
            const auto at = static_cast<uint32_t>(__builtin_ctz(passing));
            if (passes_a_mask(differing[at] & plain, seeds)) found.tell(found.context, i + at, position);
        }
    }
}

template <int kMismatches>
inline void find_seeds_but(const PackedLetters& letters, int count, const SeedView& seeds, const Found& found) {
    constexpr int kAtOnce = 256;
    for (int begin = 0; begin < count; begin += kAtOnce) {
        const int there = begin + kAtOnce < count ? kAtOnce : count - begin;
        uint32_t keys[kAtOnce];
        uint16_t position[kAtOnce + 1];
        for (int i = 0; i < there; ++i) keys[i] = seed_key(letters.word[begin + i], seeds.letters);
        int known = 0;
        for (int i = 0; i < there; ++i) {
            const uint32_t bit = keys[i] >> seeds.known_shift;
            position[known] = static_cast<uint16_t>(i);
            known += static_cast<int>(seeds.known[bit >> 6] >> (bit & 63) & 1);
        }
        // Each pass prefetches what the next one reads.
        for (int k = 0; k < known; ++k) __builtin_prefetch(seeds.first + (keys[position[k]] >> seeds.bucket_shift));
        for (int k = 0; k < known; ++k) {
            const uint32_t* first = seeds.first + (keys[position[k]] >> seeds.bucket_shift);
            __builtin_prefetch(seeds.context + first[0]);
            __builtin_prefetch(seeds.context + first[1]);
        }
        for (int k = 0; k < known; ++k) {
            const uint32_t* first = seeds.first + (keys[position[k]] >> seeds.bucket_shift);
            compare_contexts<kMismatches>(letters, begin + position[k], first[0], first[1], seeds, found);
        }
    }
}

inline void find_seeds(const PackedLetters& letters, int count, const SeedView& seeds, const Found& found) {
    switch (seeds.max_mismatches) {
        case 0: return find_seeds_but<0>(letters, count, seeds, found);
        case 1: return find_seeds_but<1>(letters, count, seeds, found);
        case 2: return find_seeds_but<2>(letters, count, seeds, found);
        case 3: return find_seeds_but<3>(letters, count, seeds, found);
        default: return find_seeds_but<kAnyMismatches>(letters, count, seeds, found);
    }
}

}  // namespace PAIRHMM_LEVEL

const ScanLevel* PAIRHMM_JOIN(scan_level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL;
    static const ScanLevel level{look_up, make_planes, filter, find_seeds};
    return &level;
}

}  // namespace pairhmm
