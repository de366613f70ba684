#include "packing/letters.hpp"

#include <algorithm>
#include <atomic>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pairhmm {
namespace {

constexpr int64_t kLettersOfRound = 64;    // letters
constexpr int64_t kLettersEach = 1 << 18;  // letters that a thread takes at once

// Packs 64 letters to four words; returns their bits of N, whose code alone has its third bit.
#if defined(__SSE2__)
uint64_t pack_round(const uint8_t* codes, uint32_t* words) {
    const __m128i two_bits = _mm_set1_epi8(3), nibble = _mm_set1_epi16(0x0f), byte = _mm_set1_epi16(0xff);
    __m128i pairs[4];
    uint64_t unknown = 0;
    for (int i = 0; i < 4; ++i) {
        const __m128i letters = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes) + i);
        unknown |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(_mm_slli_epi16(letters, 5))))
                   << 16 * i;
        const __m128i bases = _mm_and_si128(letters, two_bits);
        pairs[i] = _mm_and_si128(_mm_or_si128(bases, _mm_srli_epi16(bases, 6)), nibble);
    }
    __m128i fours[2];
    for (int i = 0; i < 2; ++i) {
        const __m128i nibbles = _mm_packus_epi16(pairs[2 * i], pairs[2 * i + 1]);
        fours[i] = _mm_and_si128(_mm_or_si128(nibbles, _mm_srli_epi16(nibbles, 4)), byte);
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words), _mm_packus_epi16(fours[0], fours[1]));
    return unknown;
}
#else
uint64_t pack_round(const uint8_t* codes, uint32_t* words) {
    uint64_t unknown = 0;
    for (int w = 0; w < 4; ++w) {
        uint32_t word = 0;
        for (int i = 0; i < 16; ++i) {
            word |= static_cast<uint32_t>(codes[16 * w + i] & 3) << 2 * i;
            unknown |= static_cast<uint64_t>(codes[16 * w + i] >> 2 & 1) << (16 * w + i);
        }
        words[w] = word;
    }
    return unknown;
}
#endif

}  // namespace

bool pack_two_bits(const uint8_t* codes, int64_t count, uint32_t* words, uint32_t* unknown, Team& team) {
    // Most sequences have no N: its bits are written in a second pass, so that the first one has less to write.
    std::atomic<bool> is_any{false};
    team.run(count, kLettersEach, team.size(), [&](int64_t first, int64_t end) {
        uint64_t any = 0;
        for (; end - first >= kLettersOfRound; first += kLettersOfRound)
            any |= pack_round(codes + first, words + first / 16);
        if (first < end) {
            uint8_t last[kLettersOfRound] = {};
            uint32_t last_words[kLettersOfRound / 16];
            std::copy(codes + first, codes + end, last);
            any |= pack_round(last, last_words);
            std::copy(last_words, last_words + (end - first + 15) / 16, words + first / 16);
        }
        if (any) is_any = true;
    });
    if (!is_any) return false;
    team.run((count + 31) / 32, kLettersEach / 32, team.size(), [&](int64_t first, int64_t end) {
        for (int64_t w = first; w < end; ++w) {
            uint32_t bits = 0;
            const int64_t letters = std::min<int64_t>(32, count - 32 * w);
            for (int64_t i = 0; i < letters; ++i) bits |= static_cast<uint32_t>(codes[32 * w + i] >> 2 & 1) << i;
            unknown[w] = bits;
        }
    });
    return true;
}

void pack_four_bits(const uint8_t* codes, int64_t count, uint32_t* words, Team& team) {
    team.run((count + 7) / 8, kLettersEach / 8, team.size(), [&](int64_t first, int64_t end) {
        for (int64_t w = first; w < end; ++w) {
            uint32_t word = 0;
            const int64_t letters = std::min<int64_t>(8, count - 8 * w);
            for (int64_t i = 0; i < letters; ++i) word |= static_cast<uint32_t>(codes[8 * w + i]) << 4 * i;
            words[w] = word;
        }
    });
}

}  // namespace pairhmm
