#include "calling/source_rates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "calling/genotypes.hpp"

namespace pairhmm {

namespace {

constexpr double kSnvPrior = 1e-3;
// The probability that a base is read as another one, for SNVs whose reads' errors are independent: no lower than it
// is, or pairs of such errors would count.
constexpr double kError = 1e-3;
// The fewest reads over an SNV that counts. Two of them show it, or more.
constexpr size_t kFewestOver = 5;
// Bases between two SNVs that count: nearer ones are seen in the same reads.
constexpr int64_t kBetween = 100;
// Rates are tried in steps of this factor, up to the highest. A rate is believed as far down as the logarithm of its
// likelihood is lower by this much (two standard deviations).
constexpr double kStep = 1.7782794100389228, kHighest = 30, kLower = 2;
constexpr int kRounds = 5;
// How much rarer foreign reads are where no neighbour tells than on average.
constexpr double kForeignAlone = 1e-4;
// Chromosomes and sources, with the lowest rate of each, as shares of kSnvPrior. Errors of a strand are told from
// alleles of a sample that has many, and from foreign reads.
enum Kind { kNone, kChromosomes, kGrowing, kStrand, kForeign, kKinds };
constexpr double kLowestRate[] = {1, 1, SourceRates{}.growing, SourceRates{}.strand, SourceRates{}.foreign};

// Reads of an SNV as fragments over a site with two alleles.
SeenFragments seen_fragments(const AlignedReads& reads, const Neighbour& snv, const Genotypes& genotypes) {
    ReadOrigins origins{reads.flag, reads.reads.start, reads.end, nullptr, nullptr, nullptr, nullptr, {}};
    std::map<int64_t, std::pair<Fragment, bool>> fragments;
    for (const int64_t read : snv.covering) {
        const int64_t name = fragment_name(reads.name(read));
        const Fragment own = origins.fragment(read, name, snv.position);
        auto& [fragment, has_allele] = fragments.try_emplace(name, own, false).first->second;
        fragment.add(own);
        has_allele |= std::binary_search(snv.with.begin(), snv.with.end(), read);
    }
    SeenFragments seen{2, {}, {}, {}, {}, {}};
    for (const auto& [name, one] : fragments) {
        const double alternative = one.second ? 1 - kError : kError, of[] = {1 - alternative, alternative};
        seen.fragments.push_back(one.first);
        seen.informative_for.push_back(one.second);
        seen.of_allele.insert(seen.of_allele.end(), of, of + 2);
        for (int64_t genotype = 0; genotype < genotypes.count(); ++genotype)
            seen.of_genotype.push_back(of[0] * genotypes.share[genotype] +
                                       of[1] * genotypes.share[genotypes.count() + genotype]);
    }
    return seen;
}

// The probability that two fragments or more, of which each shows an allele by a share of its weight, show it.
double is_seen(const std::vector<double>& weights, double share) {
    double none = 1, one = 0;
    for (const double weight : weights) {
        none *= 1 - share * weight;
        one += share * weight / (1 - share * weight);
    }
    return 1 - none * (1 + one);
}

// The same for errors of either strand, and for foreign reads.
double errors_are_seen(const std::vector<Fragment>& fragments, bool grow) {
    double seen = 0;
    for (const bool is_reverse : {false, true})
        for (const double share : kErrorShares) seen += is_seen(error_weights(fragments, is_reverse, grow), share);
    return seen / 2 / std::size(kErrorShares);
}

double foreign_reads_are_seen(const std::vector<Fragment>& fragments) {
    double seen = 0;
    for (const auto& [share, probability] : kForeignShares)
        seen += probability * is_seen(std::vector<double>(fragments.size(), 1.0), share / 2);
    return seen;
}

// log10 of the probability of the fragments, over genotypes from one on.
double log10_of_all(const std::vector<double>& likelihoods, const Genotypes& genotypes, size_t first) {
    double total = kLowest;
    for (size_t i = first; i < likelihoods.size(); ++i) {
        const double one = likelihoods[i] + genotypes.prior[i], top = std::max(total, one);
        if (std::isfinite(top)) total = top + std::log10(std::pow(10.0, total - top) + std::pow(10.0, one - top));
    }
    return total;
}

}  // namespace

void SourceRateFinder::add(const std::string& chrom, const AlignedReads& reads, ReferenceBases& reference) {
    std::vector<int64_t> all(static_cast<size_t>(reads.reads.count));
    if (all.empty()) return;
    std::iota(all.begin(), all.end(), 0);
    std::map<int32_t, int64_t> covered;
    for (const int64_t read : all) {
        int64_t& end = covered[reads.reads.sample[read]];
        bases_ += static_cast<double>(std::max<int64_t>(0, reads.end[read] - std::max(end, reads.reads.start[read])));
        end = std::max(end, reads.end[read]);
    }
    const int64_t start = reads.reads.start[0], end = *std::max_element(reads.end, reads.end + all.size());
    std::map<int32_t, int64_t> next;  // of each sample, where the next SNV may lie
    for (const Neighbour& snv : shown_mismatches(reads, all, chrom, reference, start, end, kUnsureEnd).snvs) {
        if (snv.covering.size() < kFewestOver || snv.position < next[snv.sample]) continue;
        next[snv.sample] = snv.position + kBetween;
        add_site(reads, snv);
    }
}

void SourceRateFinder::add_site(const AlignedReads& reads, const Neighbour& snv) {
    const Genotypes& genotypes = tables_.of({kSnvPrior}, 2);
    const SeenFragments seen = seen_fragments(reads, snv, genotypes);
    const auto count = static_cast<size_t>(genotypes.count());
    std::vector<double> alone(count, 0.0);
    for (size_t i = 0; i < seen.of_genotype.size(); ++i) alone[i % count] += std::log10(seen.of_genotype[i]);
    const double no_contamination = 0;
    const auto of_source = [&](const SourceRates& rates) {
        const ReadOrigins origins{nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &no_contamination, rates};
        std::vector<double> likelihoods(count, kLowest);
        add_other_sources(seen, genotypes, origins, 0, snv.position, snv.position + 1, likelihoods);
        return log10_of_all(likelihoods, genotypes, 0);
    };
    Likelihoods found{alone[0] + genotypes.prior[0], log10_of_all(alone, genotypes, 1), of_source({0, 1, 0, 0}),
                      of_source({1, 0, 0, 0}), of_source({0, 0, 1, 0})};
    const double most = *std::max_element(found.begin(), found.end());
    for (double& one : found) one = std::pow(10.0, std::max(kLowestLog10, one - most));
    snvs_.push_back(found);
    const double are_seen[] = {0, 1, errors_are_seen(seen.fragments, true), errors_are_seen(seen.fragments, false),
                               foreign_reads_are_seen(seen.fragments)};
    for (size_t kind = 0; kind < kKinds; ++kind) seen_[kind] += are_seen[kind];
}

// As many SNVs are seen as the rates promise for the bases that reads cover.
double SourceRateFinder::log_likelihood(const Likelihoods& rates) const {
    if (snvs_.empty()) return 0;
    const double seen = std::inner_product(rates.begin(), rates.end(), seen_.begin(), 0.0);
    double sum = -kSnvPrior * bases_ * seen / static_cast<double>(snvs_.size());
    for (const Likelihoods& snv : snvs_)
        sum += std::log(std::inner_product(snv.begin(), snv.end(), rates.begin(), 0.0));
    return sum;
}

// Gives a rate the value at which the reads are likeliest.
void SourceRateFinder::raise(size_t kind, Likelihoods& rates) const {
    Likelihoods tried = rates;
    double best = log_likelihood(rates);
    for (tried[kind] = kLowestRate[kind]; tried[kind] <= kHighest; tried[kind] *= kStep) {
        const double found = log_likelihood(tried);
        if (found <= best) continue;
        best = found;
        rates[kind] = tried[kind];
    }
}

double SourceRateFinder::lower_limit(size_t kind, Likelihoods rates) const {
    const double least = log_likelihood(rates) - kLower;
    rates[kind] = kLowestRate[kind];
    while (log_likelihood(rates) < least) rates[kind] *= kStep;
    return rates[kind];
}

SourceRates SourceRateFinder::rates() const {
    Likelihoods found;
    std::copy(std::begin(kLowestRate), std::end(kLowestRate), found.begin());
    for (int round = 0; round < kRounds; ++round)
        for (size_t kind = kChromosomes; kind < kKinds; ++kind) raise(kind, found);
    SourceRates rates{lower_limit(kStrand, found), lower_limit(kGrowing, found)};
    const double more = std::max(1.0, kForeignAlone * lower_limit(kForeign, found) / rates.foreign);
    rates.foreign *= more;
    rates.foreign_reference *= more;
    return rates;
}

}  // namespace pairhmm
