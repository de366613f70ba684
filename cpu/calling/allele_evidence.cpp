#include "calling/allele_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pairhmm {

namespace {

constexpr size_t kBins = kStrands * kCycleBins;
using Bins = std::array<double, kBins>;

// What the errors of any place vary by, as a share of their square: qualities are not exact.
constexpr double kPromisedSpread = 0.02;
constexpr double kMostEvidence = 3000, kPhred = 4.342944819032518;
constexpr int kSteps = 60;
// An artefact is believed where reads are so many times as likely with it as with an allele (natural logarithm): those
// of both strands are rarer.
constexpr double kMargin[] = {0, 0, 4.5, 3};
// An allele beside an artefact is believed where reads are so many times as likely with it (natural logarithm).
constexpr double kBeside = 12;

// Sums of quality classes.
Bins in_bins(const std::array<uint32_t, kCells>& cells) {
    Bins bins{};
    for (size_t i = 0; i < cells.size(); ++i) bins[i / kQualityClasses] += cells[i];
    return bins;
}

struct Source {
    Artefact kind;
    Bins share;  // of the bases of a bin, up to a factor, that are wrong
};

bool is_on(size_t bin, int strand) { return static_cast<int>(bin) / kCycleBins == strand; }

// The middle of a bin as a share of the read.
double cycle_of(size_t bin) { return (static_cast<double>(bin % kCycleBins) + 0.5) / kCycleBins; }

Bins shares(double (*share)(size_t bin)) {
    Bins all{};
    for (size_t bin = 0; bin < kBins; ++bin) all[bin] = share(bin);
    return all;
}

const std::vector<Source>& sources() {
    static const std::vector<Source> all{
        {Artefact::kStrand, shares([](size_t bin) { return is_on(bin, 0) ? 1.0 : 0.0; })},
        {Artefact::kStrand, shares([](size_t bin) { return is_on(bin, 1) ? 1.0 : 0.0; })},
        {Artefact::kStrand, shares([](size_t bin) { return is_on(bin, 0) ? std::pow(cycle_of(bin), 2) : 0.0; })},
        {Artefact::kStrand, shares([](size_t bin) { return is_on(bin, 1) ? std::pow(cycle_of(bin), 2) : 0.0; })},
        {Artefact::kCycle, shares([](size_t bin) { return std::pow(cycle_of(bin), 2); })},
        {Artefact::kEnds, shares([](size_t bin) { return bin % kCycleBins == 0 ? 1.0 : 0.0; })},
        {Artefact::kEnds, shares([](size_t bin) { return bin % kCycleBins == kCycleBins - 1 ? 1.0 : 0.0; })},
        {Artefact::kEnds, shares([](size_t bin) { return (bin + 1) % kCycleBins < 2 ? 1.0 : 0.0; })},
    };
    return all;
}

// The highest logarithm of the probability of `seen`, up to a constant, where errors and so much of each source make
// them (expectation-maximisation).
double log_likelihood(const Bins& seen, const Bins& errors, const std::vector<Bins>& exposures) {
    std::vector<double> factor, whole;
    const double all = std::accumulate(seen.begin(), seen.end(), 0.0);
    for (const Bins& exposure : exposures) {
        whole.push_back(std::accumulate(exposure.begin(), exposure.end(), 0.0));
        factor.push_back(whole.back() > 0 ? all / whole.back() / static_cast<double>(exposures.size()) : 0);
    }
    Bins mean{};
    const auto sum_up = [&] {
        for (size_t bin = 0; bin < kBins; ++bin) {
            mean[bin] = errors[bin] + 1e-9;
            for (size_t i = 0; i < exposures.size(); ++i) mean[bin] += factor[i] * exposures[i][bin];
        }
    };
    for (int step = 0; step < kSteps && !exposures.empty(); ++step) {
        sum_up();
        for (size_t i = 0; i < exposures.size(); ++i) {
            double explained = 0;
            for (size_t bin = 0; bin < kBins; ++bin) explained += seen[bin] * exposures[i][bin] / mean[bin];
            if (whole[i] > 0) factor[i] *= explained / whole[i];
        }
    }
    sum_up();
    double sum = 0;
    for (size_t bin = 0; bin < kBins; ++bin) sum += seen[bin] * std::log(mean[bin]) - mean[bin];
    return sum;
}

}  // namespace

std::array<uint32_t, kCells> all_letters(const SiteCells& cells) {
    std::array<uint32_t, kCells> all{};
    for (const auto& letter : cells.count)
        for (size_t i = 0; i < all.size(); ++i) all[i] += letter[i];
    return all;
}

std::array<double, kStrands> of_strands(const std::array<uint32_t, kCells>& cells) {
    const auto half = cells.begin() + kCells / kStrands;
    return {std::accumulate(cells.begin(), half, 0.0), std::accumulate(half, cells.end(), 0.0)};
}

double strand_evidence(double seen, double errors, double of_context, double spread) {
    const double mean = std::max(errors, 1e-9);
    if (seen <= 0) return 0;
    // A negative binomial: a Poisson whose mean has a gamma distribution.
    const double variance = spread * of_context * of_context + kPromisedSpread * mean * mean;
    const double shape = mean * mean / variance, share = mean / (mean + shape);
    double log_term = std::lgamma(seen + shape) - std::lgamma(shape) - std::lgamma(seen + 1) +
                      shape * std::log1p(-share) + seen * std::log(share);
    double sum = 0, term = 1;
    for (double count = seen; term > 1e-9 * sum || count < mean; ++count) {
        sum += term;
        term *= (count + shape) / (count + 1) * share;
    }
    return std::clamp(-kPhred * (log_term + std::log(sum)), 0.0, kMostEvidence);
}

double tail_evidence(const std::array<double, kStrands>& seen, const ExpectedErrors& errors, double spread) {
    double both = 0;
    for (int strand = 0; strand < kStrands; ++strand)
        both += strand_evidence(seen[strand], errors.total[strand], errors.of_context[strand], spread) / kPhred;
    return kPhred * (both - std::log1p(both));
}

Artefact artefact_of(const std::array<uint32_t, kCells>& depth, const std::array<uint32_t, kCells>& seen,
                     const ExpectedErrors& errors) {
    const Bins reads = in_bins(depth), shown = in_bins(seen);
    const double of_allele = log_likelihood(shown, errors.of_bin, {reads});
    double best = log_likelihood(shown, errors.of_bin, {}), beside = -std::numeric_limits<double>::infinity();
    Artefact kind = Artefact::kNone;
    for (const Source& source : sources()) {
        Bins exposure;
        for (size_t bin = 0; bin < kBins; ++bin) exposure[bin] = reads[bin] * source.share[bin];
        const double alone = log_likelihood(shown, errors.of_bin, {exposure});
        const double likely = alone - kMargin[static_cast<int>(source.kind)];
        if (likely > best) best = likely, kind = source.kind;
        beside = std::max(beside, log_likelihood(shown, errors.of_bin, {reads, exposure}));
    }
    return of_allele >= best - 1e-6 || beside > best + kBeside ? Artefact::kNone : kind;
}

}  // namespace pairhmm
