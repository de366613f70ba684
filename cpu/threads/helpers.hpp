// Threads that work beside the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace pairhmm {

// Threads that end with their owner. The system may start fewer than are asked for (a limit on processes, no memory for
// a stack): then the others and the caller do the work, and it is counted. Defined in helpers.cpp, so that files
// compiled for one level of SIMD do not bring code of their own for what all of them share.
class Helpers {
public:
    Helpers() = default;
    ~Helpers() { join(); }
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

    // Starts up to `count` threads that call `work`; how many run.
    int64_t start(int64_t count, const std::function<void()>& work);
    void join();

private:
    std::vector<std::thread> threads_;
};

// How many threads could not be started in this process so far.
int64_t threads_refused();

}  // namespace pairhmm
