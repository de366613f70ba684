#include "calling/other_sources.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "calling/genotype_tables.hpp"
#include "calling/genotypes.hpp"
#include "calling/letters.hpp"

namespace pairhmm {

namespace {

// log10 of how much more often a neighbour is seen together with a foreign allele than with one of a chromosome, and of
// how much less often one is not seen with it where it could. All that tells an allele's own reads counts at most as
// much as kMostOfOwn: some chromosomes differ as much as a copy does. In a library with copies these are rarer beside
// them: the limit rises with the cube of the rate of foreign reads, by kMoreOfOwn at most.
constexpr double kOddsOfTogether = 1, kOddsOfDisagreeing = -2, kMostOfOwn = 3, kMoreOfOwn = 3;
// The same, for each neighbour behind the first that other fragments show, and for all of them; and what the share of
// each says at most: it may be of errors.
constexpr double kOddsOfOthers = 0.5, kMostOfOthers = 4, kMostOfShare = 1.5;
// log10 of how often, among foreign reads, a neighbour is an allele of a chromosome.
constexpr double kOddsOfChromosome = -1;
// Bases that a foreign fragment shows alone, beside those that all show: at least so many.
constexpr double kLoneOfForeign = 2, kFewestLone = 0.3;
// SNVs of a copy for each one that a chromosome has.
constexpr double kForeignSnvs = 30;
// By how much (log10) neighbours have to raise the rate of foreign reads for alleles that most reads show.
constexpr double kLeastOdds = 1;
// What mapping qualities say at most.
constexpr double kMostOfMapq = 100;
// Errors of a strand that are as frequent as alleles.
constexpr double kFrequent = 1;
// The share of the reads with an allele that all chromosomes have.
constexpr double kNearlyAll = 0.98;
// A product below it is put into a logarithm. No factor counts as less than kLeastFactor.
constexpr double kSmall = 1e-100, kLeastFactor = 1e-200;

double log10_add(double a, double b) {
    const double top = std::max(a, b), low = std::min(a, b);
    return top + std::log10(1 + std::pow(10.0, low - top));
}

// log P(some `low` of `all` are low), where any share of them is as likely.
double log_of_any_share(size_t low, size_t all) {
    double ways = 0;
    for (size_t i = 1; i <= std::min(low, all - low); ++i)
        ways += std::log(static_cast<double>(all - i + 1) / static_cast<double>(i));
    return -ways - std::log(static_cast<double>(all + 1));
}

class Sources {
public:
    Sources(const SeenFragments& seen, const Genotypes& genotypes, const SourceRates& rates, std::vector<double>& log10)
        : seen_(seen), genotypes_(genotypes), rates_(rates), log10_(log10) {}

    // Another person has the reference, or one or two copies of another allele.
    void contaminate(double share) {
        const std::vector<double> shares(seen_.fragments.size(), share);
        log10_ = mixed(shares, 0, 1);
        for (int allele = 1; allele < seen_.alleles; ++allele) {
            const double prior = prior_of(allele);
            add(prior, mixed(shares, allele, 0.5));
            add(prior - std::log10(2), mixed(shares, allele, 1));
        }
    }

    // Foreign reads show an allele.
    void add_foreign(int allele, const ReadOrigins& origins, int sample, int64_t first, int64_t last) {
        const double rate = allele > 0 ? rates_.foreign : rates_.foreign_reference;
        const int64_t with = std::count(seen_.informative_for.begin(), seen_.informative_for.end(), allele);
        if (rate == 0 || with < 2) return;
        const Linked linked = linked_fragments(allele, origins, sample, first, last);
        const std::vector<double> odds = foreign_odds(allele, rate, linked, with);
        const auto informative = static_cast<int64_t>(seen_.fragments.size()) -
                                 std::count(seen_.informative_for.begin(), seen_.informative_for.end(), -1);
        // What most reads show is the sample's, unless neighbours say otherwise.
        if (with * std::max(2, genotypes_.ploidy) >= informative &&
            *std::max_element(odds.begin(), odds.end()) < std::log10(rate) + kLeastOdds)
            return;
        const double prior = allele > 0 ? prior_of(allele) : 0;
        for (size_t i = 0; i < odds.size(); ++i)
            add(prior + odds[i], mixed(std::vector<double>(seen_.fragments.size(), foreign_share(i)), allele, 1));
    }

    // Errors of a strand show an allele.
    void add_strand_errors(int allele, bool is_reverse, const ErrorShares& rates) {
        int64_t with = 0, against = 0, others = 0;
        for (size_t i = 0; i < seen_.fragments.size(); ++i) {
            const bool has_other = seen_.fragments[i].is_on(!is_reverse);
            if (seen_.informative_for[i] == allele) ++(has_other ? against : with);
            else others += has_other;
        }
        if (with < 2 || against > 1) return;
        // Without reads of the other strand, nothing but a context where they are frequent tells errors from alleles.
        if (others == 0 && rates.strand + rates.growing < kFrequent) return;
        add_errors(allele, rates.strand, error_weights(seen_.fragments, is_reverse, false));
        add_errors(allele, rates.growing, error_weights(seen_.fragments, is_reverse, true));
    }

private:
    void add_errors(int allele, double relative_prior, const std::vector<double>& weights) {
        if (relative_prior == 0) return;
        const double prior = prior_of(allele) + std::log10(relative_prior / 2 / std::size(kErrorShares));
        for (const double share : kErrorShares) {
            std::vector<double> shares(weights);
            for (double& own : shares) own *= share;
            add(prior, mixed(shares, allele, 1));
        }
    }

    // log10 of the prior of one copy of an allele: that of the first genotype, in VCF's order, that has it.
    double prior_of(int allele) const {
        return genotypes_.prior[static_cast<size_t>(count_genotypes(allele, genotypes_.ploidy))];
    }

    void add(double log10_prior, const std::vector<double>& likelihoods) {
        for (size_t genotype = 0; genotype < log10_.size(); ++genotype)
            log10_[genotype] = log10_add(log10_[genotype], log10_prior + likelihoods[genotype]);
    }

    // log10 P(fragments | genotype) where each is of another source with some probability. `of_source` of that source
    // show an allele, the others the reference.
    std::vector<double> mixed(const std::vector<double>& shares, int allele, double of_source) const {
        const size_t count = log10_.size();
        std::vector<double> total(count, 0.0), product(count, 1.0);
        for (size_t i = 0; i < shares.size(); ++i) {
            const double* const of_allele = &seen_.of_allele[i * static_cast<size_t>(seen_.alleles)];
            const double* const own = &seen_.of_genotype[i * count];
            const double other = shares[i] * (of_source * of_allele[allele] + (1 - of_source) * of_allele[0]);
            for (size_t genotype = 0; genotype < count; ++genotype) {
                product[genotype] *= std::max(kLeastFactor, (1 - shares[i]) * own[genotype] + other);
                if (product[genotype] > kSmall) continue;
                total[genotype] += std::log10(product[genotype]);
                product[genotype] = 1;
            }
        }
        for (size_t genotype = 0; genotype < count; ++genotype) total[genotype] += std::log10(product[genotype]);
        return total;
    }

    Linked linked_fragments(int allele, const ReadOrigins& origins, int sample, int64_t first, int64_t last) const {
        std::vector<int64_t> covering, with;
        if (origins.neighbours == nullptr) return {};
        for (size_t i = 0; i < seen_.fragments.size(); ++i) {
            const int64_t name = (*origins.name)[static_cast<size_t>(seen_.fragments[i].number)];
            covering.push_back(name);
            if (seen_.informative_for[i] == allele) with.push_back(name);
        }
        std::sort(covering.begin(), covering.end());
        std::sort(with.begin(), with.end());
        return linked_to(*origins.neighbours, sample, first, last, covering, with);
    }

    // log10 of how much likelier fragments are for a share of foreign ones than for a share of chromosomes.
    double log10_of_share(double share, const Shown& shown) const {
        double chromosomes = log10_of(genotypes_.ploidy > 1 ? 1.0 / genotypes_.ploidy : kNearlyAll, shown);
        for (int copies = 2; copies < genotypes_.ploidy; ++copies)
            chromosomes = std::max(chromosomes, log10_of(static_cast<double>(copies) / genotypes_.ploidy, shown));
        return log10_of(share, shown) - chromosomes;
    }

    static double log10_of(double share, const Shown& shown) {
        return static_cast<double>(shown.with) * std::log10(share) +
               static_cast<double>(shown.covering - shown.with) * std::log10(1 - share);
    }

    // log10 of how much likelier a neighbour is for a share of foreign reads, as two of its reads have to be seen.
    double log10_of_seen(double share, const Shown& shown) const {
        const double all = static_cast<double>(shown.covering), without = std::pow(1 - share, all - 1);
        return log10_of_share(share, shown) - std::log10(1 - without * (1 - share + all * share));
    }

    double foreign_share(size_t number) const { return kForeignShares[number].first / genotypes_.ploidy; }

    // log10 of how often foreign reads of each of kForeignShares show an allele, as a share of its prior. However
    // surely there is a copy, some alleles there are the sample's: only what tells the allele's own reads goes beyond.
    std::vector<double> foreign_odds(int allele, double rate, const Linked& linked, int64_t with) const {
        const double snvs = std::log10(allele > 0 ? kForeignSnvs : 1);
        std::vector<double> odds = odds_beside(linked.others);
        double any = 0;
        for (double& one : odds) {
            one += std::log10(rate) - snvs;
            any = log10_add(any, one);
        }
        const double usual = allele > 0 ? SourceRates{}.foreign : SourceRates{}.foreign_reference;
        const double most = kMostOfOwn + std::clamp(3 * std::log10(rate / usual), 0.0, kMoreOfOwn);
        const double own = std::min(most, odds_of_linked(linked) + odds_of_lone(linked, with));
        for (size_t i = 0; i < odds.size(); ++i)
            odds[i] += snvs - any + own + log10_of_mapq(allele) + log10_of_share(foreign_share(i), linked.elsewhere);
        return odds;
    }

    // log10 of how much likelier neighbours of other fragments are beside foreign reads of each of kForeignShares.
    std::vector<double> odds_beside(const std::vector<Shown>& others) const {
        const double more = kOddsOfOthers * std::max(0.0, static_cast<double>(others.size()) - 1);
        std::vector<double> odds;
        for (size_t i = 0; i < std::size(kForeignShares); ++i) {
            odds.push_back(std::log10(kForeignShares[i].second) + std::min(more, kMostOfOthers));
            double most = 0;
            for (const Shown& one : others) {
                const double seen = log10_add(log10_of_seen(foreign_share(i), one), kOddsOfChromosome);
                odds.back() += std::min(seen, kMostOfShare);
                most = std::max(most, std::min(seen, kMostOfShare));
            }
            odds.back() -= most;  // a single one may be of errors
        }
        return odds;
    }

    static double odds_of_linked(const Linked& linked) {
        return kOddsOfTogether * static_cast<double>(linked.together) +
               kOddsOfDisagreeing * static_cast<double>(linked.disagreeing);
    }

    // log10 of how much likelier the bases are that single fragments with the allele show, if these are more than those
    // of the other fragments: both are Poisson.
    double odds_of_lone(const Linked& linked, int64_t with) const {
        const auto others = static_cast<double>(static_cast<int64_t>(seen_.fragments.size()) - with);
        const double usual = std::max(kFewestLone, (static_cast<double>(linked.lone_without) + 0.5) / (others + 1));
        const double more = static_cast<double>(linked.lone_with) * std::log10(1 + kLoneOfForeign / usual);
        return std::max(0.0, more - static_cast<double>(with) * kLoneOfForeign / std::log(10.0));
    }

    // log10 of how much likelier it is that the mapping qualities of an allele's reads have a distribution of their
    // own, by the share that is below the median of the others.
    double log10_of_mapq(int allele) const {
        std::vector<uint8_t> ours, others;
        for (size_t i = 0; i < seen_.fragments.size(); ++i) {
            if (seen_.fragments[i].mapq == kUnknownMapq) continue;
            (seen_.informative_for[i] == allele ? ours : others).push_back(seen_.fragments[i].mapq);
        }
        if (ours.empty() || others.empty()) return 0;
        std::nth_element(others.begin(), others.begin() + others.size() / 2, others.end());
        const uint8_t median = others[others.size() / 2];
        const auto low = [&](const std::vector<uint8_t>& of) {
            return static_cast<size_t>(std::count_if(of.begin(), of.end(), [&](uint8_t one) { return one < median; }));
        };
        const double apart = log_of_any_share(low(ours), ours.size()) + log_of_any_share(low(others), others.size());
        const double together = log_of_any_share(low(ours) + low(others), ours.size() + others.size());
        return std::log10((1 + std::min(kMostOfMapq, std::exp(apart - together))) / 2);
    }

    const SeenFragments& seen_;
    const Genotypes& genotypes_;
    const SourceRates& rates_;
    std::vector<double>& log10_;
};

}  // namespace

std::array<int, 2> error_contexts(std::string_view sequence, int64_t place, char letter) {
    std::array<int, 2> contexts{0, 1};
    for (int i = kErrorReach; i >= 0; --i) {
        const auto code_at = [&](int64_t at) -> int {
            return at < 0 || at >= static_cast<int64_t>(sequence.size()) ? kCodeOfN : code_of(sequence[at]);
        };
        const int before = i > 0 ? code_at(place - i) : code_of(letter), behind = i > 0 ? code_at(place + i) : before;
        contexts[0] = before >= kCodeOfN || contexts[0] < 0 ? -1 : contexts[0] * 4 + before;
        contexts[1] = behind >= kCodeOfN || contexts[1] < 0 ? -1 : contexts[1] * 4 + 3 - behind;
    }
    return contexts;
}

void Fragment::add(const Fragment& mate) {
    is_forward |= mate.is_forward;
    is_reverse |= mate.is_reverse;
    mapq = std::max(mapq, mate.mapq);
    cycle = std::max(cycle, mate.cycle);
}

Fragment ReadOrigins::fragment(int64_t read, int64_t number, int64_t site) const {
    constexpr uint16_t kReverse = 16;
    const bool is_reverse = flag[read] & kReverse;
    const auto length = static_cast<double>(std::max<int64_t>(1, end[read] - start[read]));
    const double from_start = (static_cast<double>(site - start[read]) + 0.5) / length;
    const double cycle = std::clamp(is_reverse ? 1 - from_start : from_start, 0.0, 1.0);
    return {number, !is_reverse, is_reverse, mapq ? mapq[read] : kUnknownMapq, cycle};
}

std::vector<double> error_weights(const std::vector<Fragment>& fragments, bool is_reverse, bool grows) {
    std::vector<double> weights;
    for (const Fragment& one : fragments) {
        const bool is_alone = one.is_on(is_reverse) && !one.is_on(!is_reverse);
        weights.push_back(!is_alone ? 0 : grows ? one.cycle * one.cycle : 1);
    }
    return weights;
}

void add_strand_errors(const SeenFragments& seen, const Genotypes& genotypes, int allele, bool is_reverse,
                       const ErrorShares& shares, std::vector<double>& log10) {
    Sources(seen, genotypes, {}, log10).add_strand_errors(allele, is_reverse, shares);
}

void add_other_sources(const SeenFragments& seen, const Genotypes& genotypes, const ReadOrigins& origins, int sample,
                       int64_t first, int64_t last, std::vector<double>& log10) {
    Sources sources(seen, genotypes, origins.rates, log10);
    if (origins.contamination[sample] > 0) sources.contaminate(origins.contamination[sample]);
    for (int allele = 0; allele < seen.alleles; ++allele) {
        sources.add_foreign(allele, origins, sample, first, last);
        const ErrorsLike errors = seen.errors.empty() ? ErrorsLike() : seen.errors[static_cast<size_t>(allele)];
        for (const bool is_reverse : {false, true})
            if (allele > 0 && errors.may_be)
                sources.add_strand_errors(allele, is_reverse, origins.rates.errors_in(errors.context[is_reverse]));
    }
}

}  // namespace pairhmm
