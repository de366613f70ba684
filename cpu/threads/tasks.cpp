#include "threads/tasks.hpp"

#if !defined(__wasm__)
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "threads/helpers.hpp"
#endif

namespace pairhmm {
namespace {

void run_alone(int64_t count, std::atomic<bool>& stop, const std::function<bool()>& interrupted,
               const std::function<void(int64_t)>& task) {
    for (int64_t i = 0; i < count && !(stop = stop || interrupted()); ++i) task(i);
}

}  // namespace

#if defined(__wasm__)

void run_tasks(int64_t count, int, std::atomic<bool>& stop, const std::function<bool()>& interrupted,
               const std::function<void(int64_t)>& task) {
    run_alone(count, stop, interrupted, task);
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
    Helpers pool;
    const int64_t started = pool.start(wanted, work);
    if (started == 0) {
        run_alone(count, stop, interrupted, task);
        return;
    }
    {
        std::unique_lock<std::mutex> guard(lock);
        running -= wanted - started;
        while (!ended.wait_for(guard, std::chrono::milliseconds(100), [&] { return running == 0; })) {
            guard.unlock();
            if (interrupted()) stop = true;
            guard.lock();
        }
    }
    pool.join();
    if (failure) std::rethrow_exception(failure);
}

#endif

}  // namespace pairhmm
