// What qualities (Phred) promise, by tables: powers and logarithms take longer than all that is done with them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace pairhmm {

// What `make` gives of each quality.
template <class Make>
auto by_quality(Make&& make) {
    std::array<decltype(make(0.0)), 256> values;
    for (size_t quality = 0; quality < values.size(); ++quality) values[quality] = make(static_cast<double>(quality));
    return values;
}

// P(error).
inline double error_of(uint8_t quality) {
    static const auto errors = by_quality([](double phred) { return std::pow(10.0, -phred / 10); });
    return errors[quality];
}

// P(error) of a base, and log10 P of the letter that is there and of each other one.
struct QualityScores {
    double error, right, wrong;
};

inline const QualityScores& scores_of(uint8_t quality) {
    static const auto scores = by_quality([](double phred) {
        // A base of quality 0 is a guess among four.
        const double error = std::min(0.75, error_of(static_cast<uint8_t>(phred)));
        return QualityScores{error, std::log10(1 - error), std::log10(error / 3)};
    });
    return scores[quality];
}

}  // namespace pairhmm
