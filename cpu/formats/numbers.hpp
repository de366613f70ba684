// Numbers as text, as Python formats them.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace pairhmm {

inline void append_number(std::string& out, uint64_t number) {
    char digits[20];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// Formats like Python's f"{score:.6f}": the exact value of the double, rounded to six decimals, half to even. This uses
// integers, because std::to_chars takes doubles on recent macOS only, and takes twice as long.
inline void append_score(std::string& out, double score) {
    constexpr uint64_t kUnit = 1'000'000;  // six decimals
    uint64_t bits;
    std::memcpy(&bits, &score, sizeof bits);
    // |score| is mantissa / 2^shift; subnormals, which lack the leading one, are zero here either way.
    const int shift = 1075 - static_cast<int>(bits >> 52 & 0x7ff);
    const uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
    if (shift < 10) {  // |score| >= 2^43, infinite, or NaN
        char text[400];
        const int size = std::snprintf(text, sizeof text, "%.6f", score);
        if (score != score) out += "nan";
        else out.append(text, static_cast<size_t>(size));
        return;
    }
    uint64_t units = 0;
    if (shift < 75) {  // else less than half a unit: mantissa * kUnit < 2^73
        using Wide = unsigned __int128;
        const Wide exact = Wide{mantissa} * kUnit, half = Wide{1} << (shift - 1);
        const Wide rest = exact & (2 * half - 1);
        units = static_cast<uint64_t>(exact >> shift);
        units += rest > half || (rest == half && (units & 1) != 0);
    }
    if (bits >> 63) out += '-';
    append_number(out, units / kUnit);
    char decimals[7] = {'.'};
    uint64_t left = units % kUnit;
    for (int i = 6; i > 0; --i, left /= 10) decimals[i] = static_cast<char>('0' + left % 10);
    out.append(decimals, sizeof decimals);
}

}  // namespace pairhmm
