#include "staging/digits.hpp"

#include <algorithm>

#include "staging/streaming.hpp"

namespace pairhmm {

namespace {

constexpr int64_t kBlock = 2048;  // positions that are joined in the cache, before they leave it

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

template <class Number>
void join_any(const Digits& digits, int64_t first, int64_t count, Number* to) {
    switch (digits.from.size()) {
        case 1: return join<Number, 1>(digits, first, count, to);
        case 2: return join<Number, 2>(digits, first, count, to);
        case 3: return join<Number, 3>(digits, first, count, to);
        case 4: return join<Number, 4>(digits, first, count, to);
        case kMostDigits: return join<Number, kMostDigits>(digits, first, count, to);
    }
}

}  // namespace

void write_digits(const Digits& digits, int64_t first, int64_t count, uint8_t* to) {
    alignas(16) uint16_t block[kBlock];
    auto* bytes = reinterpret_cast<uint8_t*>(block);
    for (int64_t done = 0; done < count; done += kBlock) {
        const int64_t now = std::min(kBlock, count - done);
        if (digits.bytes == 1) {
            join_any(digits, first + done, now, bytes);
        } else {
            join_any(digits, first + done, now, block);
        }
        copy_streaming(bytes, to + done * digits.bytes, now * digits.bytes);
    }
}

}  // namespace pairhmm
