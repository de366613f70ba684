#include "calling/fitting_reads.hpp"

#include <algorithm>
#include <cmath>

namespace pairhmm {

namespace {

// log10 P of a base of unknown sequence, and of a clip of such bases.
const double kUnknownBase = std::log10(0.25);
constexpr double kForeignClip = -2;

double best_of(const double* scores, size_t count) { return *std::max_element(scores, scores + count); }

// A read may begin at every letter of a haplotype.
double log10_of_start(const ScoredRegion& region) {
    return -std::log10(static_cast<double>(region.haplotypes.front().sequence.size()));
}

// A read of either end of a molecule may have two errors.
double allowance(int64_t length, int64_t ends, double error_rate) {
    return -4.0 * std::min(2.0 * static_cast<double>(ends), std::ceil(static_cast<double>(length) * error_rate));
}

}  // namespace

void drop_foreign_clips(ScoredRegion& region, const std::vector<ClippedRead>& clipped, const double* log10,
                        const uint8_t* precision, double* least) {
    const size_t width = region.haplotypes.size();
    if (width == 0) return;
    const double start = log10_of_start(region);
    for (const ClippedRead& one : clipped) {
        double* whole = region.log10.data() + one.read * width;
        const double foreign = kForeignClip + kUnknownBase * static_cast<double>(one.leading + one.trailing);
        const double best = best_of(whole, width);
        if (best < best_of(log10, width) + foreign) {
            std::copy(log10, log10 + width, whole);
            std::copy(precision, precision + width, region.precision.data() + one.read * width);
            least[one.read] = one.least;
        } else if (best >= start + least[one.read]) {
            region.start[one.read] -= one.leading;
            region.end[one.read] += one.trailing;
        }
        log10 += width;
        precision += width;
    }
}

void set_aside(ScoredRegion& region, const int64_t* ends, const double* least, std::optional<double> error_rate) {
    const auto reads = static_cast<size_t>(region.reads()), width = region.haplotypes.size();
    region.set_aside.assign(reads, 0);
    if (!error_rate || width == 0) return;
    const double start = log10_of_start(region);
    for (size_t read = 0; read < reads; ++read)
        region.set_aside[read] = best_of(region.log10.data() + read * width, width) <
                                 std::min(start + least[read], allowance(region.length[read], ends[read], *error_rate));
}

}  // namespace pairhmm
