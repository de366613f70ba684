// Vectors of costs, over the instructions of a level. Include inside the namespace of a level.
//
// Sums of 8 and 16 bits stop at kFar. Sums of 32 bits never get there (align/aligner.cpp says why).

#if defined(__x86_64__)
#if PAIRHMM_VECTOR == 64
#define PAIRHMM_SIMD(name) _mm512_##name
typedef __m512i Register;
#elif PAIRHMM_VECTOR == 32
#define PAIRHMM_SIMD(name) _mm256_##name
typedef __m256i Register;
#else
#define PAIRHMM_SIMD(name) _mm_##name
typedef __m128i Register;
#endif
#endif

template <class Value>
struct VectorOf {
    typedef Value Type __attribute__((vector_size(PAIRHMM_VECTOR), may_alias));
};

struct Cells8 {
    using Cost = uint8_t;
    using Vector = VectorOf<Cost>::Type;
    static constexpr Cost kFar = UINT8_MAX;

#if defined(__x86_64__)
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(min_epu8)((Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector plus(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(adds_epu8)((Register)a, (Register)b);
    }
#else
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) { return (Vector)vminq_u8((uint8x16_t)a, (uint8x16_t)b); }
    static PAIRHMM_INLINE Vector plus(Vector a, Vector b) { return (Vector)vqaddq_u8((uint8x16_t)a, (uint8x16_t)b); }
#endif

#if PAIRHMM_VECTOR == 64
    static PAIRHMM_INLINE Vector plus_if_differs(Vector a, Vector one, Vector other, Vector b) {
        const __mmask64 differs = _mm512_cmpneq_epi8_mask((Register)one, (Register)other);
        return (Vector)_mm512_mask_adds_epu8((Register)a, differs, (Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector marked_if_equal(Vector marks, Vector a, Vector b, Vector mark) {
        const __mmask64 equal = _mm512_cmpeq_epi8_mask((Register)a, (Register)b);
        return (Vector)_mm512_mask_add_epi8((Register)marks, equal, (Register)marks, (Register)mark);
    }
#else
    static PAIRHMM_INLINE Vector plus_if_differs(Vector a, Vector one, Vector other, Vector b) {
        return plus(a, (Vector)(one != other) & b);
    }
    static PAIRHMM_INLINE Vector marked_if_equal(Vector marks, Vector a, Vector b, Vector mark) {
        return marks | ((Vector)(a == b) & mark);
    }
#endif
};

struct Cells16 {
    using Cost = uint16_t;
    using Vector = VectorOf<Cost>::Type;
    static constexpr Cost kFar = UINT16_MAX;

#if defined(__x86_64__)
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(min_epu16)((Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector plus(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(adds_epu16)((Register)a, (Register)b);
    }
#else
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) { return (Vector)vminq_u16((uint16x8_t)a, (uint16x8_t)b); }
    static PAIRHMM_INLINE Vector plus(Vector a, Vector b) { return (Vector)vqaddq_u16((uint16x8_t)a, (uint16x8_t)b); }
#endif

#if PAIRHMM_VECTOR == 64
    static PAIRHMM_INLINE Vector plus_if_differs(Vector a, Vector one, Vector other, Vector b) {
        const __mmask32 differs = _mm512_cmpneq_epi16_mask((Register)one, (Register)other);
        return (Vector)_mm512_mask_adds_epu16((Register)a, differs, (Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector marked_if_equal(Vector marks, Vector a, Vector b, Vector mark) {
        const __mmask32 equal = _mm512_cmpeq_epi16_mask((Register)a, (Register)b);
        return (Vector)_mm512_mask_add_epi16((Register)marks, equal, (Register)marks, (Register)mark);
    }
#else
    static PAIRHMM_INLINE Vector plus_if_differs(Vector a, Vector one, Vector other, Vector b) {
        return plus(a, (Vector)(one != other) & b);
    }
    static PAIRHMM_INLINE Vector marked_if_equal(Vector marks, Vector a, Vector b, Vector mark) {
        return marks | ((Vector)(a == b) & mark);
    }
#endif
};

struct Cells32 {
    using Cost = uint32_t;
    using Vector = VectorOf<Cost>::Type;
    static constexpr Cost kFar = 0xf0000000;

#if defined(__x86_64__)
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(min_epu32)((Register)a, (Register)b);
    }
#else
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) { return (Vector)vminq_u32((uint32x4_t)a, (uint32x4_t)b); }
#endif
    static PAIRHMM_INLINE Vector plus(Vector a, Vector b) { return a + b; }

#if PAIRHMM_VECTOR == 64
    static PAIRHMM_INLINE Vector plus_if_differs(Vector a, Vector one, Vector other, Vector b) {
        const __mmask16 differs = _mm512_cmpneq_epi32_mask((Register)one, (Register)other);
        return (Vector)_mm512_mask_add_epi32((Register)a, differs, (Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector marked_if_equal(Vector marks, Vector a, Vector b, Vector mark) {
        const __mmask16 equal = _mm512_cmpeq_epi32_mask((Register)a, (Register)b);
        return (Vector)_mm512_mask_add_epi32((Register)marks, equal, (Register)marks, (Register)mark);
    }
#else
    static PAIRHMM_INLINE Vector plus_if_differs(Vector a, Vector one, Vector other, Vector b) {
        return plus(a, (Vector)(one != other) & b);
    }
    static PAIRHMM_INLINE Vector marked_if_equal(Vector marks, Vector a, Vector b, Vector mark) {
        return marks | ((Vector)(a == b) & mark);
    }
#endif
};
