#include "threads/spin_pool.hpp"

#include <thread>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pairhmm {
namespace {

constexpr int64_t kReturns = 4;  // how often each thread may leave for work that comes first, and join again

}  // namespace

SpinPool::SpinPool(ThreadPool* pool, std::function<void(SpinPool&)> lead, int64_t count,
                   std::function<void(int64_t)> background)
    : pool_(pool), lead_(std::move(lead)), background_count_(count), background_(std::move(background)) {
    if (pool_) task_ = pool_->begin(kReturns * pool_->size(), 1, [this](int64_t, int64_t) { join(); });
}

SpinPool::~SpinPool() {
    stops_ = true;
    if (pool_) pool_->wait(task_);
}

bool SpinPool::Step::take_part() {
    bool did = false;
    while (next < count) {
        const int64_t first = next.fetch_add(size);
        if (first >= count) break;
        share(first, std::min(first + size, count));
        did = true;
    }
    return did;
}

void SpinPool::join() {
    ++working_;
    if (!is_over() && !do_lead()) {
        const bool steps_first = joined_++ % 2 == 0;
        while (!is_over() && !pool_->is_wanted()) {
            const bool did = steps_first ? do_step() || do_background() : do_background() || do_step();
            if (!did) pause();
        }
    }
    --working_;
}

bool SpinPool::do_lead() {
    if (has_lead_.exchange(true)) return false;
    lead_(*this);
    lead_ended_ = true;
    return true;
}

bool SpinPool::do_background() {
    if (stops_ || next_background_ >= background_count_) return false;
    const int64_t i = next_background_++;
    if (i >= background_count_) return false;
    background_(i);
    return true;
}

bool SpinPool::do_step() {
    if (!open_.load(std::memory_order_relaxed)) return false;
    ++inside_;
    Step* step = open_;
    const bool did = step && step->take_part();
    if (step) open_.compare_exchange_strong(step, nullptr);  // nobody else need look at it
    --inside_;
    return did;
}

// Another thread of the core goes on meanwhile. Where there are fewer cores than threads, so does one that has work.
void SpinPool::pause() {
    thread_local int count = 0;
    if (++count % 32 == 0) std::this_thread::yield();
#if defined(__SSE2__)
    else _mm_pause();
#endif
}

}  // namespace pairhmm
