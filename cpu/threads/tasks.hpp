// Numbered tasks, shared out to threads while the caller looks for an interrupt.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace pairhmm {

// Runs task(0) to task(count - 1) on `threads` threads, begun in this order, and polls `interrupted` meanwhile.
// Rethrows a worker's exception. Where no thread can be started, the caller runs the tasks between polls.
void run_tasks(int64_t count, int threads, std::atomic<bool>& stop, const std::function<bool()>& interrupted,
               const std::function<void(int64_t)>& task);

// The same for tasks that take milliseconds at most: for one thread, none is started.
void run_short_tasks(int64_t count, int threads, std::atomic<bool>& stop, const std::function<bool()>& interrupted,
                     const std::function<void(int64_t)>& task);

}  // namespace pairhmm
