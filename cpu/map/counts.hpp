// How often each key was seen, in bounded memory: of the keys whose value is below a limit.
//
// When the table is full, the limit halves, and the keys above it are dropped. At the end, the limit is the largest one
// whose keys fit, and their counts are exact: neither depends on the order of the keys.
#pragma once

#include <stddef.h>

#include <array>
#include <cstdint>
#include <vector>

namespace pairhmm {

class KeyCounts {
public:
    // value_bits: the lowest bits of a key, which are its value. least: counts are kept up to this one, at most 255.
    // most: distinct keys that are kept.
    KeyCounts(int value_bits, int least, int64_t most);

    // Keys wait until there are some more: their places are then on the way from memory.
    void add(uint64_t key) {
        if ((key & value_mask_) >= limit_) return;
        const size_t at = place_of(key);
        __builtin_prefetch(&keys_[at]);
        __builtin_prefetch(&counts_[at]);
        waiting_[waiting_count_++] = key;
        if (waiting_count_ == kWaiting) flush();
    }

    // Counts the keys that wait.
    void flush();

    // After a flush: keys with a value below this were counted.
    uint64_t limit() const { return limit_; }

    // After a flush: the keys that were seen `least` times or more, in any order.
    std::vector<uint64_t> frequent() const;

    void clear();

private:
    static constexpr size_t kWaiting = 32;

    void insert(uint64_t key);
    void make_room();
    void rebuild(size_t size);
    size_t place_of(uint64_t key) const { return static_cast<size_t>((key * 0x9E3779B97F4A7C15u) >> shift_); }

    uint64_t value_mask_, limit_;
    uint8_t least_;
    std::array<uint64_t, kWaiting> waiting_{};
    size_t waiting_count_ = 0;
    int64_t most_, held_ = 0;
    int shift_ = 0;
    std::vector<uint64_t> keys_;
    std::vector<uint8_t> counts_;  // 0: the place is free
};

}  // namespace pairhmm
