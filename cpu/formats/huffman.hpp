// Huffman codes as deflate has them (RFC 1951, section 3.2.2): canonical, with a limit on the length.
#pragma once

#include <cstdint>

namespace pairhmm {

constexpr int kMostSymbols = 286;

struct HuffmanCode {
    uint8_t length[kMostSymbols];  // in bits; 0 for symbols that do not occur
    uint16_t code[kMostSymbols];   // the first bit is the lowest
};

// A code for symbols that occur so many times. Its lengths are at most `limit` bits.
HuffmanCode make_code(const uint32_t* count, int symbols, int limit);

}  // namespace pairhmm
