// Threads that run beside the caller and are joined by their owner.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#if !defined(__wasm__)
#include <thread>
#endif
#include <vector>

namespace pairhmm {

// Threads that end with their owner. The system may start fewer than are asked for (a limit on processes, no memory for
// a stack). The others and the caller then do the work, and the missing ones are counted. Not inline: files
// that are compiled for one SIMD level must not bring copies of shared functions.
class StdThreads {
public:
    StdThreads() = default;
    ~StdThreads() { join(); }
    StdThreads(const StdThreads&) = delete;
    StdThreads& operator=(const StdThreads&) = delete;

    // Starts up to `count` threads that call `work`. Returns how many run.
    int64_t start(int64_t count, const std::function<void()>& work);
    void join();

    // Lets other threads run, for a caller that waits for one of them.
    static void give_way();

private:
#if !defined(__wasm__)
    std::vector<std::thread> threads_;
#endif
};

// How many threads could not be started in this process so far.
int64_t threads_refused();

// share(first, end) over [0, count) in pieces of at most `size`, on at most `threads` threads; it must not throw.
template <class Share>
void run_shares(int64_t count, int64_t size, int threads, const Share& share) {
    std::atomic<int64_t> next{0};
    const auto work = [&] {
        for (int64_t first; (first = next.fetch_add(size)) < count;) share(first, std::min(first + size, count));
    };
    StdThreads others;
    const int64_t shares = (count + size - 1) / size;
    if (threads > 1 && shares > 1) others.start(std::min<int64_t>(threads, shares) - 1, work);
    work();
}

}  // namespace pairhmm
