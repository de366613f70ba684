#include "map/counts.hpp"

#include <utility>

namespace pairhmm {
namespace {

constexpr size_t kSmallest = size_t{1} << 12;

int log2_of(size_t size) {
    int bits = 0;
    while (size_t{1} << bits < size) ++bits;
    return bits;
}

// At most three quarters of the places are taken.
bool holds(size_t places, int64_t keys) { return static_cast<int64_t>(places / 4 * 3) >= keys; }

}  // namespace

KeyCounts::KeyCounts(int value_bits, int least, int64_t most)
    : value_mask_((uint64_t{1} << value_bits) - 1), least_(static_cast<uint8_t>(least)), most_(most) {
    clear();
}

void KeyCounts::clear() {
    limit_ = value_mask_ + 1;
    held_ = 0;
    waiting_count_ = 0;
    keys_ = std::vector<uint64_t>(kSmallest);
    counts_ = std::vector<uint8_t>(kSmallest);
    shift_ = 64 - log2_of(kSmallest);
}

void KeyCounts::flush() {
    for (size_t i = 0; i < waiting_count_; ++i) insert(waiting_[i]);
    waiting_count_ = 0;
}

void KeyCounts::insert(uint64_t key) {
    if ((key & value_mask_) >= limit_) return;  // the limit has halved since the key came
    size_t at = place_of(key);
    while (counts_[at] != 0) {
        if (keys_[at] == key) {
            if (counts_[at] < least_) ++counts_[at];
            return;
        }
        at = (at + 1) & (keys_.size() - 1);
    }
    keys_[at] = key;
    counts_[at] = 1;
    ++held_;
    if (held_ > most_ || !holds(keys_.size(), held_)) make_room();
}

void KeyCounts::make_room() {
    if (held_ <= most_) return rebuild(2 * keys_.size());
    while (held_ > most_) {
        limit_ >>= 1;
        rebuild(keys_.size());
    }
}

// Puts the keys below the limit into a table of this many places.
void KeyCounts::rebuild(size_t size) {
    std::vector<std::pair<uint64_t, uint8_t>> kept;
    for (size_t at = 0; at < keys_.size(); ++at) {
        if (counts_[at] != 0 && (keys_[at] & value_mask_) < limit_) kept.emplace_back(keys_[at], counts_[at]);
    }
    keys_.assign(size, 0);
    counts_.assign(size, 0);
    shift_ = 64 - log2_of(size);
    held_ = static_cast<int64_t>(kept.size());
    for (const auto& [key, count] : kept) {
        size_t at = place_of(key);
        while (counts_[at] != 0) at = (at + 1) & (size - 1);
        keys_[at] = key;
        counts_[at] = count;
    }
}

std::vector<uint64_t> KeyCounts::frequent() const {
    std::vector<uint64_t> found;
    for (size_t at = 0; at < keys_.size(); ++at) {
        if (counts_[at] >= least_) found.push_back(keys_[at]);
    }
    return found;
}

}  // namespace pairhmm
