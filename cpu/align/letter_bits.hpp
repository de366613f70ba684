// Letters as bits: plane p of a word has bit p of the codes of 64 letters, the first letter lowest.

constexpr int kPlanes = 3;

struct LetterWord {
    uint64_t plane[kPlanes];
};

inline LetterWord letter_word(const uint8_t* codes) {
    LetterWord word;
#if defined(__AVX512BW__)
    const __m512i letters = _mm512_loadu_si512(codes);
    for (int p = 0; p < kPlanes; ++p)
        word.plane[p] = _mm512_test_epi8_mask(letters, _mm512_set1_epi8(static_cast<char>(1 << p)));
#elif defined(__SSE2__)
    for (int p = 0; p < kPlanes; ++p) {
        word.plane[p] = 0;
        for (int part = 0; part < 4; ++part) {
            const __m128i letters = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + 16 * part));
            const uint64_t bits = static_cast<uint32_t>(_mm_movemask_epi8(_mm_slli_epi16(letters, 7 - p)));
            word.plane[p] |= bits << 16 * part;
        }
    }
#else
    for (int p = 0; p < kPlanes; ++p) {
        word.plane[p] = 0;
        for (int part = 0; part < 8; ++part) {
            uint64_t letters;
            std::memcpy(&letters, codes + 8 * part, 8);
            const uint64_t bits = (letters >> p & 0x0101010101010101) * 0x0102040810204080 >> 56;
            word.plane[p] |= bits << 8 * part;
        }
    }
#endif
    return word;
}

// The words of `length` letters; bits behind the last one are zero.
inline void letter_words(const uint8_t* codes, int64_t length, LetterWord* words) {
    for (; length >= 64; length -= 64, codes += 64) *words++ = letter_word(codes);
    if (length > 0) {
        uint8_t rest[64] = {};
        std::memcpy(rest, codes, static_cast<size_t>(length));
        *words = letter_word(rest);
    }
}
