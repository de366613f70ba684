// Sketches of the k-mers of a sample (docs/map.md). tests/map/sketch/permutation.py says the same in NumPy.
//
// The hash of a k-mer names a fine slot by its highest bits, and the rest of it is its value there. A slot keeps its
// least value. A sketch of fewer slots folds neighbours, so one pass over a sample serves every number of slots.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "map/counts.hpp"

namespace pairhmm {

constexpr int kFineBits = 14;
constexpr int kValueBits = 64 - kFineBits;
constexpr int64_t kFineSlots = int64_t{1} << kFineBits;
constexpr uint64_t kNoValue = ~uint64_t{0};

// The least values of fine slots, and how many distinct k-mers there are.
struct Minima {
    std::vector<uint64_t> values;  // [kFineSlots]; kNoValue for an empty slot
    double kmers = 0;
};

// The minima of every k-mer that was seen.
class AllKmers {
public:
    explicit AllKmers(int k) : k_(k), values_(kFineSlots, kNoValue) {}

    // Takes the k-mers of letters, as sets of bases.
    void add(const uint8_t* sets, int64_t count);

    // K-mers that were seen, each as often as it was.
    int64_t seen() const { return seen_; }

    Minima minima() const;
    void clear();

private:
    void lower_limit();

    int k_;
    std::vector<uint64_t> values_;
    uint64_t limit_ = kNoValue;  // no slot has a higher value
    int64_t seen_ = 0, unchecked_ = 0;
};

// The minima of the k-mers that were seen `least` times or more.
class FrequentKmers {
public:
    FrequentKmers(int k, int least, int64_t most) : k_(k), counts_(kValueBits, least, most) {}

    void add(const uint8_t* sets, int64_t count);
    int64_t seen() const { return seen_; }
    Minima minima() const;
    void clear();

private:
    int k_;
    KeyCounts counts_;
    int64_t seen_ = 0;
};

// The tokens that decide the published signature (pairhmm/map/sketch/published.py): for each of its slots the one with
// the least first hash, and some more, so that there are at least `kFewTokens` if the sample has as many.
class FrequentTokens {
public:
    FrequentTokens(int k, int least, int64_t most, uint64_t factor, uint64_t shift);

    void add(const uint8_t* sets, int64_t count);
    int64_t seen() const { return seen_; }
    std::vector<uint32_t> tokens() const;  // sorted
    double kmers() const;
    void clear();

private:
    int k_;
    uint64_t factor_, shift_, inverse_;
    KeyCounts counts_;
    int64_t seen_ = 0;
};

// The values of `slots` slots. An empty slot takes the value of another by optimal densification (Shrivastava 2017).
// At least one of minima[kFineSlots] is a value.
std::vector<uint64_t> dense_slots(const std::vector<uint64_t>& minima, int64_t slots);

// The lowest `bits` bits of each value: bit b of slot s is bit s % 64 of word s / 64 of plane b.
std::vector<uint64_t> bit_planes(const std::vector<uint64_t>& values, int bits);

}  // namespace pairhmm
