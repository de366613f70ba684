#include "packing/copier.hpp"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "calling/letters.hpp"
#include "packing/streaming.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kBytesEach = 1 << 20;  // bytes that a thread takes at once
constexpr int64_t kStride = 64;          // letters of a round of the loop below

uint8_t pack_two(const uint8_t* letters) { return static_cast<uint8_t>(letters[0] | letters[1] << 4); }

#if defined(__SSE2__)
int64_t pack_rounds(const uint8_t* from, uint8_t* to, int64_t count) {
    if (reinterpret_cast<uintptr_t>(to) % 16 != 0) return 0;
    const int64_t end = count / kStride * kStride;
    const __m128i low = _mm_set1_epi16(0xff);
    for (int64_t at = 0; at < end; at += kStride) {
        __m128i part[4];
        for (int i = 0; i < 4; ++i) {
            const __m128i pairs = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at) + i);
            part[i] = _mm_and_si128(_mm_or_si128(pairs, _mm_srli_epi16(pairs, 4)), low);
        }
        for (int i = 0; i < 2; ++i)
            _mm_stream_si128(reinterpret_cast<__m128i*>(to + at / 2) + i,
                             _mm_packus_epi16(part[2 * i], part[2 * i + 1]));
    }
    _mm_sfence();
    return end;
}
#else
int64_t pack_rounds(const uint8_t*, uint8_t*, int64_t) { return 0; }
#endif

void pack(const uint8_t* from, uint8_t* to, int64_t count) {
    const int64_t words = count / 8 * 4;
    for (int64_t i = pack_rounds(from, to, count) / 2; i < words; ++i) to[i] = pack_two(from + 2 * i);
    if (count % 8 == 0) return;
    uint8_t last[8];
    std::memset(last, kAny, sizeof last);
    std::memcpy(last, from + 2 * words, static_cast<size_t>(count % 8));
    for (int i = 0; i < 4; ++i) to[words + i] = pack_two(last + 2 * i);
}

}  // namespace

Copier::Copier(int threads) {
    running_ = threads_.start(threads, [this] { work(); });
}

Copier::~Copier() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ends_ = true;
    }
    begun_.notify_all();
    threads_.join();
}

int64_t Copier::begin(const uint8_t* from, uint8_t* to, int64_t count, bool packed) {
    int64_t number;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        number = first_ + static_cast<int64_t>(copies_.size());
        copies_.push_back({from, to, count, packed, 0, count});
    }
    begun_.notify_all();
    return number;
}

void Copier::wait(int64_t number) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (running_ == 0 && first_ <= number) copy_share(lock);
    made_.wait(lock, [&] { return first_ > number; });
}

void Copier::work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
        begun_.wait(lock, [&] { return ends_ || taken_ < copies_.size(); });
        if (taken_ == copies_.size()) return;
        copy_share(lock);
    }
}

void Copier::copy_share(std::unique_lock<std::mutex>& lock) {
    Copy& copy = copies_[taken_];  // stays where it is while others come and go at the ends
    const int64_t begin = copy.taken, size = std::min(kBytesEach, copy.count - begin);
    copy.taken += size;
    if (copy.taken == copy.count) ++taken_;
    lock.unlock();
    if (copy.packed) {
        pack(copy.from + begin, copy.to + begin / 2, size);
    } else {
        copy_streaming(copy.from + begin, copy.to + begin, size);
    }
    lock.lock();
    copy.left -= size;
    if (copy.left > 0) return;
    for (; !copies_.empty() && copies_.front().left == 0; ++first_, --taken_) copies_.pop_front();
    made_.notify_all();
}

}  // namespace pairhmm
