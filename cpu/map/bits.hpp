// Vectors of slots, and how their bits are counted on each instruction set. Included by map/compare_level.cpp, in a
// level's namespace.
//
// `Bits` has the planes' words. `differing(found, a, b)` is found | (a ^ b). `Counts` adds up the bits of at most
// kAtOnce vectors, and `settled` makes 64-bit sums of them. `shifted<n>` moves sums by n bits, and `total` adds lanes.

#if defined(__AVX512VPOPCNTDQ__)

using Bits = __m512i;
constexpr int64_t kQueries = 4, kAtOnce = INT64_MAX;

PAIRHMM_INLINE Bits loaded(const uint64_t* from) { return _mm512_loadu_si512(from); }
PAIRHMM_INLINE Bits nothing() { return _mm512_setzero_si512(); }
PAIRHMM_INLINE Bits differing(Bits found, Bits a, Bits b) { return _mm512_ternarylogic_epi64(found, a, b, 0xf6); }
PAIRHMM_INLINE Bits counted(Bits counts, Bits bits) { return _mm512_add_epi64(counts, _mm512_popcnt_epi64(bits)); }
PAIRHMM_INLINE Bits settled(Bits counts) { return counts; }
PAIRHMM_INLINE Bits added(Bits a, Bits b) { return _mm512_add_epi64(a, b); }
template <int kBy>
PAIRHMM_INLINE Bits shifted(Bits sums) {
    return _mm512_slli_epi64(sums, kBy);
}
PAIRHMM_INLINE uint64_t total(Bits sums) { return static_cast<uint64_t>(_mm512_reduce_add_epi64(sums)); }

#elif defined(__AVX512BW__)

// Bits of half a byte are looked up (Mula, Kurz and Lemire, Computer Journal 61:111, 2018), and counts of bytes added.
using Bits = __m512i;
constexpr int64_t kQueries = 4, kAtOnce = 31;

PAIRHMM_INLINE Bits loaded(const uint64_t* from) { return _mm512_loadu_si512(from); }
PAIRHMM_INLINE Bits nothing() { return _mm512_setzero_si512(); }
PAIRHMM_INLINE Bits differing(Bits found, Bits a, Bits b) { return _mm512_ternarylogic_epi64(found, a, b, 0xf6); }
PAIRHMM_INLINE Bits counted(Bits counts, Bits bits) {
    const Bits table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const Bits low = _mm512_set1_epi8(15);
    const Bits here = _mm512_shuffle_epi8(table, _mm512_and_si512(bits, low));
    const Bits there = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(bits, 4), low));
    return _mm512_add_epi8(counts, _mm512_add_epi8(here, there));
}
PAIRHMM_INLINE Bits settled(Bits counts) { return _mm512_sad_epu8(counts, _mm512_setzero_si512()); }
PAIRHMM_INLINE Bits added(Bits a, Bits b) { return _mm512_add_epi64(a, b); }
template <int kBy>
PAIRHMM_INLINE Bits shifted(Bits sums) {
    return _mm512_slli_epi64(sums, kBy);
}
PAIRHMM_INLINE uint64_t total(Bits sums) { return static_cast<uint64_t>(_mm512_reduce_add_epi64(sums)); }

#elif defined(__AVX2__)

using Bits = __m256i;
constexpr int64_t kQueries = 2, kAtOnce = 31;

PAIRHMM_INLINE Bits loaded(const uint64_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
PAIRHMM_INLINE Bits nothing() { return _mm256_setzero_si256(); }
PAIRHMM_INLINE Bits differing(Bits found, Bits a, Bits b) { return _mm256_or_si256(found, _mm256_xor_si256(a, b)); }
PAIRHMM_INLINE Bits counted(Bits counts, Bits bits) {
    const Bits table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const Bits low = _mm256_set1_epi8(15);
    const Bits here = _mm256_shuffle_epi8(table, _mm256_and_si256(bits, low));
    const Bits there = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bits, 4), low));
    return _mm256_add_epi8(counts, _mm256_add_epi8(here, there));
}
PAIRHMM_INLINE Bits settled(Bits counts) { return _mm256_sad_epu8(counts, _mm256_setzero_si256()); }
PAIRHMM_INLINE Bits added(Bits a, Bits b) { return _mm256_add_epi64(a, b); }
template <int kBy>
PAIRHMM_INLINE Bits shifted(Bits sums) {
    return _mm256_slli_epi64(sums, kBy);
}
PAIRHMM_INLINE uint64_t total(Bits sums) {
    const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return static_cast<uint64_t>(_mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1));
}

#elif defined(__x86_64__)

using Bits = uint64_t;
constexpr int64_t kQueries = 2, kAtOnce = INT64_MAX;

PAIRHMM_INLINE Bits loaded(const uint64_t* from) { return *from; }
PAIRHMM_INLINE Bits nothing() { return 0; }
PAIRHMM_INLINE Bits differing(Bits found, Bits a, Bits b) { return found | (a ^ b); }
PAIRHMM_INLINE Bits counted(Bits counts, Bits bits) {
    return counts + static_cast<uint64_t>(__builtin_popcountll(bits));
}
PAIRHMM_INLINE Bits settled(Bits counts) { return counts; }
PAIRHMM_INLINE Bits added(Bits a, Bits b) { return a + b; }
template <int kBy>
PAIRHMM_INLINE Bits shifted(Bits sums) {
    return sums << kBy;
}
PAIRHMM_INLINE uint64_t total(Bits sums) { return sums; }

#elif defined(__aarch64__)

using Bits = uint64x2_t;
constexpr int64_t kQueries = 4, kAtOnce = 31;

PAIRHMM_INLINE Bits loaded(const uint64_t* from) { return vld1q_u64(from); }
PAIRHMM_INLINE Bits nothing() { return vdupq_n_u64(0); }
PAIRHMM_INLINE Bits differing(Bits found, Bits a, Bits b) { return vorrq_u64(found, veorq_u64(a, b)); }
PAIRHMM_INLINE Bits counted(Bits counts, Bits bits) {
    return vreinterpretq_u64_u8(vaddq_u8(vreinterpretq_u8_u64(counts), vcntq_u8(vreinterpretq_u8_u64(bits))));
}
PAIRHMM_INLINE Bits settled(Bits counts) { return vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(vreinterpretq_u8_u64(counts)))); }
PAIRHMM_INLINE Bits added(Bits a, Bits b) { return vaddq_u64(a, b); }
template <int kBy>
PAIRHMM_INLINE Bits shifted(Bits sums) {
    return vshlq_n_u64(sums, kBy);
}
PAIRHMM_INLINE uint64_t total(Bits sums) { return vaddvq_u64(sums); }

#endif
