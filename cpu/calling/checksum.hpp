// The CRC-32 of a name, as zlib's crc32 gives it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pairhmm {

inline uint32_t checksum(std::string_view name) {
    // Of a byte with 0 to 3 zero bytes behind it: four are taken at once.
    static const std::array<std::array<uint32_t, 256>, 4> of_byte = [] {
        std::array<std::array<uint32_t, 256>, 4> table{};
        for (uint32_t byte = 0; byte < 256; ++byte) {
            uint32_t value = byte;
            for (std::array<uint32_t, 256>& of_place : table) {
                for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
                of_place[byte] = value;
            }
        }
        return table;
    }();
    const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(name[i])); };
    uint32_t value = ~uint32_t{0};
    size_t i = 0;
    for (; i + 4 <= name.size(); i += 4) {
        value ^= byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24;
        value = of_byte[3][value & 0xFF] ^ of_byte[2][value >> 8 & 0xFF] ^ of_byte[1][value >> 16 & 0xFF] ^
                of_byte[0][value >> 24];
    }
    for (; i < name.size(); ++i) value = of_byte[0][(value ^ byte(i)) & 0xFF] ^ value >> 8;
    return ~value;
}

}  // namespace pairhmm
