#include "calling/mixtures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace pairhmm {

namespace {

// Differences of log10 likelihoods are rounded to this, so that fragments that say the same are one row.
constexpr double kStep = 1.0 / 32;
// By how much the logarithm of a likelihood may lie below its maximum, and how often that is sought at most.
constexpr double kTolerance = 1e-3;
constexpr int kMostSteps = 2000;
// Where a fit begins, each haplotype has this share of its group at least.
constexpr double kFirstShare = 1e-4;
// How often a bound is improved at most, and by what share of its distance from the fraction it may be off.
constexpr int kMostImprovements = 12;
constexpr double kBoundTolerance = 2e-3;

using Row = std::vector<int16_t>;

// What the reads of each fragment of a sample say, in steps below the best haplotype: [fragments].
std::vector<Row> fragment_rows(const ScoredReads& reads, int32_t sample, double floor) {
    const auto width = static_cast<size_t>(reads.haplotypes);
    std::unordered_map<int64_t, size_t> number;
    std::vector<double> sums;
    for (int64_t read = 0; read < reads.count; ++read) {
        if (reads.sample[read] != sample || reads.set_aside[read]) continue;
        const double* scores = reads.log10 + read * reads.haplotypes;
        const double best = *std::max_element(scores, scores + width);
        if (!std::isfinite(best)) continue;
        const auto [at, is_new] = number.try_emplace(reads.fragment[read], number.size());
        if (is_new) sums.resize(sums.size() + width, 0.0);
        double* sum = sums.data() + at->second * width;
        for (size_t h = 0; h < width; ++h) sum[h] += std::max(-floor, scores[h] - best);
    }
    std::vector<Row> rows;
    for (auto sum = sums.cbegin(); sum != sums.cend(); sum += static_cast<std::ptrdiff_t>(width)) {
        const double best = *std::max_element(sum, sum + static_cast<std::ptrdiff_t>(width));
        Row& row = rows.emplace_back();
        for (size_t h = 0; h < width; ++h)
            row.push_back(static_cast<int16_t>(std::lround(std::min(floor, best - sum[h]) / kStep)));
    }
    return rows;
}

bool is_any(const std::vector<uint8_t>& flags, uint8_t value) {
    return std::find(flags.begin(), flags.end(), value) != flags.end();
}

// Gives the marked haplotypes a share, and the others the rest, each as it had of its group, but none nothing.
void rescale(std::vector<double>& weights, const std::vector<uint8_t>& is_in, double share) {
    const double least = kFirstShare / static_cast<double>(weights.size());
    double sum[2] = {0, 0};
    for (size_t h = 0; h < weights.size(); ++h) sum[is_in[h]] += weights[h] += least;
    for (size_t h = 0; h < weights.size(); ++h) weights[h] *= (is_in[h] ? share : 1 - share) / sum[is_in[h]];
}

// log of the sum of exponentials.
double log_sum(double one, double other) {
    const double top = std::max(one, other);
    return top + std::log1p(std::exp(std::min(one, other) - top));
}

// log of erfc, also where that is below the range of a double.
double log_erfc(double z) {
    if (z < 20) return std::log(std::erfc(z));
    const double inverse = 1 / (2 * z * z);
    return -z * z - std::log(z * std::sqrt(M_PI)) + std::log1p(-inverse * (1 - 3 * inverse));
}

// log P(chi-square with some degrees of freedom > 2 x).
double log_chi_square(int degrees, double x) {
    double tail = degrees % 2 ? log_erfc(std::sqrt(x)) : -x;
    for (double half = degrees % 2 ? 0.5 : 1; half < degrees / 2.0; half += 1)
        tail = x > 0 ? log_sum(tail, half * std::log(x) - x - std::lgamma(half + 1)) : tail;
    return tail;
}

}  // namespace

Mixture::Mixture(const ScoredReads& reads, int32_t sample, double floor)
    : haplotypes_(static_cast<size_t>(reads.haplotypes)) {
    std::map<Row, int64_t> distinct;
    for (const Row& row : fragment_rows(reads, sample, floor)) ++distinct[row];
    for (const auto& [row, count] : distinct) {
        for (const int16_t steps : row) rows_.push_back(std::pow(10.0, -kStep * steps));
        count_.push_back(static_cast<double>(count));
        total_ += count_.back();
    }
    weights_.assign(haplotypes_, 1.0 / static_cast<double>(haplotypes_));
    if (has_reads()) log_likelihood_ = fit(std::vector<uint8_t>(haplotypes_, 1), 1, weights_).log_likelihood;
}

double Mixture::expect(const std::vector<double>& weights, std::vector<double>& gradient) const {
    std::fill(gradient.begin(), gradient.end(), 0.0);
    double log_likelihood = 0;
    const double* row = rows_.data();
    for (const double count : count_) {
        double sum = 0;
        for (size_t h = 0; h < haplotypes_; ++h) sum += weights[h] * row[h];
        log_likelihood += count * std::log(sum);
        const double scale = count / sum;
        for (size_t h = 0; h < haplotypes_; ++h) gradient[h] += scale * row[h];
        row += haplotypes_;
    }
    return log_likelihood;
}

// Expectation and maximisation. The likelihood is a concave function of the weights, so that its derivatives tell how
// far the maximum is at most.
Mixture::Fit Mixture::fit(const std::vector<uint8_t>& is_in, double fraction, std::vector<double>& weights) const {
    const double shares[2] = {1 - fraction, fraction};
    std::vector<double> gradient(haplotypes_);
    Fit found{};
    for (int step = 0;; ++step) {
        found.log_likelihood = expect(weights, gradient);
        double mean[2] = {0, 0}, most[2] = {0, 0};
        for (size_t h = 0; h < haplotypes_; ++h) {
            mean[is_in[h]] += weights[h] * gradient[h];
            most[is_in[h]] = std::max(most[is_in[h]], gradient[h]);
        }
        double gap = 0;
        for (int group = 0; group < 2; ++group)
            if (shares[group] > 0) gap += shares[group] * most[group] - mean[group];
        // Derivatives of the group's share, which scales its weights.
        for (int group = 0; group < 2; ++group)
            mean[group] = shares[group] > 0 ? mean[group] / shares[group] : most[group];
        found.slope = mean[1] - mean[0];
        if (gap < kTolerance || step == kMostSteps) return found;
        for (size_t h = 0; h < haplotypes_; ++h) weights[h] *= gradient[h] / mean[is_in[h]];
    }
}

// Where the likelihood of a share is lower than the best one by kIntervalRatio, between the best share and `end`, where
// it is lower by `at_end`. The root of the difference is nearly linear, so that Newton's method finds it soon.
double Mixture::bound(const std::vector<uint8_t>& is_in, double fraction, double end, double at_end) const {
    if (at_end <= kIntervalRatio) return end;
    const double target = std::sqrt(kIntervalRatio);
    double inner = fraction, outer = end, share = fraction + (end - fraction) * target / std::sqrt(at_end);
    std::vector<double> weights(weights_);
    for (int i = 0; i < kMostImprovements; ++i) {
        rescale(weights, is_in, share);
        const Fit found = fit(is_in, share, weights);
        const double root = std::sqrt(std::max(0.0, log_likelihood_ - found.log_likelihood));
        (root < target ? inner : outer) = share;
        double next = share - 2 * root * (target - root) / found.slope;
        if (!(std::min(inner, outer) < next && next < std::max(inner, outer))) next = (inner + outer) / 2;
        if (std::abs(next - share) <= kBoundTolerance * std::abs(share - fraction)) return next;
        share = next;
    }
    return share;
}

double Mixture::below_best(const std::vector<uint8_t>& is_in, double fraction) const {
    std::vector<double> weights(weights_);
    rescale(weights, is_in, fraction);
    return std::max(0.0, log_likelihood_ - fit(is_in, fraction, weights).log_likelihood);
}

MixedShare Mixture::share(const std::vector<uint8_t>& is_in) const {
    MixedShare share;
    if (!has_reads() || !is_any(is_in, 1)) return share;
    if (!is_any(is_in, 0)) return {1, 1, 1, 0};
    for (size_t h = 0; h < haplotypes_; ++h) share.fraction += is_in[h] ? weights_[h] : 0;
    share.fraction = std::clamp(share.fraction, 0.0, 1.0);
    share.ratio = below_best(is_in, 0);
    share.low = bound(is_in, share.fraction, 0, share.ratio);
    share.high = bound(is_in, share.fraction, 1, below_best(is_in, 1));
    return share;
}

double mixture_quality(const std::vector<double>& ratios) {
    const auto samples = static_cast<int>(ratios.size());
    double sum = 0, log_p = kLowest, log_ways = -samples * std::log(2.0);
    for (const double ratio : ratios) sum += ratio;
    for (int degrees = 1; degrees <= samples; ++degrees) {
        log_ways += std::log(static_cast<double>(samples - degrees + 1) / degrees);
        log_p = log_sum(log_ways + log_chi_square(degrees, sum), log_p);
    }
    return samples == 0 ? 0 : std::clamp(-10 / std::log(10.0) * (log_p + std::log(kTestsOfKilobase)), 0.0, kMaxQual);
}

}  // namespace pairhmm
