#include "map/sketcher.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "map/kmers.hpp"

namespace pairhmm {
namespace {

constexpr uint64_t kValueMask = (uint64_t{1} << kValueBits) - 1;

// Letters between two looks at the limit, which take as long as a few thousand letters.
constexpr int64_t kLongestStretch = int64_t{1} << 18;
constexpr int64_t kFirstStretch = int64_t{1} << 15;

// Of the published scheme.
constexpr uint64_t kPrime = (uint64_t{1} << 31) - 1;
constexpr int kTokenValueBits = 24;
constexpr size_t kTokenSlots = 128, kFewTokens = 12;

// The token of a k-mer, below kPrime.
uint64_t token_of(uint64_t hash) { return hash % kPrime; }

uint64_t power(uint64_t base, uint64_t exponent) {
    uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1, base = base * base % kPrime) {
        if (exponent & 1) result = result * base % kPrime;
    }
    return result;
}

}  // namespace

void AllKmers::add(const uint8_t* sets, int64_t count) {
    uint64_t* values = values_.data();
    for (int64_t at = 0; at < count;) {
        const uint64_t limit = limit_;
        const int64_t stretch = std::clamp(seen_, kFirstStretch, kLongestStretch);
        // The next stretch begins with the k-mer behind the last one of this.
        const int64_t size = std::min(count - at, stretch + k_ - 1);
        seen_ += each_hash(sets + at, size, k_, [=](uint64_t hash) {
            const uint64_t value = hash & kValueMask;
            if (value > limit) return;
            uint64_t& least = values[hash >> kValueBits];
            if (value < least) least = value;
        });
        at += size == count - at ? size : size - k_ + 1;
        unchecked_ += size;
        if (unchecked_ >= stretch) lower_limit();
    }
}

void AllKmers::lower_limit() {
    uint64_t highest = 0;
    for (const uint64_t value : values_) highest = std::max(highest, value);
    limit_ = highest;
    unchecked_ = 0;
}

// Values are uniform, so the least one of a slot is exponential in the number of its k-mers, cut off at 1 where there
// is none. The estimate is the most likely number.
Minima AllKmers::minima() const {
    double total = 0, taken = 0;
    for (const uint64_t value : values_) {
        total += value == kNoValue ? 1.0 : std::ldexp(static_cast<double>(value) + 0.5, -kValueBits);
        taken += value != kNoValue;
    }
    return {values_, taken == 0 ? 0 : static_cast<double>(kFineSlots) * taken / total};
}

void AllKmers::clear() {
    std::fill(values_.begin(), values_.end(), kNoValue);
    limit_ = kNoValue;
    seen_ = unchecked_ = 0;
}

void FrequentKmers::add(const uint8_t* sets, int64_t count) {
    seen_ += each_hash(sets, count, k_, [this](uint64_t hash) { counts_.add(hash); });
    counts_.flush();
}

Minima FrequentKmers::minima() const {
    Minima found{std::vector<uint64_t>(kFineSlots, kNoValue), 0};
    for (const uint64_t hash : counts_.frequent()) {
        uint64_t& least = found.values[hash >> kValueBits];
        least = std::min(least, hash & kValueMask);
        found.kmers += 1;
    }
    found.kmers *= std::ldexp(1.0, kValueBits) / static_cast<double>(counts_.limit());
    return found;
}

void FrequentKmers::clear() {
    counts_.clear();
    seen_ = 0;
}

FrequentTokens::FrequentTokens(int k, int least, int64_t most, uint64_t factor, uint64_t shift)
    : k_(k),
      factor_(factor),
      shift_(shift),
      inverse_(power(factor, kPrime - 2)),
      counts_(kTokenValueBits, least, most) {}

void FrequentTokens::add(const uint8_t* sets, int64_t count) {
    seen_ += each_hash(sets, count, k_,
                       [this](uint64_t hash) { counts_.add((factor_ * token_of(hash) + shift_) % kPrime); });
    counts_.flush();
}

std::vector<uint32_t> FrequentTokens::tokens() const {
    std::vector<uint64_t> keys = counts_.frequent();
    std::sort(keys.begin(), keys.end());
    std::vector<uint32_t> found;
    uint64_t slot = kTokenSlots;
    for (size_t i = 0; i < keys.size(); ++i) {
        if (keys[i] >> kTokenValueBits == slot && i >= kFewTokens) continue;
        slot = keys[i] >> kTokenValueBits;
        found.push_back(static_cast<uint32_t>((keys[i] + kPrime - shift_) % kPrime * inverse_ % kPrime));
    }
    std::sort(found.begin(), found.end());
    return found;
}

// Two k-mers may share a token: the number of k-mers that is expected to have this number of tokens.
double FrequentTokens::kmers() const {
    const double share = static_cast<double>(counts_.limit()) / (1 << kTokenValueBits), prime = kPrime;
    const double tokens = static_cast<double>(counts_.frequent().size()) / share;
    return -prime * std::log1p(-std::min(tokens, prime - 1) / prime);
}

void FrequentTokens::clear() {
    counts_.clear();
    seen_ = 0;
}

std::vector<uint64_t> dense_slots(const std::vector<uint64_t>& minima, int64_t slots) {
    const int64_t neighbours = kFineSlots / slots;
    std::vector<uint64_t> folded(static_cast<size_t>(slots));
    for (int64_t slot = 0; slot < slots; ++slot) {
        const auto first = minima.begin() + slot * neighbours;
        folded[static_cast<size_t>(slot)] = *std::min_element(first, first + neighbours);
    }
    std::vector<uint64_t> dense = folded;
    for (uint64_t slot = 0; slot < dense.size(); ++slot) {
        for (uint64_t attempt = 1; dense[slot] == kNoValue; ++attempt) {
            dense[slot] = folded[hash_of(slot << 32 | attempt) % folded.size()];
        }
    }
    return dense;
}

std::vector<uint64_t> bit_planes(const std::vector<uint64_t>& values, int bits) {
    const size_t words = values.size() / 64;
    std::vector<uint64_t> planes(static_cast<size_t>(bits) * words);
    for (size_t slot = 0; slot < values.size(); ++slot) {
        for (size_t bit = 0; bit < static_cast<size_t>(bits); ++bit) {
            planes[bit * words + slot / 64] |= (values[slot] >> bit & 1) << (slot % 64);
        }
    }
    return planes;
}

}  // namespace pairhmm
