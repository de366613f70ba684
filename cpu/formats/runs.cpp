#include "formats/runs.hpp"

#include <array>
#include <map>
#include <utility>

namespace pairhmm {
namespace {

// CRC-32 are polynomials over two elements, whose highest power is the lowest bit, modulo this one.
constexpr uint32_t kPolynomial = 0xEDB88320;
constexpr uint32_t kOne = uint32_t{1} << 31;

uint32_t product(uint32_t one, uint32_t other) {
    uint32_t result = 0;
    for (; one != 0; one <<= 1) {
        if (one & kOne) result ^= other;
        other = other >> 1 ^ (other & 1 ? kPolynomial : 0);
    }
    return result;
}

// What a CRC-32 is multiplied by if so many bytes follow.
uint32_t power(uint64_t bytes) {
    uint32_t result = kOne, square = uint32_t{1} << 23;  // of no bit, of 8 bits
    for (; bytes != 0; bytes >>= 1) {
        if (bytes & 1) result = product(square, result);
        square = product(square, square);
    }
    return result;
}

std::array<uint32_t, 256> make_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? kPolynomial : 0);
        table[byte] = value;
    }
    return table;
}

uint32_t crc32(const uint8_t* begin, const uint8_t* end) {
    static const std::array<uint32_t, 256> table = make_table();
    uint32_t crc = ~uint32_t{0};
    for (; begin != end; ++begin) crc = table[(crc ^ *begin) & 0xFF] ^ crc >> 8;
    return ~crc;
}

// Multiplies by one factor.
class Times {
public:
    explicit Times(uint32_t factor) {
        for (int bit = 31; bit >= 0; --bit) {
            table_[bit / 8][1 << bit % 8] = factor;
            factor = factor >> 1 ^ (factor & 1 ? kPolynomial : 0);
        }
        for (auto& of_byte : table_)
            for (int byte = 1; byte < 256; ++byte) of_byte[byte] = of_byte[byte & -byte] ^ of_byte[byte & (byte - 1)];
    }

    uint32_t operator()(uint32_t value) const {
        return table_[0][value & 0xFF] ^ table_[1][value >> 8 & 0xFF] ^ table_[2][value >> 16 & 0xFF] ^
               table_[3][value >> 24];
    }

private:
    std::array<std::array<uint32_t, 256>, 4> table_{};
};

// What becomes of the CRC-32 of a value that is repeated, and of that of what stands before the repeats.
struct Repeated {
    Times own, before;
};

// 1 + x + .. + x^(count - 1), and x^count, where x stands for the bytes of one value.
Repeated repeated(uint32_t x, uint64_t count) {
    uint32_t own = 0, before = kOne;
    for (int bit = 63; bit >= 0; --bit) {
        own = product(own, before ^ kOne);
        before = product(before, before);
        if (count >> bit & 1) {
            own = product(own, x) ^ kOne;
            before = product(before, x);
        }
    }
    return {Times(own), Times(before)};
}

void put_number(std::string& out, uint64_t value) {
    for (; value > 127; value >>= 7) out.push_back(static_cast<char>(value | 128));
    out.push_back(static_cast<char>(value));
}

}  // namespace

uint32_t joined_crc32(uint32_t first, uint32_t second, uint64_t second_bytes) {
    return product(power(second_bytes), first) ^ second;
}

uint32_t runs_crc32(const uint8_t* values, const int64_t* end, const int64_t* count, int64_t values_count) {
    std::map<std::pair<int64_t, int64_t>, Repeated> known;  // by size and count
    uint32_t crc = 0;
    int64_t begin = 0;
    for (int64_t at = 0; at < values_count; begin = end[at++]) {
        const std::pair<int64_t, int64_t> key{end[at] - begin, count[at]};
        auto found = known.find(key);
        if (found == known.end())
            found = known.emplace(key, repeated(power(static_cast<uint64_t>(key.first)), count[at])).first;
        crc = found->second.before(crc) ^ found->second.own(crc32(values + begin, values + end[at]));
    }
    return crc;
}

std::string encoded_runs(const int32_t* code, const int64_t* count, int64_t runs, int width) {
    std::string out;
    for (int64_t first = 0, next; first < runs; first = next) {
        uint64_t rows = 0;
        for (next = first; next < runs && code[next] == code[first]; ++next) rows += static_cast<uint64_t>(count[next]);
        if (rows == 0) continue;
        put_number(out, rows << 1);
        for (int bit = 0; bit < width; bit += 8) out.push_back(static_cast<char>(code[first] >> bit));
    }
    return out;
}

std::string packed_cycles(const int32_t* code, const int64_t* end, const int64_t* count, int64_t regions, int width) {
    uint64_t rows = 0;
    for (int64_t region = 0; region < regions; ++region) {
        const int64_t begin = region == 0 ? 0 : end[region - 1];
        rows += static_cast<uint64_t>((end[region] - begin) * count[region]);
    }
    const uint64_t groups = (rows + 7) / 8;  // of eight codes each
    std::string out;
    out.reserve(static_cast<size_t>(groups * width + 10));
    put_number(out, groups << 1 | 1);
    const size_t size = out.size() + static_cast<size_t>(groups * width);
    uint64_t bits = 0;
    int held = 0;
    for (int64_t region = 0; region < regions; ++region) {
        const int64_t begin = region == 0 ? 0 : end[region - 1];
        for (int64_t turn = 0; turn < count[region]; ++turn) {
            for (int64_t at = begin; at < end[region]; ++at) {
                bits |= static_cast<uint64_t>(static_cast<uint32_t>(code[at])) << held;
                for (held += width; held >= 8; held -= 8, bits >>= 8) out.push_back(static_cast<char>(bits));
            }
        }
    }
    if (held > 0) out.push_back(static_cast<char>(bits));
    out.resize(size);
    return out;
}

}  // namespace pairhmm
