#include "threads/crew.hpp"

#include <thread>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pairhmm {
namespace {

constexpr int64_t kReturns = 4;  // how often each thread may leave for work that comes first, and join again

}  // namespace

Crew::Crew(Team* team, std::function<void(Crew&)> lead, int64_t count, std::function<void(int64_t)> aside)
    : team_(team), lead_(std::move(lead)), asides_(count), aside_(std::move(aside)) {
    if (team_) task_ = team_->begin(kReturns * team_->size(), 1, [this](int64_t, int64_t) { join(); });
}

Crew::~Crew() {
    stops_ = true;
    if (team_) team_->wait(task_);
}

bool Crew::Step::take_part() {
    bool did = false;
    while (next < count) {
        const int64_t first = next.fetch_add(size);
        if (first >= count) break;
        share(first, std::min(first + size, count));
        did = true;
    }
    return did;
}

void Crew::join() {
    ++working_;
    if (!is_over() && !do_lead()) {
        const bool steps_first = joined_++ % 2 == 0;
        while (!is_over() && !team_->is_wanted()) {
            const bool did = steps_first ? do_step() || do_aside() : do_aside() || do_step();
            if (!did) pause();
        }
    }
    --working_;
}

bool Crew::do_lead() {
    if (has_lead_.exchange(true)) return false;
    lead_(*this);
    lead_ended_ = true;
    return true;
}

bool Crew::do_aside() {
    if (stops_ || next_aside_ >= asides_) return false;
    const int64_t i = next_aside_++;
    if (i >= asides_) return false;
    aside_(i);
    return true;
}

bool Crew::do_step() {
    if (!open_.load(std::memory_order_relaxed)) return false;
    ++inside_;
    Step* step = open_;
    const bool did = step && step->take_part();
    if (step) open_.compare_exchange_strong(step, nullptr);  // nobody else need look at it
    --inside_;
    return did;
}

// Another thread of the core goes on meanwhile. Where there are fewer cores than threads, so does one that has work.
void Crew::pause() {
    thread_local int count = 0;
    if (++count % 32 == 0) std::this_thread::yield();
#if defined(__SSE2__)
    else _mm_pause();
#endif
}

}  // namespace pairhmm
