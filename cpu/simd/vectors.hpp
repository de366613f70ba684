// Vectors of whole numbers, over the instructions of a level.

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
    typedef Value Unaligned __attribute__((vector_size(PAIRHMM_VECTOR), aligned(sizeof(Value)), may_alias));
};

// Unsigned numbers of a width. A capped sum stops at the largest number.
struct Lanes8 {
    using Cost = uint8_t;
    using Vector = VectorOf<Cost>::Type;

#if defined(__x86_64__)
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(min_epu8)((Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector capped_sum(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(adds_epu8)((Register)a, (Register)b);
    }
#elif defined(__wasm__)
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) { return __builtin_elementwise_min(a, b); }
    static PAIRHMM_INLINE Vector capped_sum(Vector a, Vector b) { return __builtin_elementwise_add_sat(a, b); }
#else
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) { return (Vector)vminq_u8((uint8x16_t)a, (uint8x16_t)b); }
    static PAIRHMM_INLINE Vector capped_sum(Vector a, Vector b) {
        return (Vector)vqaddq_u8((uint8x16_t)a, (uint8x16_t)b);
    }
#endif
};

struct Lanes16 {
    using Cost = uint16_t;
    using Vector = VectorOf<Cost>::Type;

#if defined(__x86_64__)
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(min_epu16)((Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector most(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(max_epu16)((Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector capped_sum(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(adds_epu16)((Register)a, (Register)b);
    }
#elif defined(__wasm__)
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) { return __builtin_elementwise_min(a, b); }
    static PAIRHMM_INLINE Vector most(Vector a, Vector b) { return __builtin_elementwise_max(a, b); }
    static PAIRHMM_INLINE Vector capped_sum(Vector a, Vector b) { return __builtin_elementwise_add_sat(a, b); }
#else
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) { return (Vector)vminq_u16((uint16x8_t)a, (uint16x8_t)b); }
    static PAIRHMM_INLINE Vector most(Vector a, Vector b) { return (Vector)vmaxq_u16((uint16x8_t)a, (uint16x8_t)b); }
    static PAIRHMM_INLINE Vector capped_sum(Vector a, Vector b) {
        return (Vector)vqaddq_u16((uint16x8_t)a, (uint16x8_t)b);
    }
#endif
};

struct Lanes32 {
    using Cost = uint32_t;
    using Vector = VectorOf<Cost>::Type;

#if defined(__x86_64__)
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(min_epu32)((Register)a, (Register)b);
    }
    static PAIRHMM_INLINE Vector most(Vector a, Vector b) {
        return (Vector)PAIRHMM_SIMD(max_epu32)((Register)a, (Register)b);
    }
#elif defined(__wasm__)
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) { return __builtin_elementwise_min(a, b); }
    static PAIRHMM_INLINE Vector most(Vector a, Vector b) { return __builtin_elementwise_max(a, b); }
#else
    static PAIRHMM_INLINE Vector least(Vector a, Vector b) { return (Vector)vminq_u32((uint32x4_t)a, (uint32x4_t)b); }
    static PAIRHMM_INLINE Vector most(Vector a, Vector b) { return (Vector)vmaxq_u32((uint32x4_t)a, (uint32x4_t)b); }
#endif
};
