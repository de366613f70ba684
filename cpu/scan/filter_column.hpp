// Columns of the bit-sliced filter (scan/level.cpp).
#pragma once

#include <cstdint>

#include "scan/level.hpp"

namespace pairhmm {

constexpr int64_t kFilterColumns = 24;      // columns of a filter; what it leaves is compared whole
constexpr int64_t kColumnsPerMismatch = 8;  // more columns for each mismatch that is allowed

inline FilterColumn filter_column(uint8_t letter, int64_t column) {
    FilterColumn filter{0, {0, 0, 0}};
    for (int base = 0; base < 4; ++base) {
        if ((letter >> base & 1) == 0) continue;
        const int64_t plane = base * kShifts + column % kShifts;
        filter.offset[filter.planes++] = static_cast<int32_t>(plane * kPlaneBytes + column / kShifts);
    }
    return filter;
}

}  // namespace pairhmm
