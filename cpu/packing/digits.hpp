// Several bytes of a position as digits of one number, which a device takes apart again: fewer bytes for the bus.
#pragma once

#include <cstdint>
#include <vector>

namespace pairhmm {

// A position's number is the sum of value * weight over the arrays, less `offset`: the least values with their weights.
// Weights are products of the radices before, so that the first array's digit is the lowest one
// (pairhmm/backends/read_packing.py).
struct Digits {
    std::vector<const uint8_t*> from;  // kLeastDigits to kMostDigits arrays
    std::vector<uint16_t> weight;
    uint16_t offset;
    int64_t bytes;  // of a number: 1 or 2
};

constexpr int kLeastDigits = 2, kMostDigits = 5;

// Writes the numbers of positions first..first + count - 1, in memory that nothing here reads.
void write_digits(const Digits& digits, int64_t first, int64_t count, uint8_t* to);

}  // namespace pairhmm
