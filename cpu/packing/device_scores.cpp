#include "packing/device_scores.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

namespace pairhmm {

namespace {

constexpr int64_t kScoresEach = 1 << 12;  // pairs that a thread takes at once
constexpr double kLog10Of2 = 0.30102999566398119521, kLog10OfE = 0.43429448190325182765;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// log10 of a float32 with an exponent of its own, to 1e-12 and faster than std::log10: a table has the logarithm of a
// number near the significand, by its first bits; a series adds what is left.
class Log10 {
public:
    Log10() {
        for (int i = 0; i < kParts; ++i) {
            part_[i].inverse = 1 / (1 + (i + 0.5) / kParts);
            part_[i].log10 = -std::log10(part_[i].inverse);
        }
    }

    // Of value * 2^exponent; the value is finite and above zero.
    double operator()(float value, int32_t exponent) const {
        const double wide = value;  // no float32 is denormal in float64
        uint64_t bits, of_significand;
        std::memcpy(&bits, &wide, sizeof bits);
        of_significand = (bits & ((uint64_t{1} << kBits) - 1)) | uint64_t{kBias} << kBits;
        double significand;
        std::memcpy(&significand, &of_significand, sizeof significand);
        const Part& part = part_[bits >> (kBits - kPartBits) & (kParts - 1)];
        const double x = significand * part.inverse - 1;  // at most 2^-10
        const double left = x * (kLog10OfE - x * (kLog10OfE / 2 - x * (kLog10OfE / 3)));
        return (static_cast<int32_t>(bits >> kBits) - kBias + exponent) * kLog10Of2 + (part.log10 + left);
    }

private:
    static constexpr int kBits = 52, kBias = 1023, kPartBits = 9, kParts = 1 << kPartBits;
    struct Part {
        double inverse, log10;
    };
    std::array<Part, kParts> part_;
};

double kept_of(const KeptOfReads& kept, int64_t read) {
    const int64_t coarse = static_cast<int32_t>(kept.added[2 * read]), fine = kept.added[2 * read + 1];
    const double added = kept.fine_unit * static_cast<double>(coarse * (int64_t{1} << kept.coarse_bits) + fine);
    return kept.log10 ? kept.log10[read] + added : added;
}

// Pairs first..end-1, all of one read. Returns whether all have a sum.
bool score_read(const uint32_t* sums, int64_t first, int64_t end, double kept, const Log10& log10_of,
                PrecisionCodes codes, double* log10, uint8_t* precision) {
    bool have_all = true;
    for (int64_t pair = first; pair < end; ++pair) {
        const auto exponent = static_cast<int32_t>(sums[2 * pair + 1]);
        float value;
        std::memcpy(&value, sums + 2 * pair, sizeof value);
        const uint8_t code = exponent == codes.started_at ? codes.fast : codes.scaled;
        log10[pair] = value > 0 ? log10_of(value, exponent) + kept : kNaN;
        precision[pair] = value > 0 ? code : codes.unscored;
        have_all &= value > 0;
    }
    return have_all;
}

}  // namespace

bool device_scores(const DeviceSums& sums, const KeptOfReads& kept, const PrecisionCodes& codes, ThreadPool& pool,
                   double* log10, uint8_t* precision) {
    static const Log10 log10_of;
    const int64_t* group_pair = sums.group_pair;
    std::atomic<bool> have_all{true};
    pool.run(group_pair[sums.groups], kScoresEach, pool.size(), [&](int64_t first, int64_t end) {
        int64_t g = std::upper_bound(group_pair, group_pair + sums.groups + 1, first) - group_pair - 1;
        for (int64_t pair = first; pair < end; ++g) {
            const int64_t width = sums.group_haplotype[g + 1] - sums.group_haplotype[g];
            if (width == 0) continue;
            const int64_t before = (pair - group_pair[g]) / width;  // reads of the group
            const int64_t end_of_group = std::min(end, group_pair[g + 1]);
            int64_t read = sums.group_read[g] + before, next = group_pair[g] + before * width;
            for (; pair < end_of_group; ++read) {
                next = std::min(next + width, end_of_group);
                if (!score_read(sums.sums, pair, next, kept_of(kept, read), log10_of, codes, log10, precision)) {
                    have_all = false;
                }
                pair = next;
            }
        }
    });
    return have_all;
}

}  // namespace pairhmm
