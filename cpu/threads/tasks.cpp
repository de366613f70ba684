#include "threads/tasks.hpp"

#include <algorithm>

#if !defined(__wasm__)
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "threads/std_threads.hpp"
#endif

namespace pairhmm {
namespace {

#if defined(__wasm__)

// Runs task(0) to task(count - 1) in this thread.
void run_here(int64_t count, std::atomic<bool>& stop, const std::function<bool()>& interrupted,
              const std::function<void(int64_t)>& task) {
    for (int64_t i = 0; i < count && !(stop = stop || interrupted()); ++i) task(i);
}

#else

// How often the caller looks whether it is to stop.
constexpr std::chrono::milliseconds kPoll{100};

// Runs task(0) to task(count - 1) in this thread, and polls `interrupted` between them.
void run_here(int64_t count, std::atomic<bool>& stop, const std::function<bool()>& interrupted,
              const std::function<void(int64_t)>& task) {
    auto polled = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < count && !stop; ++i) {
        task(i);
        const auto now = std::chrono::steady_clock::now();
        if (now - polled < kPoll) continue;
        polled = now;
        if (interrupted()) stop = true;
    }
}

#endif

}  // namespace

#if defined(__wasm__)

void run_tasks(int64_t count, int, std::atomic<bool>& stop, const std::function<bool()>& interrupted,
               const std::function<void(int64_t)>& task) {
    run_here(count, stop, interrupted, task);
}

#else

void run_tasks(int64_t count, int threads, std::atomic<bool>& stop, const std::function<bool()>& interrupted,
               const std::function<void(int64_t)>& task) {
    std::atomic<int64_t> next{0};
    std::exception_ptr failure;
    std::mutex lock;
    std::condition_variable ended;
    const int64_t wanted = std::max<int64_t>(1, std::min<int64_t>(threads, count));
    int64_t running = wanted;
    auto work = [&] {
        try {
            for (int64_t i; !stop && (i = next.fetch_add(1)) < count;) task(i);
        } catch (...) {
            std::lock_guard<std::mutex> guard(lock);
            if (!failure) failure = std::current_exception();
            stop = true;
        }
        std::lock_guard<std::mutex> guard(lock);
        --running;
        ended.notify_one();
    };
    StdThreads pool;
    const int64_t started = pool.start(wanted, work);
    if (started == 0) {
        run_here(count, stop, interrupted, task);
        return;
    }
    {
        std::unique_lock<std::mutex> guard(lock);
        running -= wanted - started;
        while (!ended.wait_for(guard, kPoll, [&] { return running == 0; })) {
            guard.unlock();
            if (interrupted()) stop = true;
            guard.lock();
        }
    }
    pool.join();
    if (failure) std::rethrow_exception(failure);
}

#endif

void run_short_tasks(int64_t count, int threads, std::atomic<bool>& stop, const std::function<bool()>& interrupted,
                     const std::function<void(int64_t)>& task) {
    if (std::min<int64_t>(threads, count) <= 1) {
        run_here(count, stop, interrupted, task);
    } else {
        run_tasks(count, threads, stop, interrupted, task);
    }
}

}  // namespace pairhmm
