#include "calling/mixtures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

namespace pairhmm {

namespace {

// By how much the logarithm of a likelihood may lie below its maximum, and how often that is sought at most.
constexpr double kTolerance = 1e-3;
constexpr int kMostSteps = 100;
// Haplotypes of less weight are left out at first, and of less than this share of the mean after so many steps of
// expectation and maximisation, which are faster than Newton's.
constexpr double kLikelyWeight = 1e-6, kLikelyShare = 0.1;
constexpr int kFirstSteps = 20;
// The least share of its group's mean that a weight begins with: Newton's method is slow near 0.
constexpr double kBeginShare = 1e-3;
// The share of the gap that a step leaves at best, and of the way to a weight of 0 that it goes at most.
constexpr double kShrink = 0.1, kNotZero = 0.99;
// How often a bound is improved at most. Where the root of the log likelihood is nearer to that of the bound than this
// share of it, a curve hits the bound.
constexpr int kMostImprovements = 12;
constexpr double kNearBound = 0.15;

// Likelihoods of the fragments of a sample, log10 sums over their reads: [fragments][haplotypes].
std::vector<double> fragment_sums(const ScoredReads& reads, int32_t sample, double floor) {
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
    return sums;
}

bool is_any(const std::vector<uint8_t>& flags, uint8_t value) {
    return std::find(flags.begin(), flags.end(), value) != flags.end();
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

// A symmetric positive matrix, as the product of a triangle and its transpose. Solves equations with it.
class Cholesky {
public:
    explicit Cholesky(std::vector<double> matrix, size_t size) : triangle_(std::move(matrix)), size_(size) {
        for (size_t j = 0; j < size_; ++j)
            for (size_t i = j; i < size_; ++i) {
                double sum = at(i, j);
                for (size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
                at(i, j) = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / at(j, j);
            }
    }

    std::vector<double> solve(std::vector<double> right) const {
        for (size_t i = 0; i < size_; ++i) {
            for (size_t k = 0; k < i; ++k) right[i] -= at(i, k) * right[k];
            right[i] /= at(i, i);
        }
        for (size_t i = size_; i-- > 0;) {
            for (size_t k = i + 1; k < size_; ++k) right[i] -= at(k, i) * right[k];
            right[i] /= at(i, i);
        }
        return right;
    }

private:
    double& at(size_t row, size_t column) { return triangle_[row * size_ + column]; }
    double at(size_t row, size_t column) const { return triangle_[row * size_ + column]; }

    std::vector<double> triangle_;
    size_t size_;
};

// The derivatives of the log likelihood by the weights.
std::vector<double> gradient_of(const MixtureRows& rows, const std::vector<double>& weights) {
    std::vector<double> gradient(weights.size(), 0.0);
    for (size_t row = 0; row < rows.counts.size(); ++row) {
        const double* likelihoods = rows.likelihoods.data() + row * weights.size();
        const double sum = std::inner_product(weights.begin(), weights.end(), likelihoods, 0.0);
        const double share = rows.counts[row] / sum;
        for (size_t h = 0; h < weights.size(); ++h) gradient[h] += share * likelihoods[h];
    }
    return gradient;
}

constexpr size_t kRowsAtOnce = 4;

// Adds products of pairs of columns to a matrix, below its diagonal: sum over rows of counted[i] * scaled[k].
void add_products(size_t width, const std::array<std::vector<double>, kRowsAtOnce>& scaled,
                  const std::array<std::vector<double>, kRowsAtOnce>& counted, double* matrix) {
    const double *const a = scaled[0].data(), *const b = scaled[1].data();
    const double *const c = scaled[2].data(), *const d = scaled[3].data();
    for (size_t i = 0; i < width; ++i) {
        const double e = counted[0][i], f = counted[1][i], g = counted[2][i], h = counted[3][i];
        double* __restrict const line = matrix + i * width;
        for (size_t k = 0; k <= i; ++k) line[k] += e * a[k] + f * b[k] + (g * c[k] + h * d[k]);
    }
}

// The weights with the largest likelihood where each of two groups of haplotypes has a share: an interior point method.
//
// Derivatives g of the log likelihood equal that of their group's share where a weight is above 0, and are s below it
// where it is 0: weight * s = 0. Newton's method solves weight * s = m for ever smaller m. The likelihood is concave:
// it lies below its maximum by at most the sum of each share times the largest derivative, minus the fragments.
class WeightFinder {
public:
    // columns: of haplotypes; group: [columns] 0 or 1; near: [haplotypes] weights to begin with, of any sum.
    WeightFinder(const MixtureRows& rows, std::vector<size_t> columns, std::vector<uint8_t> group,
                 std::array<double, 2> shares, const std::vector<double>& near)
        : rows_(rows),
          columns_(std::move(columns)),
          group_(std::move(group)),
          shares_(shares),
          width_(columns_.size()),
          gradient_(width_),
          hessian_(width_ * width_),
          slack_(width_),
          likelihoods_(rows.counts.size() * width_) {
        std::array<double, 2> size{}, sum{}, begun{};
        for (size_t i = 0; i < width_; ++i) ++size[group_[i]], sum[group_[i]] += near[columns_[i]];
        for (size_t i = 0; i < width_; ++i) {
            const double least = kBeginShare * std::max(sum[group_[i]], 1e-9) / size[group_[i]];
            weights_.push_back(std::max(near[columns_[i]], least));
            begun[group_[i]] += weights_[i];
        }
        for (size_t i = 0; i < width_; ++i) weights_[i] *= shares_[group_[i]] / begun[group_[i]];
        for (size_t row = 0; row < rows.counts.size(); ++row)
            for (size_t i = 0; i < width_; ++i)
                likelihoods_[row * width_ + i] =
                    rows.likelihoods[row * static_cast<size_t>(rows.haplotypes) + columns_[i]];
    }

    void run() {
        differentiate();
        const double mean = kShrink * std::max(gap(), kTolerance) / static_cast<double>(width_);
        for (size_t i = 0; i < width_; ++i) slack_[i] = most_[group_[i]] - gradient_[i] + mean / weights_[i];
        for (int i = 0; i < kMostSteps && gap() > kTolerance / 2; ++i) {
            step();
            differentiate();
        }
    }

    double log_likelihood() const { return log_likelihood_; }
    double slope() const { return mean_[1] - mean_[0]; }
    const std::vector<double>& weights() const { return weights_; }

    // The negative second derivatives, and those of the barrier that keeps weights above 0.
    Cholesky information() const {
        std::vector<double> matrix(hessian_);
        for (size_t i = 0; i < width_; ++i) matrix[i * width_ + i] += slack_[i] / weights_[i];
        return Cholesky(std::move(matrix), width_);
    }

    // The covariance of the weights, whose sum is 1: [columns][columns].
    std::vector<double> covariance() const {
        const Cholesky factors = information();
        const std::vector<double> all = factors.solve(std::vector<double>(width_, 1.0));
        const double sum = std::accumulate(all.begin(), all.end(), 0.0);
        std::vector<double> matrix;
        for (size_t i = 0; i < width_; ++i) {
            std::vector<double> line(width_, 0.0);
            line[i] = 1;
            line = factors.solve(std::move(line));
            for (size_t k = 0; k < width_; ++k) matrix.push_back(line[k] - all[i] * all[k] / sum);
        }
        return matrix;
    }

private:
    double gap() const { return shares_[0] * (most_[0] - mean_[0]) + shares_[1] * (most_[1] - mean_[1]); }

    // The log likelihood, its derivatives, and the negative second ones.
    void differentiate() {
        std::fill(gradient_.begin(), gradient_.end(), 0.0);
        std::fill(hessian_.begin(), hessian_.end(), 0.0);
        log_likelihood_ = 0;
        // Rows by fours, as each element of the matrix is read and written once for them.
        std::array<std::vector<double>, kRowsAtOnce> scaled, counted;
        for (auto* const of_rows : {&scaled, &counted})
            for (std::vector<double>& one : *of_rows) one.resize(width_);
        for (size_t row = 0; row < rows_.counts.size(); row += kRowsAtOnce) {
            for (size_t i = 0; i < kRowsAtOnce; ++i) scale(row + i, scaled[i].data(), counted[i].data());
            add_products(width_, scaled, counted, hessian_.data());
        }
        mean_ = most_ = {0, 0};
        for (size_t i = 0; i < width_; ++i) {
            mean_[group_[i]] += weights_[i] * gradient_[i] / shares_[group_[i]];
            most_[group_[i]] = std::max(most_[group_[i]], gradient_[i]);
        }
    }

    // The likelihoods of a row by its sum, without and with its count; 0 behind the last row.
    void scale(size_t row, double* __restrict scaled, double* __restrict counted) {
        if (row >= rows_.counts.size()) return std::fill(scaled, scaled + width_, 0.0);
        const double* likelihoods = likelihoods_.data() + row * width_;
        const double sum = std::inner_product(likelihoods, likelihoods + width_, weights_.begin(), 0.0);
        log_likelihood_ += rows_.counts[row] * std::log(sum);
        for (size_t i = 0; i < width_; ++i) {
            scaled[i] = likelihoods[i] / sum;
            counted[i] = rows_.counts[row] * scaled[i];
            gradient_[i] += counted[i];
        }
    }

    void step() {
        double product = 0;
        for (size_t i = 0; i < width_; ++i) product += weights_[i] * slack_[i];
        const double target = kShrink * product / static_cast<double>(width_);
        std::vector<double> right(gradient_), of_group[2];
        for (size_t i = 0; i < width_; ++i) right[i] += target / weights_[i];
        const Cholesky factors = information();
        std::vector<double> change = factors.solve(std::move(right));
        for (const uint8_t group : {0, 1}) {
            of_group[group].resize(width_);
            for (size_t i = 0; i < width_; ++i) of_group[group][i] = group_[i] == group;
            of_group[group] = factors.solve(std::move(of_group[group]));
        }
        keep_shares(of_group, change);
        move(change, target);
    }

    // Takes from a change what would change the shares.
    void keep_shares(const std::vector<double> (&of_group)[2], std::vector<double>& change) const {
        double own[2] = {0, 0}, by[2][2] = {{0, 0}, {0, 0}};
        for (size_t i = 0; i < width_; ++i) {
            own[group_[i]] += change[i];
            for (int group = 0; group < 2; ++group) by[group_[i]][group] += of_group[group][i];
        }
        // A group without haplotypes has no share to keep.
        for (int group = 0; group < 2; ++group)
            if (by[group][group] == 0) by[group][group] = 1;
        const double determinant = by[0][0] * by[1][1] - by[0][1] * by[1][0];
        const double first = (own[0] * by[1][1] - own[1] * by[0][1]) / determinant;
        const double second = (own[1] * by[0][0] - own[0] * by[1][0]) / determinant;
        for (size_t i = 0; i < width_; ++i) change[i] -= first * of_group[0][i] + second * of_group[1][i];
    }

    void move(const std::vector<double>& change, double target) {
        std::vector<double> more(width_);
        double of_weights = 1, of_slack = 1;
        for (size_t i = 0; i < width_; ++i) {
            more[i] = (target - slack_[i] * change[i]) / weights_[i] - slack_[i];
            if (change[i] < 0) of_weights = std::min(of_weights, -kNotZero * weights_[i] / change[i]);
            if (more[i] < 0) of_slack = std::min(of_slack, -kNotZero * slack_[i] / more[i]);
        }
        for (size_t i = 0; i < width_; ++i) {
            weights_[i] += of_weights * change[i];
            slack_[i] += of_slack * more[i];
        }
    }

    const MixtureRows& rows_;
    std::vector<size_t> columns_;
    std::vector<uint8_t> group_;
    std::array<double, 2> shares_, mean_{}, most_{};
    size_t width_;
    std::vector<double> weights_, gradient_, hessian_, slack_;
    std::vector<double> likelihoods_;  // [rows][columns]
    double log_likelihood_ = 0;
};

// At `at`, the polynomial of degree 3 with two values and derivatives at 0 and 1.
double cubic(double at, const std::array<double, 2>& value, const std::array<double, 2>& slope) {
    const double difference = value[1] - value[0];
    const double square = 3 * difference - 2 * slope[0] - slope[1], cube = slope[0] + slope[1] - 2 * difference;
    return value[0] + at * (slope[0] + at * (square + at * cube));
}

// Weights of the haplotypes that are likely after some steps of expectation and maximisation, 0 of the others.
std::vector<double> first_weights(const MixtureRows& rows) {
    const auto width = static_cast<size_t>(rows.haplotypes);
    std::vector<double> weights(width, 1.0 / static_cast<double>(width));
    const double fragments = std::accumulate(rows.counts.begin(), rows.counts.end(), 0.0);
    for (int step = 0; step < kFirstSteps; ++step) {
        const std::vector<double> gradient = gradient_of(rows, weights);
        for (size_t h = 0; h < width; ++h) weights[h] *= gradient[h] / fragments;
    }
    for (double& weight : weights)
        if (weight * static_cast<double>(width) <= kLikelyShare) weight = 0;
    return weights;
}

}  // namespace

MixtureRows mixture_rows(const ScoredReads& reads, int32_t sample, double floor) {
    constexpr double kStep = MixtureRows::kStep;
    const std::vector<double> sums = fragment_sums(reads, sample, floor);
    const auto width = static_cast<std::ptrdiff_t>(reads.haplotypes);
    std::map<std::vector<int16_t>, int64_t> distinct;
    std::vector<int16_t> steps(static_cast<size_t>(width));
    for (auto sum = sums.cbegin(); sum != sums.cend(); sum += width) {
        const double best = *std::max_element(sum, sum + width);
        for (std::ptrdiff_t h = 0; h < width; ++h)
            steps[h] = static_cast<int16_t>(std::lround(std::min(floor, best - sum[h]) / kStep));
        ++distinct[steps];
    }
    MixtureRows rows{reads.haplotypes, {}, {}};
    for (const auto& [row, count] : distinct) {
        for (const int16_t below : row) rows.likelihoods.push_back(std::pow(10.0, -kStep * below));
        rows.counts.push_back(static_cast<double>(count));
    }
    return rows;
}

Mixture::Mixture(MixtureRows rows, std::vector<double> lengths)
    : rows_(std::move(rows)), lengths_(std::move(lengths)), weights_(static_cast<size_t>(rows_.haplotypes), 0.0) {
    if (!has_reads()) return;
    weights_ = first_weights(rows_);
    Fit best = fit(std::vector<uint8_t>(weights_.size(), 1), 1, weights_);
    weights_ = std::move(best.weights);
    columns_ = std::move(best.columns);
    covariance_ = std::move(best.covariance);
    log_likelihood_ = best.log_likelihood;
}

std::vector<size_t> Mixture::same_as() const {
    const auto width = static_cast<size_t>(rows_.haplotypes);
    const auto are_same = [&](size_t one, size_t other) {
        for (size_t at = 0; at < rows_.likelihoods.size(); at += width)
            if (rows_.likelihoods[at + one] != rows_.likelihoods[at + other]) return false;
        return true;
    };
    std::vector<size_t> same(width);
    for (size_t h = 0; h < width; ++h)
        while (!are_same(same[h], h)) ++same[h];
    return same;
}

// Few haplotypes have a weight. The others are left out, but for those whose derivatives say that they have one, too.
Mixture::Fit Mixture::fit(const std::vector<uint8_t>& is_in, double share, const std::vector<double>& near) const {
    std::vector<uint8_t> is_used = begun(is_in, share, near);
    for (Fit found{0, 0, near, {}, {}};;) {
        std::vector<size_t> columns;
        for (size_t h = 0; h < is_used.size(); ++h)
            if (is_used[h]) columns.push_back(h);
        found = fit_of(columns, is_in, share, found.weights);
        if (!add_missing(found, is_in, share, is_used)) return found;
    }
}

// The haplotypes that are likely, or all of a group of which none is.
std::vector<uint8_t> Mixture::begun(const std::vector<uint8_t>& is_in, double share,
                                    const std::vector<double>& near) const {
    std::array<bool, 2> has_likely{};
    for (size_t h = 0; h < is_in.size(); ++h) has_likely[is_in[h]] |= near[h] > kLikelyWeight;
    std::vector<uint8_t> is_used;
    for (size_t h = 0; h < is_in.size(); ++h)
        is_used.push_back((is_in[h] ? share : 1 - share) > 0 && (near[h] > kLikelyWeight || !has_likely[is_in[h]]));
    return is_used;
}

// Adds the haplotypes by which the likelihood may be larger by more than the tolerance. Whether there are any.
bool Mixture::add_missing(const Fit& found, const std::vector<uint8_t>& is_in, double share,
                          std::vector<uint8_t>& is_used) const {
    const size_t width = is_in.size();
    const std::vector<double> gradient = gradient_of(rows_, found.weights);
    const double shares[2] = {1 - share, share};
    double mean[2] = {0, 0};
    for (size_t h = 0; h < width; ++h)
        if (is_used[h]) mean[is_in[h]] += found.weights[h] * gradient[h] / shares[is_in[h]];
    bool has_added = false;
    for (size_t h = 0; h < width; ++h) {
        if (is_used[h] || !(shares[is_in[h]] * (gradient[h] - mean[is_in[h]]) > kTolerance / 2)) continue;
        is_used[h] = has_added = true;
    }
    return has_added;
}

Mixture::Fit Mixture::fit_of(const std::vector<size_t>& columns, const std::vector<uint8_t>& is_in, double share,
                             const std::vector<double>& near) const {
    std::vector<uint8_t> group;
    for (const size_t h : columns) group.push_back(is_in[h]);
    WeightFinder finder(rows_, columns, std::move(group), {1 - share, share}, near);
    finder.run();
    Fit found{finder.log_likelihood(), finder.slope(), std::vector<double>(is_in.size(), 0.0), columns,
              is_any(is_in, 0) ? std::vector<double>() : finder.covariance()};
    for (size_t i = 0; i < columns.size(); ++i) found.weights[columns[i]] = finder.weights()[i];
    return found;
}

// Where the likelihood of a share is lower than the best one by kIntervalRatio, between the best share and `end`, from
// a share that is near. By the root of the difference, the share is nearly a line. `spread` is its derivative at 0.
double Mixture::bound(const std::vector<uint8_t>& is_in, double fraction, double end, double share,
                      double spread) const {
    const double target = std::sqrt(kIntervalRatio);
    double inner = fraction, outer = end;
    std::vector<double> near = weights_;
    for (int i = 0; i < kMostImprovements; ++i) {
        Fit found = fit(is_in, share, near);
        const double root = std::sqrt(std::max(0.0, log_likelihood_ - found.log_likelihood));
        (root < target ? inner : outer) = share;
        double next = cubic(target / root, {fraction, share}, {spread * root, -2 * root * root / found.slope});
        if (!(std::min(inner, outer) < next && next < std::max(inner, outer))) next = (inner + outer) / 2;
        if (std::abs(root - target) <= kNearBound * target) return next;
        share = next;
        near = std::move(found.weights);
    }
    return share;
}

// The variance of the share of the marked haplotypes among fragments.
double Mixture::variance(const std::vector<uint8_t>& is_in) const {
    double sum = 0;
    for (size_t i = 0; i < columns_.size(); ++i)
        for (size_t k = 0; k < columns_.size(); ++k)
            if (is_in[columns_[i]] && is_in[columns_[k]]) sum += covariance_[i * columns_.size() + k];
    return std::max(0.0, sum);
}

MixedShare Mixture::share(const std::vector<uint8_t>& is_in) const {
    std::vector<uint8_t> marked = is_in;
    if (is_in.front())
        for (uint8_t& one : marked) one = !one;
    const auto [at, is_new] = shares_.try_emplace(marked);
    if (is_new) at->second = share_of_molecules(marked);
    return is_in.front() ? at->second.of_others() : at->second;
}

// The odds of the share among molecules are those among fragments, times a factor.
MixedShare Mixture::share_of_molecules(const std::vector<uint8_t>& is_in) const {
    MixedShare share = share_of_fragments(is_in);
    if (lengths_.empty() || share.fraction <= 0 || share.fraction >= 1) return share;
    double molecules[2] = {0, 0};
    for (size_t h = 0; h < is_in.size(); ++h) molecules[is_in[h]] += weights_[h] / lengths_[h];
    // A fraction of 1 may be somewhat less, for rounding.
    if (molecules[0] == 0 || molecules[1] == 0) return share;
    const double factor = molecules[1] / molecules[0] * (1 - share.fraction) / share.fraction;
    for (double* one : {&share.fraction, &share.low, &share.high}) *one = *one * factor / (1 - *one + *one * factor);
    return share;
}

MixedShare Mixture::share_of_fragments(const std::vector<uint8_t>& is_in) const {
    MixedShare share;
    if (!has_reads()) return share;
    if (!is_any(is_in, 1)) return {0, 0, 0, 0, 0};
    for (size_t h = 0; h < is_in.size(); ++h) share.fraction += is_in[h] ? weights_[h] : 0;
    share.fraction = std::clamp(share.fraction, 0.0, 1.0);
    const auto ratio_at = [&](double end) {
        return std::max(0.0, log_likelihood_ - fit(is_in, end, weights_).log_likelihood);
    };
    share.ratio = ratio_at(0);
    share.ratio_of_others = ratio_at(1);
    const double spread = std::sqrt(2 * variance(is_in));
    // By the variance, or where that is too far, by the root of the ratio, which is known at the end.
    const auto bound_towards = [&](double end, double ratio) {
        if (ratio <= kIntervalRatio) return end;
        const double farthest = end - share.fraction, by_ratio = farthest * std::sqrt(kIntervalRatio / ratio);
        const double by_variance = std::copysign(spread * std::sqrt(kIntervalRatio), farthest);
        const bool is_near = spread > 0 && std::abs(by_variance) < std::abs(farthest);
        return bound(is_in, share.fraction, end, share.fraction + (is_near ? by_variance : by_ratio),
                     std::copysign(spread, farthest));
    };
    share.low = bound_towards(0, share.ratio);
    share.high = bound_towards(1, share.ratio_of_others);
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
