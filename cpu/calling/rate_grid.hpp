// A grid of rates. Sums of logarithms in another order, or by another library, give the same one of it.
#pragma once

#include <cmath>

namespace pairhmm {

constexpr double kRateStep = 1.7782794100389228;

inline double on_grid(double rate) {
    return rate <= 0 ? 0 : std::pow(kRateStep, std::round(std::log(rate) / std::log(kRateStep)));
}

}  // namespace pairhmm
