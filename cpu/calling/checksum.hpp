// The CRC-32 of a name, as zlib's crc32 gives it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pairhmm {

inline uint32_t checksum(std::string_view name) {
    static const std::array<uint32_t, 256> of_byte = [] {
        std::array<uint32_t, 256> table{};
        for (uint32_t byte = 0; byte < 256; ++byte) {
            table[byte] = byte;
            for (int bit = 0; bit < 8; ++bit) table[byte] = table[byte] >> 1 ^ (table[byte] & 1 ? 0xEDB88320u : 0);
        }
        return table;
    }();
    uint32_t value = ~uint32_t{0};
    for (const char letter : name) value = of_byte[(value ^ static_cast<uint8_t>(letter)) & 0xFF] ^ value >> 8;
    return ~value;
}

}  // namespace pairhmm
