#include "calling/cluster_rates.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "calling/rate_grid.hpp"

namespace pairhmm {

namespace {

// Rates are known beforehand as if so many places of a usual library had been seen, and shares as if so many
// copies had.
constexpr double kUsualPlaces = 20, kUsualCopies = 2;
// The fewest fragments over a place that counts.
constexpr size_t kFewestFragments = 5;
// The highest rate.
constexpr double kHighestRate = 0.3;
constexpr int kSteps = 30;

template <size_t size>
double sum_of(const std::array<double, size>& of) {
    return std::accumulate(of.begin(), of.end(), 0.0);
}

// As shares of their sum.
template <size_t size>
std::array<double, size> shares_of(std::array<double, size> of) {
    const double sum = sum_of(of);
    for (double& one : of) one /= sum;
    return of;
}

template <size_t size>
std::array<double, size> shares_on_grid(std::array<double, size> of) {
    for (double& one : of) one = on_grid(one);
    return shares_of(of);
}

// How many places, or what share of them, have a chromosome that differs, and copies: of each share of the reads, and,
// as many, of each divergence.
struct Found {
    double chromosomes;
    OfShares of_share;
    OfDivergences of_divergence;

    double copies() const { return sum_of(of_share); }
};

Found usual(double places, double copies) {
    const SourceRates rates;
    Found found{rates.divergent * places, rates.shares, rates.divergences};
    for (double& one : found.of_share) one *= copies;
    for (double& one : found.of_divergence) one *= copies;
    return found;
}

// Adds how likely a cluster is of each.
void add_expected(const ClusterLikelihoods& of, const SourceRates& rates, Found& expected) {
    const auto of_shares = std::inner_product(rates.shares.begin(), rates.shares.end(), of.of_share.begin(), 0.0);
    const auto of_divergences =
        std::inner_product(rates.divergences.begin(), rates.divergences.end(), of.of_divergence.begin(), 0.0);
    const double chromosome = rates.divergent * sum_of(of.of_divergence) / std::size(kDivergences);
    const double copy = rates.copies * of_shares * of_divergences;
    const double all = (1 - rates.divergent - rates.copies) * (1 + of.by_chance) + chromosome + copy;
    expected.chromosomes += chromosome / all;
    for (size_t i = 0; i < rates.shares.size(); ++i)
        expected.of_share[i] += copy / all * rates.shares[i] * of.of_share[i] / of_shares;
    for (size_t i = 0; i < rates.divergences.size(); ++i)
        expected.of_divergence[i] += copy / all * rates.divergences[i] * of.of_divergence[i] / of_divergences;
}

// The reads of a sample near each place, and what they show.
using ShownAtPlaces = std::map<std::pair<int32_t, int64_t>, Mismatches>;

}  // namespace

void ClusterRateFinder::add(const AlignedReads& reads, const Mismatches& shown, int64_t first, int64_t last,
                            bool of_amplicons) {
    constexpr int64_t kApart = 2 * kNeighbourhood;
    std::vector<int64_t> names;
    ShownAtPlaces places;
    for (int64_t read = 0; read < reads.reads.count; ++read) {
        names.push_back(fragment_name(reads.name(read)));
        const int64_t start = reads.reads.start[read] + kUnsureEnd, end = std::min(last, reads.end[read] - kUnsureEnd);
        for (int64_t number = (start - first) / kApart; first + number * kApart < end; ++number) {
            const int64_t from = first + number * kApart;
            places[{reads.reads.sample[read], number}].reads.push_back(
                {std::max(start, from), std::min(end, from + kApart), reads.reads.sample[read], names.back()});
        }
    }
    const auto named = [&](const FragmentNames& of) {
        FragmentNames fragments;
        for (const int64_t read : of) fragments.push_back(names[static_cast<size_t>(read)]);
        return ascending(std::move(fragments));
    };
    for (const Neighbour& snv : shown.snvs) {
        if (is_of_all(snv)) continue;
        Mismatches& own = places[{snv.sample, (snv.position - first) / kApart}];
        own.snvs.push_back({snv.position, snv.sample, snv.letter, named(snv.covering), named(snv.with)});
    }
    for (const LoneMismatch& one : shown.lone) {
        const auto read = static_cast<size_t>(one.fragment);
        places[{reads.reads.sample[read], (one.position - first) / kApart}].lone.push_back({one.position, names[read]});
    }
    for (const auto& [place, own] : places)
        add_place(of_amplicons ? between_primers(own, ends_of(own.reads)) : own,
                  first + place.second * kApart + kNeighbourhood);
}

void ClusterRateFinder::add_place(const Mismatches& shown, int64_t place) {
    FragmentNames over;
    for (const PlacedRead& read : shown.reads)
        if (read.position <= place && place < read.end) over.push_back(read.fragment);
    over = ascending(std::move(over));
    if (over.size() < kFewestFragments) return;
    ++places_;
    std::vector<Cluster> found = clusters_of(shown, shown.reads.front().sample, place, place, over);
    if (found.empty() || found.front().here.empty()) return;
    found.front().own.clear(), found.front().here.clear(), found.front().apart.clear();
    clusters_.push_back(std::move(found.front()));
}

void ClusterRateFinder::set(SourceRates& rates) const {
    std::vector<ClusterLikelihoods> likelihoods;
    for (const Cluster& cluster : clusters_) likelihoods.push_back(cluster_likelihoods(cluster, rates.divergence));
    const Found beforehand = usual(kUsualPlaces, kUsualCopies);
    const double usual_copies = kUsualPlaces * SourceRates().copies, places = places_ + kUsualPlaces;
    for (int step = 0; step < kSteps; ++step) {
        Found found = beforehand;
        for (const ClusterLikelihoods& one : likelihoods) add_expected(one, rates, found);
        rates.divergent = found.chromosomes / places;
        rates.copies = (found.copies() - kUsualCopies + usual_copies) / places;
        rates.shares = shares_of(found.of_share);
        rates.divergences = shares_of(found.of_divergence);
    }
    rates.copies = std::min(kHighestRate, on_grid(rates.copies));
    rates.divergent = std::min(kHighestRate, on_grid(rates.divergent));
    rates.shares = shares_on_grid(rates.shares);
    rates.divergences = shares_on_grid(rates.divergences);
}

}  // namespace pairhmm
