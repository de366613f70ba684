// Sums of numbers that are given as their log10, and the log10 of products.
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

// log10 of products, one of each of several. Logarithms are taken only where a product could leave the range of a
// double.
class Log10Products {
public:
    explicit Log10Products(size_t count) : total_(count, 0.0), product_(count, 1.0) {}

    void multiply(size_t number, double factor) {
        if (factor < kLow) total_[number] += std::log10(factor);
        else product_[number] *= factor;
        if (product_[number] > kLow) return;
        total_[number] += std::log10(product_[number]);
        product_[number] = 1;
    }

    std::vector<double> log10() const {
        std::vector<double> log10(total_);
        for (size_t number = 0; number < log10.size(); ++number) log10[number] += std::log10(product_[number]);
        return log10;
    }

private:
    static constexpr double kLow = 1e-100;
    std::vector<double> total_, product_;
};

}  // namespace pairhmm
