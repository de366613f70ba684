#include "calling/context_rates.hpp"

#include <algorithm>
#include <cmath>

namespace pairhmm {

namespace {

constexpr double kLowestOfKind = 1e-3, kFactor = 3.1622776601683795;
// The probability that contexts with one rate have more than the lowest one.
constexpr double kMotif = 0.02;
constexpr size_t kLevels = 5;
// The groups of contexts: all; those of one strand and letter read; and those with one, two or three letters before it.
constexpr size_t kGroups[kLevels] = {1, 8, 32, 128, kErrorContexts};
// The probability that the parts of a group have rates of their own.
constexpr double kOwnRates[kLevels] = {0.9, 0.5, 0.5, 0.5, 0};

// The number of a context's group: the letter that is read last comes first.
size_t group_of(size_t context, size_t level) {
    size_t group = context / 256;
    for (size_t letter = 0; letter < level; ++letter) group = group * 4 + (context >> (2 * letter)) % 4;
    return level == 0 ? 0 : group;
}

struct Group {
    AtRates log{};           // the likelihood of its contexts, if they have one rate
    double apart = 0;        // the same, log, if its parts have rates of their own
    double total = 0;        // over both
    double reached = 1;      // the probability that the groups that it is of are apart
    ErrorShares mean{0, 0};  // what is expected of those
};

double log_add(double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))); }

double log_prior(size_t rate) {
    static const double lowest = std::log(1 - kMotif), other = std::log(kMotif / (2 * kRatesOfKind));
    return rate == 0 ? lowest : other;
}

double log_of_one_rate(const Group& group) {
    const double most = *std::max_element(group.log.begin(), group.log.end());
    double sum = 0;
    for (size_t rate = 0; rate < kContextRates; ++rate) sum += std::exp(group.log[rate] + log_prior(rate) - most);
    return most + std::log(sum);
}

// Weighs one rate of a group against rates of its parts.
void weigh(Group& group, size_t level) {
    const double together = std::log(1 - kOwnRates[level]) + log_of_one_rate(group);
    group.total = kOwnRates[level] == 0 ? together : log_add(together, std::log(kOwnRates[level]) + group.apart);
}

// Adds what one rate of a group lets expect.
void add_mean(Group& group, size_t level) {
    for (size_t rate = 0; rate < kContextRates; ++rate) {
        const double share =
            group.reached * (1 - kOwnRates[level]) * std::exp(group.log[rate] + log_prior(rate) - group.total);
        group.mean.strand += share * context_rates()[rate].strand;
        group.mean.growing += share * context_rates()[rate].growing;
    }
}

using Groups = std::array<std::vector<Group>, kLevels>;

Groups groups_of(const std::vector<AtRates>& of_context) {
    Groups groups;
    for (size_t level = 0; level < kLevels; ++level) {
        groups[level].resize(kGroups[level]);
        for (size_t context = 0; context < of_context.size(); ++context)
            for (size_t rate = 0; rate < kContextRates; ++rate)
                groups[level][group_of(context, level)].log[rate] += of_context[context][rate];
    }
    return groups;
}

// The group that one of a level is a part of.
Group& parent_of(Groups& groups, size_t level, size_t number) {
    return groups[level - 1][number * kGroups[level - 1] / kGroups[level]];
}

// Weighs all groups, from their smallest parts on.
void weigh_parts(Groups& groups) {
    for (size_t level = kLevels; level-- > 0;)
        for (size_t i = 0; i < kGroups[level]; ++i) {
            weigh(groups[level][i], level);
            if (level > 0) parent_of(groups, level, i).apart += groups[level][i].total;
        }
}

// Adds what the groups that each is a part of let expect, and itself.
void add_means(Groups& groups) {
    for (size_t level = 0; level < kLevels; ++level)
        for (size_t i = 0; i < kGroups[level]; ++i) {
            Group& own = groups[level][i];
            if (level > 0) {
                const Group& parent = parent_of(groups, level, i);
                own.reached = parent.reached * kOwnRates[level - 1] * std::exp(parent.apart - parent.total);
                own.mean = parent.mean;
            }
            add_mean(own, level);
        }
}

}  // namespace

const std::array<ErrorShares, kContextRates>& context_rates() {
    static const std::array<ErrorShares, kContextRates> rates = [] {
        std::array<ErrorShares, kContextRates> all;
        double rate = kLowestOfKind;
        for (size_t i = 1; i <= kRatesOfKind; ++i, rate *= kFactor)
            all[i].strand = all[kRatesOfKind + i].growing = rate;
        return all;
    }();
    return rates;
}

ContextShares expected_rates(const std::vector<AtRates>& of_context) {
    Groups groups = groups_of(of_context);
    weigh_parts(groups);
    add_means(groups);
    ContextShares means;
    for (size_t context = 0; context < means.size(); ++context)
        means[context] = groups[kLevels - 1][group_of(context, kLevels - 1)].mean;
    return means;
}

}  // namespace pairhmm
