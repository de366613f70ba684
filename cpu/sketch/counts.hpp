// How often each key was seen, in bounded memory: of the keys whose value is below a limit.
//
// When the table is full, the limit halves, and the keys above it are dropped. At the end, the limit is the largest one
// whose keys fit, and their counts are exact: neither depends on the order of the keys.
#pragma once

#include <stddef.h>

#include <cstdint>
#include <vector>

namespace pairhmm {

class KeyCounts {
public:
    // value_bits: the lowest bits of a key, which are its value. least: counts are kept up to this one, at most 255.
    // most: distinct keys that are kept.
    KeyCounts(int value_bits, int least, int64_t most);

    void add(uint64_t key) {
        if ((key & value_mask_) < limit_) insert(key);
    }

    // Keys with a value below this were counted.
    uint64_t limit() const { return limit_; }

    // The keys that were seen `least` times or more, in any order.
    std::vector<uint64_t> frequent() const;

    void clear();

private:
    void insert(uint64_t key);
    void make_room();
    void rebuild(size_t size);
    size_t place_of(uint64_t key) const { return static_cast<size_t>((key * 0x9E3779B97F4A7C15u) >> shift_); }

    uint64_t value_mask_, limit_;
    uint8_t least_;
    int64_t most_, held_ = 0;
    int shift_ = 0;
    std::vector<uint64_t> keys_;
    std::vector<uint8_t> counts_;  // 0: the place is free
};

}  // namespace pairhmm
