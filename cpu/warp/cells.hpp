// Cells of time warping, over the vectors of a level.
//
// A type of cells has the width of a cost, and the steps of the recurrence. Levels are shifted to 0..65535. A sum that
// a cost can't hold is kFar, and stays it: no path with a cost below kFar has such a sum in it.

// Values of one element less: the last one of `before`, then those of `values` but the last.
template <class Value>
PAIRHMM_INLINE typename VectorOf<Value>::Type shifted(typename VectorOf<Value>::Type before,
                                                      typename VectorOf<Value>::Type values) {
    using Vector = typename VectorOf<Value>::Type;
    constexpr int kBytes = 16 - static_cast<int>(sizeof(Value));
#if defined(__aarch64__)
    return (Vector)vextq_u8((uint8x16_t)before, (uint8x16_t)values, kBytes);
#elif PAIRHMM_VECTOR == 16
    return (Vector)_mm_alignr_epi8((__m128i)values, (__m128i)before, kBytes);
#else
    // alignr joins bytes within each 16 of them: first what stands 16 bytes before is put beside each.
#if PAIRHMM_VECTOR == 32
    const Register beside = _mm256_permute2x128_si256((__m256i)before, (__m256i)values, 0x21);
#else
    const Register beside = _mm512_alignr_epi32((__m512i)values, (__m512i)before, 12);
#endif
    return (Vector)PAIRHMM_SIMD(alignr_epi8)((Register)values, beside, kBytes);
#endif
}

struct Cells16 : Lanes16 {
    static constexpr Cost kFar = UINT16_MAX;

    static PAIRHMM_INLINE Vector plus(Vector a, Vector b) { return capped_sum(a, b); }
};

struct Cells32 : Lanes32 {
    static constexpr Cost kFar = UINT32_MAX;

    static PAIRHMM_INLINE Vector plus(Vector a, Vector b) { return least(a, ~b) + b; }
};

// For signals of more than 2^16 levels that differ as much as levels can. No sum of 2^32 differences reaches kFar.
struct Cells64 {
    using Cost = uint64_t;
    using Vector = VectorOf<Cost>::Type;
    static constexpr Cost kFar = Cost{1} << 62;

    static PAIRHMM_INLINE Vector least(Vector a, Vector b) { return a < b ? a : b; }
    static PAIRHMM_INLINE Vector most(Vector a, Vector b) { return a > b ? a : b; }
    static PAIRHMM_INLINE Vector plus(Vector a, Vector b) { return a + b; }
};
