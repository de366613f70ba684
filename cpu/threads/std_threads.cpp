#include "threads/std_threads.hpp"

#include <atomic>
#include <new>
#include <system_error>

namespace pairhmm {

#if defined(__wasm__)

int64_t StdThreads::start(int64_t, const std::function<void()>&) { return 0; }

void StdThreads::join() {}

void StdThreads::give_way() {}

int64_t threads_refused() { return 0; }

#else

namespace {

std::atomic<int64_t> refused{0};

}  // namespace

int64_t StdThreads::start(int64_t count, const std::function<void()>& work) {
    int64_t started = 0;
    try {
        for (; started < count; ++started) threads_.emplace_back(work);
    } catch (const std::system_error&) {
        refused += count - started;
    } catch (const std::bad_alloc&) {
        refused += count - started;
    }
    return started;
}

void StdThreads::join() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
}

void StdThreads::give_way() { std::this_thread::yield(); }

int64_t threads_refused() { return refused; }

#endif

}  // namespace pairhmm
