// Sums of numbers that are given as their log10.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace pairhmm {

constexpr double kLowest = -std::numeric_limits<double>::infinity();  // log10 of 0
constexpr double kLowestLog10 = -300;                                 // so that 10 to its power fits a double

// Of two.
inline double log10_add(double a, double b) {
    const double top = std::max(a, b), low = std::min(a, b);
    return std::isfinite(top) ? top + std::log10(1 + std::pow(10.0, low - top)) : top;
}

// Of all values but the one at `without`.
inline double log10_sum(const std::vector<double>& values, size_t without = std::numeric_limits<size_t>::max()) {
    double top = kLowest, sum = 0;
    for (size_t i = 0; i < values.size(); ++i)
        if (i != without) top = std::max(top, values[i]);
    for (size_t i = 0; i < values.size(); ++i)
        if (i != without) sum += std::pow(10.0, std::max(values[i] - top, kLowestLog10));
    return top + std::log10(sum);
}

}  // namespace pairhmm
