#include "calling/other_sources.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "calling/genotype_tables.hpp"
#include "calling/genotypes.hpp"
#include "calling/letters.hpp"
#include "calling/log10_sums.hpp"

namespace pairhmm {

namespace {

// SNVs in a base of a copy, on average, and of a usual chromosome.
constexpr double kDivergence = 0.03, kUsualDivergence = 1e-3;
// The probability that a copy has a certain allele with a gap; and, by its divergence, that nothing else tells of it:
// the few fragments over a site, of about 500 bases together, have an SNV more at most.
constexpr double kGapOfCopy = 3e-4, kAlone[] = {0.04, 0.0005, 0};
// What mapping qualities say at most.
constexpr double kMostOfMapq = 100;
// So many fragments tell two sequences apart, and those that show SNVs of both are such a share of them at most.
constexpr int64_t kFewestApart = 2;
constexpr double kMostOfApart = 0.3;
// Fragments from which on foreign ones may be likelier than an uneven share of alleles by chance.
constexpr int64_t kDeep = 300;
// The probability that fragments of amplicons which begin near a site have a primer there.
constexpr double kHasPrimer = 0.3;
// The share of the reads with an allele that all chromosomes have.
constexpr double kNearlyAll = 0.98;
// No factor counts as less.
constexpr double kLeastFactor = 1e-200;

// log P(some `low` of `all` are low), where any share of them is as likely.
double log_of_any_share(size_t low, size_t all) {
    double ways = 0;
    for (size_t i = 1; i <= std::min(low, all - low); ++i)
        ways += std::log(static_cast<double>(all - i + 1) / static_cast<double>(i));
    return -ways - std::log(static_cast<double>(all + 1));
}

// Where the fragments of a cluster are from, log10, beside a usual chromosome.
struct Origin {
    double chromosome, copy;
    double share;                 // that such a copy has of the reads
    OfDivergences of_divergence;  // of such a copy, the probability of each
    double lift;                  // how many SNVs such a chromosome has for each usual one
};

double foreign_share(size_t number, int ploidy) { return kForeignShares[number].first / ploidy; }

// The probability that nothing else tells of a copy.
double alone(const SourceRates& rates) {
    return std::inner_product(rates.divergences.begin(), rates.divergences.end(), kAlone, 0.0);
}

double log10_of(double share, const Shown& shown) {
    return static_cast<double>(shown.with) * std::log10(share) +
           static_cast<double>(shown.covering - shown.with) * std::log10(1 - share);
}

// That they are of a share of the chromosomes, log10.
double log10_of_chromosomes(const Shown& shown, int ploidy) {
    double most = log10_of(ploidy > 1 ? 1.0 / ploidy : kNearlyAll, shown);
    for (int copies = 2; copies < ploidy; ++copies)
        most = std::max(most, log10_of(static_cast<double>(copies) / ploidy, shown));
    return most;
}

// 10 to a power. Products of two fit a double.
double power_of_ten(double exponent) { return std::pow(10.0, std::clamp(exponent, -100.0, 100.0)); }

// log10 of how much likelier it is that fragments show the same errors by chance than that they are of a usual
// chromosome.
double log10_of_chance(const Cluster& cluster, const Shown& shown, double usual, int ploidy) {
    if (cluster.snvs == 0) return kLowest;
    const double snv = std::log10(3 / usual) + static_cast<double>(cluster.all.with) * std::log10(cluster.errors / 3);
    return static_cast<double>(cluster.snvs) * snv - log10_of_chromosomes(shown, ploidy);
}

// Both mismatches that several reads show and those of single reads are Poisson.
double log_of_divergence(const Cluster& cluster, double divergence, double usual) {
    const double more = divergence * cluster.bases;
    return static_cast<double>(cluster.snvs) * std::log(1 + divergence / usual) +
           static_cast<double>(cluster.lone) * std::log(1 + more / (cluster.usual_lone + usual * cluster.bases)) - more;
}

// `elsewhere`: fragments whose genotype is not weighed; beside them, a copy is compared with the share of a chromosome.
Origin origin_of(const Cluster& cluster, const Shown& elsewhere, const Shown& here, const SourceRates& rates,
                 int ploidy) {
    // How much likelier the mismatches are beside those of a usual chromosome, and so many more SNVs.
    double divergent = 0, with_snv = 0, of_copy = 0;
    OfDivergences of_divergence;
    for (size_t i = 0; i < std::size(kDivergences); ++i) {
        const double one = std::exp(log_of_divergence(cluster, kDivergences[i], rates.divergence));
        divergent += one / std::size(kDivergences);
        with_snv += one / std::size(kDivergences) * kDivergences[i] / kUsualDivergence;
        of_divergence[i] = one * rates.divergences[i];
        of_copy += of_divergence[i];
    }
    for (double& one : of_divergence) one /= of_copy;
    const double chance = log10_of_chance(cluster, elsewhere, rates.divergence, ploidy);
    const double chromosome = log10_add(std::log10(1 + rates.divergent * divergent), chance);
    double copy = kLowest, of_share = kLowest;
    for (size_t i = 0; i < std::size(kForeignShares); ++i) {
        const double share = foreign_share(i, ploidy);
        const double one = std::log10(rates.shares[i]) + log10_of(share, elsewhere) + log10_of(share, here);
        copy = log10_add(copy, one);
        of_share = log10_add(of_share, one + std::log10(share));
    }
    const double share = std::pow(10.0, of_share - copy);
    copy += std::log10(of_copy) - log10_of_chromosomes(elsewhere, ploidy);
    return {chromosome, std::max(std::log10(kLeastFactor), copy), share, of_divergence,
            log10_add(std::log10(1 + rates.divergent * with_snv), chance) - chromosome};
}

bool is_foreign(const Origin& origin) { return origin.copy > origin.chromosome; }

// Another person: the share of an allele beside the reference in the person's genotype.
struct Person {
    int allele;
    double of_person;
};

// The fragments where a share of them is another person's, who is known beside each genotype.
SeenFragments with_person(SeenFragments seen, double share, const std::vector<Person>& beside) {
    for (size_t i = 0; i < seen.of_genotype.size(); ++i) {
        const auto& [allele, of_person] = beside[i % beside.size()];
        const double* const of_allele = &seen.of_allele[i / beside.size() * static_cast<size_t>(seen.alleles)];
        const double other = of_person * of_allele[allele] + (1 - of_person) * of_allele[0];
        seen.of_genotype[i] = (1 - share) * seen.of_genotype[i] + share * other;
    }
    return seen;
}

class Sources {
public:
    Sources(const SeenFragments& seen, const Genotypes& genotypes, const SourceRates& rates, bool have_gaps,
            std::vector<double>& log10)
        : seen_(seen), genotypes_(genotypes), rates_(rates), have_gaps_(have_gaps), log10_(log10) {}

    // Another person has the reference, or one or two copies of another allele. Gives the likeliest person beside each
    // genotype.
    std::vector<Person> contaminate(double share) {
        const std::vector<double> shares(seen_.fragments.size(), share);
        std::vector<Person> likeliest(log10_.size(), Person{0, 1});
        std::vector<double> most(log10_.size(), kLowest);
        const auto add_person = [&](const Person& person, double prior) {
            const std::vector<double> likelihoods = mixed(shares, person.allele, person.of_person);
            for (size_t genotype = 0; genotype < most.size(); ++genotype)
                if (prior + likelihoods[genotype] > most[genotype])
                    most[genotype] = prior + likelihoods[genotype], likeliest[genotype] = person;
            add(prior, likelihoods);
        };
        std::fill(log10_.begin(), log10_.end(), kLowest);
        add_person({0, 1}, 0);
        for (int allele = 1; allele < seen_.alleles; ++allele) {
            add_person({allele, 0.5}, prior_of(allele));
            add_person({allele, 1}, prior_of(allele) - std::log10(2));
        }
        return likeliest;
    }

    // Foreign reads show an allele, where nothing tells of a copy.
    void add_foreign(int allele) {
        const int64_t with = std::count(seen_.informative_for.begin(), seen_.informative_for.end(), allele);
        if (rates_.copies == 0 || with < 2) return;
        const auto informative = static_cast<int64_t>(seen_.fragments.size()) -
                                 std::count(seen_.informative_for.begin(), seen_.informative_for.end(), -1);
        // What most reads show is the sample's: foreign reads of it are seen beside chromosomes that have it, too.
        const bool is_own = with * std::max(2, genotypes_.ploidy) >= informative;
        if (is_own && informative < kDeep) return;
        const double weight = log10_of_mapq(allele) +
                              std::log10(rates_.copies * alone(rates_) * share_of_copies(static_cast<size_t>(allele)));
        const std::vector<double> foreign = foreign_likelihoods(allele, weight);
        const double* const share = &genotypes_.share[static_cast<size_t>(allele) * foreign.size()];
        for (size_t genotype = 0; genotype < foreign.size(); ++genotype)
            if (!is_own || share[genotype] > 0) log10_[genotype] = log10_add(log10_[genotype], foreign[genotype]);
    }

    // Weighs whether fragments are of a copy, or of a chromosome that differs as much. Gives the fragments that are not
    // of a copy: log10 is of these from then on.
    std::vector<size_t> weigh_clusters(const ReadOrigins& origins, int sample, int64_t first, int64_t last) {
        std::vector<Group> groups = groups_of(origins, sample, first, last);
        if (!groups.empty()) weigh(groups, origins);
        return without_foreign(groups);
    }

    // The same where mismatches beside the site may be of wrong alignments, and fragments are not independent: gives
    // the fragments that are not of a copy, and log10 of how much likelier a copy is than none.
    std::pair<std::vector<size_t>, double> copy_at_gaps(const ReadOrigins& origins, int sample, int64_t first,
                                                        int64_t last) const {
        const std::vector<Group> groups = groups_of(origins, sample, first - kUnsureEnd, last + kUnsureEnd);
        return {without_foreign(groups), log10_of_copy(groups, &foreign_as_copy) - log10_of_none(groups)};
    }

    // log10 P(fragments | genotype) where foreign reads, which there are with a prior (log10), show an allele.
    std::vector<double> foreign_likelihoods(int allele, double prior) const {
        std::vector<double> likelihoods(log10_.size(), kLowest);
        for (size_t i = 0; i < std::size(kForeignShares); ++i) {
            const double own = prior + std::log10(kForeignShares[i].second);
            const std::vector<double> mixture =
                mixed(std::vector<double>(seen_.fragments.size(), foreign_share(i, genotypes_.ploidy)), allele, 1);
            for (size_t genotype = 0; genotype < mixture.size(); ++genotype)
                likelihoods[genotype] = log10_add(likelihoods[genotype], own + mixture[genotype]);
        }
        return likelihoods;
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
        if (others == 0 && !rates.are_frequent()) return;
        add_errors(allele, rates.strand, error_weights(seen_.fragments, is_reverse, false));
        add_errors(allele, rates.growing, error_weights(seen_.fragments, is_reverse, true));
    }

    // log10 of the prior of one copy of an allele: that of the first genotype, in VCF's order, that has it.
    double prior_of(int allele) const {
        return genotypes_.prior[static_cast<size_t>(count_genotypes(allele, genotypes_.ploidy))];
    }

private:
    // How many of the copies have an allele.
    double share_of_copies(size_t allele) const {
        if (allele == 0) return 1 - kDivergence;
        return have_gaps_ ? kGapOfCopy : kDivergence / 3;
    }

    void add_errors(int allele, double relative_prior, const std::vector<double>& weights) {
        if (relative_prior == 0) return;
        const double prior = prior_of(allele) + std::log10(relative_prior / 2 / std::size(kErrorShares));
        for (const double share : kErrorShares) {
            std::vector<double> shares(weights);
            for (double& own : shares) own *= share;
            add(prior, mixed(shares, allele, 1));
        }
    }

    void add(double log10_prior, const std::vector<double>& likelihoods) {
        for (size_t genotype = 0; genotype < log10_.size(); ++genotype)
            log10_[genotype] = log10_add(log10_[genotype], log10_prior + likelihoods[genotype]);
    }

    // log10 P(fragments | genotype) where each is of another source with some probability. `of_source` of that source
    // show an allele, the others the reference.
    std::vector<double> mixed(const std::vector<double>& shares, int allele, double of_source) const {
        const size_t count = log10_.size();
        Log10Products products(count);
        for (size_t i = 0; i < shares.size(); ++i) {
            const double* const of_allele = &seen_.of_allele[i * static_cast<size_t>(seen_.alleles)];
            const double* const own = &seen_.of_genotype[i * count];
            const double other = shares[i] * (of_source * of_allele[allele] + (1 - of_source) * of_allele[0]);
            for (size_t genotype = 0; genotype < count; ++genotype)
                products.multiply(genotype, std::max(kLeastFactor, (1 - shares[i]) * own[genotype] + other));
        }
        return products.log10();
    }

    // The fragments of a cluster that are over the site, ascending.
    struct Group {
        std::vector<size_t> fragments;
        Origin origin;
        std::vector<double> of_genotype, of_allele;  // log10, with the fragments' own: of a chromosome, and of a copy
        bool is_foreign = false;
        FragmentNames own, others;  // its fragments, over the site or not, and others over its alleles
    };

    std::vector<Group> groups_of(const ReadOrigins& origins, int sample, int64_t first, int64_t last) const {
        if (origins.neighbours == nullptr || rates_.copies == 0) return {};
        const auto name_of = [&](size_t i) { return (*origins.name)[static_cast<size_t>(seen_.fragments[i].number)]; };
        FragmentNames names;
        for (size_t i = 0; i < seen_.fragments.size(); ++i) names.push_back(name_of(i));
        std::vector<Group> groups;
        for (const Cluster& cluster :
             clusters_of(*origins.neighbours, sample, first, last, ascending(std::move(names)))) {
            Group& group = groups.emplace_back();
            for (size_t i = 0; i < seen_.fragments.size(); ++i)
                if (is_in(name_of(i), cluster.here)) group.fragments.push_back(i);
            find_origins(cluster, group);
        }
        return groups;
    }

    void find_origins(const Cluster& cluster, Group& group) const {
        const Shown here{static_cast<int64_t>(seen_.fragments.size()), static_cast<int64_t>(group.fragments.size())};
        group.origin = group.fragments.empty() ? origin_of(cluster, cluster.all, {}, rates_, genotypes_.ploidy)
                                               : origin_of(cluster, cluster.elsewhere, here, rates_, genotypes_.ploidy);
        group.own = cluster.own, group.others = cluster.apart;
        if (have_gaps_) group.is_foreign = is_foreign(origin_of(cluster, cluster.all, {}, rates_, genotypes_.ploidy));
        const auto add_group = [&](double origin, const std::vector<double>& of, size_t count,
                                   std::vector<double>& to) {
            for (size_t column = 0; column < count; ++column) {
                to.push_back(origin);
                for (const size_t i : group.fragments)
                    to.back() += std::log10(std::max(kLeastFactor, of[i * count + column]));
            }
        };
        add_group(group.origin.chromosome, seen_.of_genotype, log10_.size(), group.of_genotype);
        add_group(group.origin.copy, seen_.of_allele, static_cast<size_t>(seen_.alleles), group.of_allele);
    }

    std::vector<size_t> without_foreign(const std::vector<Group>& groups) const {
        std::vector<size_t> rest(seen_.fragments.size());
        std::iota(rest.begin(), rest.end(), size_t{0});
        for (const Group& group : groups) {
            if (!group.is_foreign) continue;
            std::vector<size_t> others;
            std::set_difference(rest.begin(), rest.end(), group.fragments.begin(), group.fragments.end(),
                                std::back_inserter(others));
            rest = std::move(others);
        }
        return rest;
    }

    // Whether a group's fragments all show an allele that a genotype has once or more, beside another one.
    bool is_lifted(const Group& group, size_t genotype) const {
        if (group.is_foreign || group.fragments.empty()) return false;
        const int64_t shown = seen_.informative_for[group.fragments.front()];
        if (shown <= 0) return false;
        const double share = genotypes_.share[static_cast<size_t>(shown) * log10_.size() + genotype];
        return share > 0 && share < 1 &&
               std::all_of(
                   group.fragments.begin(), group.fragments.end(),
                   [&](size_t i) { return seen_.informative_for[i] == shown; });
    }

    // log10 of the probability of a copy that shows an allele, times that of each group.
    template <class OfGroup>
    double log10_of_copy(const std::vector<Group>& groups, OfGroup&& of_group) const {
        double total = kLowest;
        for (size_t allele = 0; allele < static_cast<size_t>(seen_.alleles); ++allele) {
            double one = std::log10(share_of_copies(allele) * rates_.copies);
            for (const Group& group : groups) one += of_group(group, allele);
            total = log10_add(total, one);
        }
        return total;
    }

    // log10 of the probability of no copy, times that of each group.
    double log10_of_none(const std::vector<Group>& groups) const {
        double total = std::log10(1 - rates_.copies);
        for (const Group& group : groups) total += group.origin.chromosome;
        return total;
    }

    static double foreign_as_copy(const Group& group, size_t allele) {
        return group.is_foreign ? group.of_allele[allele] : group.origin.chromosome;
    }

    // Whether two groups may be of one copy: not where fragments of one are over the other's alleles without showing
    // them. Others may share an SNV with a copy, so that a few fragments do.
    static bool may_be_together(const Group& a, const Group& b) {
        const int64_t apart = shared(a.own, b.others) + shared(b.own, a.others), both = shared(a.own, b.own);
        return apart < kFewestApart || static_cast<double>(both) > kMostOfApart * static_cast<double>(both + apart);
    }

    // Finds the groups that are foreign, if there is a copy at all.
    void find_foreign(std::vector<Group>& groups) const {
        const auto most = [](const std::vector<double>& of) { return *std::max_element(of.begin(), of.end()); };
        const auto odds = [&](const Group& group) { return most(group.of_allele) - most(group.of_genotype); };
        const Group& likeliest = *std::max_element(groups.begin(), groups.end(),
                                                   [&](const Group& a, const Group& b) { return odds(a) < odds(b); });
        double more = std::log10(rates_.copies / (1 - rates_.copies));
        for (Group& group : groups) {
            group.is_foreign = odds(group) > 0 && (&group == &likeliest || may_be_together(group, likeliest));
            if (group.is_foreign) more += odds(group);
        }
        for (Group& group : groups) group.is_foreign = group.is_foreign && more > 0;
    }

    // Fragments of no group that may be of the copy, too.
    struct Unknown {
        std::vector<size_t> fragments;
        double share;                  // of the copy
        std::vector<double> is_alike;  // [alleles] the probability that those which show it would show nothing else
    };

    // Those that are over none of its alleles.
    Unknown unknown_of(const std::vector<Group>& groups, const ReadOrigins& origins) const {
        const Group& likeliest = *std::max_element(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
            return a.origin.copy - a.origin.chromosome < b.origin.copy - b.origin.chromosome;
        });
        const auto name_of = [&](size_t i) { return (*origins.name)[static_cast<size_t>(seen_.fragments[i].number)]; };
        std::vector<bool> is_known(seen_.fragments.size(), false);
        FragmentNames own;
        for (const Group& group : groups) {
            for (const size_t i : group.fragments) is_known[i] = true;
            if (&group != &likeliest && !(is_foreign(group.origin) && may_be_together(group, likeliest))) continue;
            for (size_t i = 0; i < is_known.size(); ++i) is_known[i] = is_known[i] || is_in(name_of(i), group.others);
            own.insert(own.end(), group.own.begin(), group.own.end());
        }
        own = ascending(std::move(own));
        Unknown unknown{{}, likeliest.origin.share, {}};
        std::vector<FragmentNames> with(static_cast<size_t>(seen_.alleles));
        for (size_t i = 0; i < is_known.size(); ++i) {
            if (is_known[i]) continue;
            unknown.fragments.push_back(i);
            if (seen_.informative_for[i] >= 0)
                with[static_cast<size_t>(seen_.informative_for[i])].push_back(name_of(i));
        }
        for (FragmentNames& names : with) {
            const double bases = covered_beyond(origins.neighbours->reads, ascending(std::move(names)), own);
            double alike = 0;
            for (size_t i = 0; i < std::size(kDivergences); ++i)
                alike += likeliest.origin.of_divergence[i] * std::exp(-kDivergences[i] * bases);
            unknown.is_alike.push_back(alike);
        }
        return unknown;
    }

    // log10 of how much likelier these fragments are where a share of them may show an allele of a copy.
    double log10_of_unknown(const Unknown& unknown, size_t allele, size_t genotype) const {
        double product = 0;
        for (const size_t i : unknown.fragments) {
            const double own = std::max(kLeastFactor, seen_.of_genotype[i * log10_.size() + genotype]);
            const double of_copy = seen_.of_allele[i * static_cast<size_t>(seen_.alleles) + allele];
            product += std::log10(1 - unknown.share + unknown.share * of_copy / own);
        }
        const double alike = unknown.is_alike[allele];
        return log10_add(std::log10(std::max(kLeastFactor, 1 - alike)),
                         std::log10(std::max(kLeastFactor, alike)) + product);
    }

    // Adds what is known of the groups: all that are foreign are of one copy. log10 stays on the scale of the fragments
    // that are not.
    void weigh(std::vector<Group>& groups, const ReadOrigins& origins) {
        find_foreign(groups);
        const bool has_copy =
            std::any_of(groups.begin(), groups.end(), [](const Group& one) { return one.is_foreign; });
        const double without = std::log10(1 - rates_.copies);
        const double always = has_copy ? log10_of_copy(groups, &foreign_as_copy) : log10_of_none(groups);
        const Unknown unknown = unknown_of(groups, origins);
        std::vector<char> together;
        for (const Group& first : groups)
            for (const Group& next : groups) together.push_back(may_be_together(first, next));
        for (size_t genotype = 0; genotype < log10_.size(); ++genotype) {
            double total = without, own = 0, lift = 0;
            for (const Group& group : groups) {
                total += group.of_genotype[genotype];
                own += group.of_genotype[genotype] - group.origin.chromosome;
                if (is_lifted(group, genotype)) lift = std::max(lift, group.origin.lift);
            }
            for (size_t allele = 0; allele < static_cast<size_t>(seen_.alleles); ++allele) {
                double none = std::log10(share_of_copies(allele) * rates_.copies), some = kLowest;
                for (size_t first = 0; first < groups.size(); ++first) {
                    double one = none + groups[first].of_allele[allele];
                    for (size_t next = first + 1; next < groups.size(); ++next) {
                        const double own = groups[next].of_genotype[genotype], copy = groups[next].of_allele[allele];
                        one += together[first * groups.size() + next] ? log10_add(own, copy) : own;
                    }
                    some = log10_add(some, one);
                    none += groups[first].of_genotype[genotype];
                }
                const double more = log10_of_unknown(unknown, allele, genotype);
                total = log10_add(total, log10_add(none, some + more));
            }
            log10_[genotype] += total - own - always + lift;
        }
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
    bool have_gaps_;
    std::vector<double>& log10_;
};

// Some of the fragments.
SeenFragments part_of(const SeenFragments& seen, const std::vector<size_t>& chosen) {
    SeenFragments part{seen.alleles, {}, {}, {}, {}, seen.errors};
    const auto add = [](std::vector<double>& to, const std::vector<double>& from, size_t row, size_t count) {
        to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(row * count),
                  from.begin() + static_cast<std::ptrdiff_t>((row + 1) * count));
    };
    const size_t alleles = static_cast<size_t>(seen.alleles),
                 genotypes = seen.of_genotype.size() / seen.fragments.size();
    for (const size_t i : chosen) {
        part.fragments.push_back(seen.fragments[i]);
        part.informative_for.push_back(seen.informative_for[i]);
        add(part.of_allele, seen.of_allele, i, alleles);
        add(part.of_genotype, seen.of_genotype, i, genotypes);
    }
    return part;
}

// Adds to P(fragments | genotype), log10, that some of them do not show the genotype.
void add_other_sources(SeenFragments seen, const Genotypes& genotypes, const ReadOrigins& origins, int sample,
                       int64_t first, int64_t last, std::vector<double>& log10) {
    const double share = origins.contamination[sample];
    Sources all(seen, genotypes, origins.rates, origins.have_gaps, log10);
    if (share > 0) seen = with_person(seen, share, all.contaminate(share));
    SeenFragments rest;
    bool is_part = false;
    if (!origins.have_gaps) {
        const std::vector<size_t> chosen = all.weigh_clusters(origins, sample, first, last);
        is_part = chosen.size() < seen.fragments.size();
        if (is_part) rest = part_of(seen, chosen);
    }
    Sources sources(is_part ? rest : seen, genotypes, origins.rates, origins.have_gaps, log10);
    for (int allele = 0; allele < seen.alleles; ++allele) {
        sources.add_foreign(allele);
        const ErrorsLike errors = seen.errors.empty() ? ErrorsLike() : seen.errors[static_cast<size_t>(allele)];
        for (const bool is_reverse : {false, true})
            if (allele > 0 && errors.may_be)
                sources.add_strand_errors(allele, is_reverse, origins.rates.errors_in(errors.context[is_reverse]));
    }
}

}  // namespace

SeenFragments without_primers(const SeenFragments& seen, const Genotypes& genotypes) {
    std::vector<size_t> rest;
    std::vector<double> all = genotypes.prior, others = all;
    double primers = std::log10(kHasPrimer / (1 - kHasPrimer));
    for (size_t i = 0; i < seen.fragments.size(); ++i) {
        const bool begins_near = seen.fragments[i].begins_near;
        if (begins_near)
            primers += std::log10(std::max(kLeastFactor, seen.of_allele[i * static_cast<size_t>(seen.alleles)]));
        else rest.push_back(i);
        for (size_t genotype = 0; genotype < all.size(); ++genotype) {
            const double own = std::log10(std::max(kLeastFactor, seen.of_genotype[i * all.size() + genotype]));
            all[genotype] += own;
            if (!begins_near) others[genotype] += own;
        }
    }
    const auto sum = [](const std::vector<double>& of) {
        return std::accumulate(of.begin(), of.end(), std::numeric_limits<double>::lowest(), log10_add);
    };
    return !rest.empty() && primers + sum(others) > sum(all) ? part_of(seen, rest) : seen;
}

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
    begins_near |= mate.begins_near;
}

Fragment ReadOrigins::fragment(int64_t read, int64_t number, int64_t site) const {
    constexpr uint16_t kReverse = 16;
    const bool is_reverse = flag[read] & kReverse;
    const auto length = static_cast<double>(std::max<int64_t>(1, end[read] - start[read]));
    const double from_start = (static_cast<double>(site - start[read]) + 0.5) / length;
    const double cycle = std::clamp(is_reverse ? 1 - from_start : from_start, 0.0, 1.0);
    const bool begins_near = (is_reverse ? end[read] - 1 - site : site - start[read]) < kPrimer;
    return {number, !is_reverse, is_reverse, mapq ? mapq[read] : kUnknownMapq, cycle, begins_near};
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
    Sources(seen, genotypes, {}, false, log10).add_strand_errors(allele, is_reverse, shares);
}

std::vector<double> foreign_likelihoods(const SeenFragments& seen, const Genotypes& genotypes, int allele) {
    std::vector<double> total(static_cast<size_t>(genotypes.count()), 0.0);
    const Sources sources(seen, genotypes, {}, false, total);
    return sources.foreign_likelihoods(allele, sources.prior_of(allele));
}

ClusterLikelihoods cluster_likelihoods(const Cluster& cluster, double usual) {
    ClusterLikelihoods found;
    for (size_t i = 0; i < found.of_divergence.size(); ++i)
        found.of_divergence[i] = power_of_ten(log_of_divergence(cluster, kDivergences[i], usual) / std::log(10.0));
    for (size_t i = 0; i < found.of_share.size(); ++i)
        found.of_share[i] =
            power_of_ten(log10_of(foreign_share(i, 2), cluster.all) - log10_of_chromosomes(cluster.all, 2));
    found.by_chance = power_of_ten(log10_of_chance(cluster, cluster.all, usual, 2));
    return found;
}

FragmentNames foreign_fragments(const Mismatches& neighbours, int sample, int64_t first, int64_t last,
                                const FragmentNames& names, const SourceRates& rates, int ploidy) {
    if (rates.copies == 0) return {};
    FragmentNames foreign;
    double more = std::log10(rates.copies / (1 - rates.copies));
    for (const Cluster& cluster : clusters_of(neighbours, sample, first, last, names)) {
        const Origin origin = origin_of(cluster, cluster.all, {}, rates, ploidy);
        if (!is_foreign(origin)) continue;
        more += origin.copy - origin.chromosome;
        foreign.insert(foreign.end(), cluster.here.begin(), cluster.here.end());
    }
    if (more <= 0) return {};
    return ascending(std::move(foreign));
}

std::vector<double> with_other_sources(SeenFragments seen, const Genotypes& genotypes, const ReadOrigins& origins,
                                       int sample, int64_t first, int64_t last, const Alone& alone) {
    if (!origins.have_gaps) {
        std::vector<double> log10 = alone(seen);
        add_other_sources(std::move(seen), genotypes, origins, sample, first, last, log10);
        return log10;
    }
    // Those without the copy slip by themselves.
    const SeenFragments before = seen;
    std::vector<double> log10 = alone(seen);
    const auto [chosen, odds] =
        Sources(seen, genotypes, origins.rates, true, log10).copy_at_gaps(origins, sample, first, last);
    const bool has_copy = !chosen.empty() && chosen.size() < seen.fragments.size();
    SeenFragments rest = has_copy ? part_of(before, chosen) : SeenFragments();
    add_other_sources(std::move(seen), genotypes, origins, sample, first, last, log10);
    if (!has_copy) return log10;
    std::vector<double> others = alone(rest);
    add_other_sources(std::move(rest), genotypes, origins, sample, first, last, others);
    for (size_t genotype = 0; genotype < log10.size(); ++genotype)
        log10[genotype] = log10_add(log10[genotype], odds + others[genotype]);
    return log10;
}

}  // namespace pairhmm
