// Copies with stores that bypass the caches: nothing here reads what is written, and to fetch a line before writing it
// takes as long as the write.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pairhmm {

inline void copy_streaming(const uint8_t* from, uint8_t* to, int64_t count) {
    int64_t done = 0;
#if defined(__SSE2__)
    constexpr int64_t kStride = 64;
    if (reinterpret_cast<uintptr_t>(to) % 16 == 0) {
        for (; count - done >= kStride; done += kStride) {
            __m128i part[4];
            for (int i = 0; i < 4; ++i) part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + done) + i);
            for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to + done) + i, part[i]);
        }
        _mm_sfence();
    }
#endif
    std::memcpy(to + done, from + done, static_cast<size_t>(count - done));
}

}  // namespace pairhmm
