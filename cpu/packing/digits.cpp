#include "packing/digits.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pairhmm {

namespace {

// In 16 bits throughout, of which compilers make vectors.
template <class Number, int count_of_arrays>
void join(const Digits& digits, int64_t first, int64_t count, Number* __restrict to) {
    const uint8_t* from[count_of_arrays];
    uint16_t weight[count_of_arrays];
    for (int k = 0; k < count_of_arrays; ++k) from[k] = digits.from[k] + first, weight[k] = digits.weight[k];
    const auto less = static_cast<uint16_t>(-digits.offset);
    for (int64_t i = 0; i < count; ++i) {
        uint16_t sum = less;
        for (int k = 0; k < count_of_arrays; ++k) {
            sum = static_cast<uint16_t>(sum + static_cast<uint16_t>(from[k][i] * weight[k]));
        }
        to[i] = static_cast<Number>(sum);
    }
}

#if defined(__x86_64__)
constexpr int64_t kPositions = 16;  // positions

// Whole rounds, with stores that bypass the caches (packing/streaming.hpp): half the time of a compiler's vectors.
template <class Number, int count_of_arrays>
__attribute__((target("avx2"))) void join_rounds(const Digits& digits, int64_t first, int64_t rounds, Number* to) {
    const uint8_t* from[count_of_arrays];
    __m256i weight[count_of_arrays];
    for (int k = 0; k < count_of_arrays; ++k) {
        from[k] = digits.from[k] + first, weight[k] = _mm256_set1_epi16(static_cast<int16_t>(digits.weight[k]));
    }
    const __m256i less = _mm256_set1_epi16(static_cast<int16_t>(-digits.offset));
    for (int64_t at = 0; at < rounds * kPositions; at += kPositions) {
        __m256i sum = less;
        for (int k = 0; k < count_of_arrays; ++k) {
            const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from[k] + at));
            sum = _mm256_add_epi16(sum, _mm256_mullo_epi16(_mm256_cvtepu8_epi16(values), weight[k]));
        }
        const __m128i low = _mm256_castsi256_si128(sum), high = _mm256_extracti128_si256(sum, 1);
        auto* const out = reinterpret_cast<__m128i*>(to + at);
        if (sizeof(Number) == 1) {
            _mm_stream_si128(out, _mm_packus_epi16(low, high));
        } else {
            _mm_stream_si128(out, low);
            _mm_stream_si128(out + 1, high);
        }
    }
    _mm_sfence();
}
#endif

template <class Number, int count_of_arrays>
void join_fast(const Digits& digits, int64_t first, int64_t count, Number* to) {
    int64_t done = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && reinterpret_cast<uintptr_t>(to) % sizeof(__m128i) == 0) {
        done = count / kPositions * kPositions;
        join_rounds<Number, count_of_arrays>(digits, first, count / kPositions, to);
    }
#endif
    join<Number, count_of_arrays>(digits, first + done, count - done, to + done);
}

template <class Number>
void join_any(const Digits& digits, int64_t first, int64_t count, Number* to) {
    switch (digits.from.size()) {
        case 2: return join_fast<Number, 2>(digits, first, count, to);
        case 3: return join_fast<Number, 3>(digits, first, count, to);
        case 4: return join_fast<Number, 4>(digits, first, count, to);
        case kMostDigits: return join_fast<Number, kMostDigits>(digits, first, count, to);
    }
}

}  // namespace

void write_digits(const Digits& digits, int64_t first, int64_t count, uint8_t* to) {
    if (digits.bytes == 1) {
        join_any(digits, first, count, to);
    } else {
        join_any(digits, first, count, reinterpret_cast<uint16_t*>(to));
    }
}

}  // namespace pairhmm
