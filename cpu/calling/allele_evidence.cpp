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
constexpr double kMargin[] = {0, 1, 4.5, 3};
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

// What makes errors: exposures of bins, each with a factor. Before reads are seen, it is 1 with the weight of so many
// reads, or anything.
struct Component {
    Bins exposure;
    double prior = 0, factor = 1;

    double whole() const { return std::accumulate(exposure.begin(), exposure.end(), 0.0); }
};

Bins means(const Bins& promised, const std::vector<Component>& components) {
    Bins mean = promised;
    for (size_t bin = 0; bin < kBins; ++bin) {
        mean[bin] += 1e-9;
        for (const Component& one : components) mean[bin] += one.factor * one.exposure[bin];
    }
    return mean;
}

// The highest logarithm of the probability of `seen`, up to a constant (expectation-maximisation).
double log_likelihood(const Bins& seen, const Bins& promised, std::vector<Component> components) {
    for (int step = 0; step < kSteps; ++step) {
        const Bins mean = means(promised, components);
        for (Component& one : components) {
            double explained = one.prior;
            for (size_t bin = 0; bin < kBins; ++bin)
                explained += one.factor * seen[bin] * one.exposure[bin] / mean[bin];
            one.factor = explained / std::max(1e-9, one.whole() + one.prior);
        }
    }
    double sum = 0;
    const Bins mean = means(promised, components);
    for (size_t bin = 0; bin < kBins; ++bin) sum += seen[bin] * std::log(mean[bin]) - mean[bin];
    for (const Component& one : components)
        if (one.prior > 0) sum += one.prior * (std::log(one.factor) - one.factor);
    return sum;
}

// The errors of contexts, strand by strand.
std::vector<Component> of_contexts(const ExpectedErrors& errors, double spread) {
    std::vector<Component> components(kStrands, {Bins{}, 1 / spread});
    for (size_t bin = 0; bin < kBins; ++bin) components[bin / kCycleBins].exposure[bin] = errors.of_context_of_bin[bin];
    return components;
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
                     const ExpectedErrors& errors, double spread) {
    const Bins reads = in_bins(depth), shown = in_bins(seen);
    const std::vector<Component> contexts = of_contexts(errors, spread);
    // Factors of what is asked for begin where each explains all reads.
    const auto likelihood_with = [&](const std::vector<Bins>& exposures) {
        std::vector<Component> components = contexts;
        for (const Bins& exposure : exposures) {
            Component one{exposure};
            one.factor = std::accumulate(shown.begin(), shown.end(), 1e-9) / std::max(1.0, one.whole());
            components.push_back(one);
        }
        return log_likelihood(shown, errors.promised_of_bin, std::move(components));
    };
    const double of_allele = likelihood_with({reads});
    double best = likelihood_with({}), beside = -std::numeric_limits<double>::infinity();
    Artefact kind = Artefact::kNone;
    for (const Source& source : sources()) {
        Bins exposure;
        for (size_t bin = 0; bin < kBins; ++bin) exposure[bin] = reads[bin] * source.share[bin];
        const double likely = likelihood_with({exposure}) - kMargin[static_cast<int>(source.kind)];
        if (likely > best) best = likely, kind = source.kind;
        beside = std::max(beside, likelihood_with({reads, exposure}));
    }
    return of_allele >= best - 1e-6 || beside > best + kBeside ? Artefact::kNone : kind;
}

}  // namespace pairhmm
