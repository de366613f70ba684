// From minima to a sketch: folded to fewer slots, densified, and cut to a few bits.
#pragma once

#include <cstdint>
#include <vector>

namespace pairhmm {

// The values of `slots` slots. An empty slot takes the value of another by optimal densification (Shrivastava 2017).
// At least one of minima[kFineSlots] is a value.
std::vector<uint64_t> dense_slots(const std::vector<uint64_t>& minima, int64_t slots);

// The lowest `bits` bits of each value: bit b of slot s is bit s % 64 of word s / 64 of plane b.
std::vector<uint64_t> bit_planes(const std::vector<uint64_t>& values, int bits);

}  // namespace pairhmm
