// Threads of a pool that spin between the steps of one call, which takes less than a millisecond.
//
// One thread leads: it runs the serial parts, and opens steps whose pieces the others share. Background work runs while
// no step is open. Every second thread prefers it, so both kinds progress from the start. Opening a step is one store.
// Waking the sleeping threads of a ThreadPool takes 50 us, as long as most steps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

#include "threads/pool.hpp"

namespace pairhmm {

#if defined(__wasm__)

// The caller alone: the build for WebAssembly has no threads.
class SpinPool {
public:
    template <class Share>
    void run(int64_t count, int64_t size, const Share& share) {
        for (int64_t first = 0; first < count; first += size) share(first, std::min(first + size, count));
    }
};

#else

class SpinPool {
public:
    // lead(pool) is done once, and background(i) for every i in [0, count), those with low numbers first. Without a
    // pool the caller does all of it. What these refer to must live as long as the pool.
    SpinPool(ThreadPool* pool, std::function<void(SpinPool&)> lead, int64_t count,
             std::function<void(int64_t)> background);

    // Waits until nothing is worked at. What was not begun then is left.
    ~SpinPool();
    SpinPool(const SpinPool&) = delete;
    SpinPool& operator=(const SpinPool&) = delete;

    // How many threads may share a step, with the lead.
    int64_t size() const { return pool_ ? pool_->size() : 1; }

    // Of the lead: share(first, end) over [0, count) in pieces of at most `size`. Returns when all are done.
    template <class Share>
    void run(int64_t count, int64_t size, const Share& share) {
        Step step{share, count, size};
        if (pool_ && count > size) {
            open_ = &step;
            step.take_part();
            open_ = nullptr;
            while (inside_ > 0) pause();
        } else {
            step.take_part();
        }
    }

    // Of the caller: waits until `is_done`, which some of the work makes true. It works with the others only if they
    // are few: its caches then keep what it needs next.
    template <class Done>
    void work_until(const Done& is_done) {
        while (!is_done()) {
            const bool works = size() < kMany || working_ == 0;
            if (!works || !(do_background() || do_step() || do_lead())) pause();
        }
    }

    bool is_led_to_its_end() const { return lead_ended_; }

private:
    static constexpr int64_t kMany = 8;  // threads

    struct Step {
        std::function<void(int64_t, int64_t)> share;
        int64_t count, size;
        std::atomic<int64_t> next{0};

        template <class Share>
        Step(const Share& its_share, int64_t its_count, int64_t its_size)
            : share(std::cref(its_share)), count(its_count), size(its_size) {}

        bool take_part();
    };

    void join();  // a thread of the pool
    bool do_lead();
    bool do_background();
    bool do_step();
    bool is_over() const { return stops_ || (lead_ended_ && next_background_ >= background_count_); }
    static void pause();

    ThreadPool* const pool_;
    const std::function<void(SpinPool&)> lead_;
    const int64_t background_count_;
    const std::function<void(int64_t)> background_;
    alignas(64) std::atomic<Step*> open_{nullptr};
    alignas(64) std::atomic<int64_t> inside_{0};  // threads that look at the open step, or work at it
    alignas(64) std::atomic<int64_t> next_background_{0};
    std::atomic<int64_t> joined_{0}, working_{0};  // threads of the pool, and those that have not left
    std::atomic<bool> has_lead_{false}, lead_ended_{false}, stops_{false};
    ThreadPool::Handle task_;
};

#endif

}  // namespace pairhmm
