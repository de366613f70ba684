// Pool of threads for short tasks: starting sixteen threads takes longer than such a task.
#pragma once

#include <algorithm>
#include <cstdint>
#if !defined(__wasm__)
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "threads/std_threads.hpp"
#endif

namespace pairhmm {

#if defined(__wasm__)

// The caller alone: the build for WebAssembly has no threads.
class ThreadPool {
public:
    explicit ThreadPool(int) {}

    int64_t size() const { return 1; }
    void rouse() {}

    template <class Share>
    void run(int64_t count, int64_t size, int64_t, const Share& share) {
        for (int64_t first = 0; first < count; first += size) share(first, std::min(first + size, count));
    }
};

#else

// Several callers may give work to a pool at once. Who waits for work does some of it, so that a pool without threads
// does it all, too, and work may give work to its own pool.
class ThreadPool {
public:
    // share(first, end) over [0, count) in pieces of at most `size`, on at most `most` threads; it must not throw.
    struct Task {
        std::function<void(int64_t, int64_t)> share;
        int64_t count, size, most;
        bool is_first;
        std::atomic<int64_t> next{0};
        int64_t workers = 0;  // the mutex guards it
    };
    using Handle = std::shared_ptr<Task>;

    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    // Threads, with the caller.
    int64_t size() const { return running_ + 1; }

    // Wakes the threads, which then look out for work for a short time. To wake them takes longer than some work, so a
    // caller that first has something else to do rouses them before that.
    void rouse();

    // Whether work that comes first has room for another thread: work that takes long should leave it one.
    bool is_wanted() const { return is_wanted_; }

    // Begins work that comes after what was begun before. What it reads must live until wait() returns.
    Handle begin(int64_t count, int64_t size, std::function<void(int64_t, int64_t)> share);
    void wait(const Handle& task);

    // Does work on at most `most` threads before all that was begun, which threads leave between two pieces. Work of
    // one piece is the caller's.
    template <class Share>
    void run(int64_t count, int64_t size, int64_t most, const Share& share) {
        if (count <= size || most <= 1 || running_ == 0) {
            for (int64_t first = 0; first < count; first += size) share(first, std::min(first + size, count));
            return;
        }
        wait(add(count, size, most, std::cref(share), true));
    }

private:
    Handle add(int64_t count, int64_t size, int64_t most, std::function<void(int64_t, int64_t)> share, bool is_first);
    void work();
    void look_out(std::unique_lock<std::mutex>& lock);
    void take_part(std::unique_lock<std::mutex>& lock, const Handle& task, bool may_leave);
    void look_who_is_wanted();

    std::mutex mutex_;
    std::condition_variable begun_, left_;
    std::deque<Handle> tasks_;  // those with pieces that nobody took
    bool ends_ = false;
    std::atomic<int64_t> added_{0};       // tasks so far
    std::atomic<int64_t> look_until_{0};  // when threads that were roused may sleep again, in ticks of their clock
    int64_t roused_ = 0;                  // how often; the mutex guards it
    std::atomic<bool> is_wanted_{false};  // whether a task that comes first has room for another thread
    int64_t running_ = 0;
    StdThreads threads_;
};

#endif

}  // namespace pairhmm
