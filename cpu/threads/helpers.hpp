// Threads that work beside the caller.
#pragma once

#include <cstdint>
#include <functional>
#if !defined(__wasm__)
#include <thread>
#endif
#include <vector>

namespace pairhmm {

// Threads that end with their owner. The system may start fewer than are asked for (a limit on processes, no memory for
// a stack). The others and the caller then do the work, and the missing ones are counted. The code is in helpers.cpp:
// files that are compiled for one SIMD level must not bring copies of what all share.
class Helpers {
public:
    Helpers() = default;
    ~Helpers() { join(); }
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

    // Starts up to `count` threads that call `work`. Returns how many run.
    int64_t start(int64_t count, const std::function<void()>& work);
    void join();

    // Lets other threads run, for a caller that waits for one of them.
    static void give_way();

private:
#if !defined(__wasm__)
    std::vector<std::thread> threads_;
#endif
};

// How many threads could not be started in this process so far.
int64_t threads_refused();

}  // namespace pairhmm
