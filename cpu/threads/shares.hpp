// Work on a range of indices, shared out to threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "threads/helpers.hpp"

namespace pairhmm {

// share(first, end) over [0, count) in pieces of at most `size`, on at most `threads` threads; it must not throw.
template <class Share>
void run_shares(int64_t count, int64_t size, int threads, const Share& share) {
    std::atomic<int64_t> next{0};
    const auto work = [&] {
        for (int64_t first; (first = next.fetch_add(size)) < count;) share(first, std::min(first + size, count));
    };
    Helpers others;
    const int64_t shares = (count + size - 1) / size;
    if (threads > 1 && shares > 1) others.start(std::min<int64_t>(threads, shares) - 1, work);
    work();
}

}  // namespace pairhmm
