// Copies of large arrays into memory that a device reads, made by threads while the caller goes on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "threads/std_threads.hpp"

namespace pairhmm {

class Copier {
public:
    explicit Copier(int threads);
    ~Copier();
    Copier(const Copier&) = delete;
    Copier& operator=(const Copier&) = delete;

    // Begins to copy `count` bytes and returns the number of the copy. With `packed` the bytes are sets of bases, and
    // are written eight to a word of 32 bits, the first one lowest, with N behind the last. Both arrays must live until
    // wait() returns.
    int64_t begin(const uint8_t* from, uint8_t* to, int64_t count, bool packed);

    // Returns when all copies up to that number are made; where no thread could be started, they are made here.
    void wait(int64_t number);

private:
    struct Copy {
        const uint8_t* from;
        uint8_t* to;
        int64_t count;
        bool packed;
        int64_t taken = 0, left;  // bytes that a thread took, and that are not there yet
    };

    void work();
    void copy_share(std::unique_lock<std::mutex>& lock);

    std::mutex mutex_;
    std::condition_variable begun_, made_;
    std::deque<Copy> copies_;  // in order, those that are not made
    int64_t first_ = 0;        // number of the first of them
    size_t taken_ = 0;         // of them, those whose bytes are all taken
    bool ends_ = false;
    int64_t running_ = 0;
    StdThreads threads_;
};

}  // namespace pairhmm
