// Cells of alignments, over the vectors of a level.
//
// Sums of 8 and 16 bits stop at kFar. Sums of 32 bits never get there (align/aligner.cpp says why).

struct Sums8 : Lanes8 {
    static constexpr Cost kFar = UINT8_MAX;

    static PAIRHMM_INLINE Vector plus(Vector a, Vector b) { return capped_sum(a, b); }
};

struct Sums16 : Lanes16 {
    static constexpr Cost kFar = UINT16_MAX;

    static PAIRHMM_INLINE Vector plus(Vector a, Vector b) { return capped_sum(a, b); }
};

struct Sums32 : Lanes32 {
    static constexpr Cost kFar = 0xf0000000;

    static PAIRHMM_INLINE Vector plus(Vector a, Vector b) { return a + b; }
};

#if PAIRHMM_VECTOR == 64
struct Cells8 : Sums8 {
    static PAIRHMM_INLINE Vector plus_if_differs(Vector a, Vector one, Vector other, Vector b) {
        const __mmask64 differs = _mm512_cmpneq_epi8_mask((Register)one, (Register)other);
        return (Vector)_mm512_mask_adds_epu8((Register)a, differs, (Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector marked_if_equal(Vector marks, Vector a, Vector b, Vector mark) {
        const __mmask64 equal = _mm512_cmpeq_epi8_mask((Register)a, (Register)b);
        return (Vector)_mm512_mask_add_epi8((Register)marks, equal, (Register)marks, (Register)mark);
    }
};

struct Cells16 : Sums16 {
    static PAIRHMM_INLINE Vector plus_if_differs(Vector a, Vector one, Vector other, Vector b) {
        const __mmask32 differs = _mm512_cmpneq_epi16_mask((Register)one, (Register)other);
        return (Vector)_mm512_mask_adds_epu16((Register)a, differs, (Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector marked_if_equal(Vector marks, Vector a, Vector b, Vector mark) {
        const __mmask32 equal = _mm512_cmpeq_epi16_mask((Register)a, (Register)b);
        return (Vector)_mm512_mask_add_epi16((Register)marks, equal, (Register)marks, (Register)mark);
    }
};

struct Cells32 : Sums32 {
    static PAIRHMM_INLINE Vector plus_if_differs(Vector a, Vector one, Vector other, Vector b) {
        const __mmask16 differs = _mm512_cmpneq_epi32_mask((Register)one, (Register)other);
        return (Vector)_mm512_mask_add_epi32((Register)a, differs, (Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector marked_if_equal(Vector marks, Vector a, Vector b, Vector mark) {
        const __mmask16 equal = _mm512_cmpeq_epi32_mask((Register)a, (Register)b);
        return (Vector)_mm512_mask_add_epi32((Register)marks, equal, (Register)marks, (Register)mark);
    }
};

#else
// The steps of a recurrence that AVX-512 does under a mask, as other levels do them.
template <class Lanes>
struct Steps : Lanes {
    using Vector = typename Lanes::Vector;

    static PAIRHMM_INLINE Vector plus_if_differs(Vector a, Vector one, Vector other, Vector b) {
        return Lanes::plus(a, (Vector)(one != other) & b);
    }
    static PAIRHMM_INLINE Vector marked_if_equal(Vector marks, Vector a, Vector b, Vector mark) {
        return marks | ((Vector)(a == b) & mark);
    }
};

using Cells8 = Steps<Sums8>;
using Cells16 = Steps<Sums16>;
using Cells32 = Steps<Sums32>;
#endif
