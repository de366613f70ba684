// Locks, which cost nothing where the build has no threads: WebAssembly, where each worker has an instance of its own.
#pragma once

#include <mutex>

namespace pairhmm {

#if defined(__wasm__)
struct Mutex {
    void lock() {}
    void unlock() {}
};
class Once {
public:
    template <class Task>
    void call(const Task& task) {
        if (!done_) task();
        done_ = true;
    }

private:
    bool done_ = false;
};
#else
using Mutex = std::mutex;
class Once {
public:
    // Runs `task` for the first caller. The others wait for its end.
    template <class Task>
    void call(const Task& task) {
        std::call_once(flag_, task);
    }

private:
    std::once_flag flag_;
};
#endif

}  // namespace pairhmm
