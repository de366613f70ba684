#include "threads/pool.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace pairhmm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kLookOut(50);
constexpr std::chrono::microseconds kRoused(500);  // as long as what a caller does before it has work
constexpr int kTries = 200;                        // for a lock that nobody holds for long

// Threads that begin together want the mutex at once. Who sleeps until it is free comes late.
void lock_soon(std::unique_lock<std::mutex>& lock) {
    for (int i = 0; i < kTries; ++i) {
        if (lock.try_lock()) return;
        std::this_thread::yield();
    }
    lock.lock();
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
    running_ = threads_.start(threads, [this] { work(); });
}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ends_ = true;
    }
    begun_.notify_all();
    threads_.join();
}

void ThreadPool::rouse() {
    look_until_ = (Clock::now() + kRoused).time_since_epoch().count();
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++roused_;
    }
    begun_.notify_all();
}

ThreadPool::Handle ThreadPool::begin(int64_t count, int64_t size, std::function<void(int64_t, int64_t)> share) {
    return add(count, size, running_ + 1, std::move(share), false);
}

ThreadPool::Handle ThreadPool::add(int64_t count, int64_t size, int64_t most,
                                   std::function<void(int64_t, int64_t)> share, bool is_first) {
    auto task = std::make_shared<Task>();
    task->share = std::move(share);
    task->count = count, task->size = size, task->most = most, task->is_first = is_first;
    if (count == 0) return task;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++added_;
        tasks_.insert(is_first ? tasks_.begin() : tasks_.end(), task);
        look_who_is_wanted();
    }
    if (count > size) {
        begun_.notify_all();
    } else {
        begun_.notify_one();
    }
    return task;
}

void ThreadPool::wait(const Handle& task) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (task->next < task->count) take_part(lock, task, false);
    left_.wait(lock, [&] { return task->next >= task->count && task->workers == 0; });
}

void ThreadPool::work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
        const auto open =
            std::find_if(tasks_.begin(), tasks_.end(), [](const Handle& task) { return task->workers < task->most; });
        if (open != tasks_.end()) {
            take_part(lock, Handle(*open), true);
        } else if (ends_) {
            return;
        } else {
            look_out(lock);
        }
    }
}

// Waits for the next task. The steps of a call follow each other soon, and to wake a thread takes longer than some.
void ThreadPool::look_out(std::unique_lock<std::mutex>& lock) {
    const int64_t seen = added_, roused = roused_;
    lock.unlock();
    const int64_t end = (Clock::now() + kLookOut).time_since_epoch().count();
    const auto now = [] { return Clock::now().time_since_epoch().count(); };
    while (added_ == seen && now() < std::max<int64_t>(end, look_until_)) std::this_thread::yield();
    lock_soon(lock);
    begun_.wait(lock, [&] { return ends_ || added_ != seen || roused_ != roused; });
}

// Takes pieces of a task until none is left, or until one that comes first wants a thread, if it may leave. Who finds
// none left takes the task from the list.
void ThreadPool::take_part(std::unique_lock<std::mutex>& lock, const Handle& task, bool may_leave) {
    ++task->workers;
    look_who_is_wanted();
    lock.unlock();
    for (int64_t first; (first = task->next.fetch_add(task->size)) < task->count;) {
        task->share(first, std::min(first + task->size, task->count));
        if (may_leave && !task->is_first && is_wanted_) break;
    }
    lock_soon(lock);
    const auto at = std::find(tasks_.begin(), tasks_.end(), task);
    if (at != tasks_.end() && task->next >= task->count) tasks_.erase(at);
    if (--task->workers == 0) left_.notify_all();
    look_who_is_wanted();
}

void ThreadPool::look_who_is_wanted() {
    is_wanted_ = std::any_of(tasks_.begin(), tasks_.end(),
                             [](const Handle& task) { return task->is_first && task->workers < task->most; });
}

}  // namespace pairhmm
