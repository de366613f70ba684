#include "calling/str_rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace pairhmm {

namespace {

// Rounds of expectation-maximisation: more change no figure that is written.
constexpr int kEmRounds = 30;
// The least number of reads of a repeat: with fewer, a heterozygous one looks like one that stutters.
constexpr int kLeastOfRepeat = 8;
// The share of heterozygous repeats before any is seen, with the weight of so many repeats. Of a repeat with a larger
// share of reads with other units, these say nothing of the first rate.
constexpr double kPriorHeterozygous = 0.02, kPriorSites = 20, kFewOthers = 0.25;
// Prior of each class, in reads of the common rate.
constexpr double kPriorReads = 200;
// The growth of rates with each copy, and the rate at the fewest copies, before any read is seen, with the standard
// deviations of their logarithms; and what is tried.
constexpr double kGrowth = 1.5, kGrowthSpread = 0.2, kHighestGrowth = 2.5;
constexpr double kFirstRate = 1e-4, kFirstSpread = 1, kLowestFirst = 1e-6, kHighestFirst = 0.1;
constexpr int kGrowths = 80, kFirsts = 160;
// The built-in share of changes that lose units, and its weight in changes.
constexpr double kLossShare = 0.7, kPriorChanges = 10;
// As HIGHEST_RATE and LOWEST_QUALITY in pairhmm/models/str_parameters.py.
constexpr double kHighestStrRate = 0.4, kLowestStrRate = 1e-6;
constexpr double kLowestStrQuality = 3;

// Runs of one base count whose rate without PCR is between these: in shorter ones, PCR changes little; in longer ones,
// alleles of the sample look like slips. So they do where so many of the reads have other units.
constexpr double kLeastOfRun = 5e-4, kMostOfRun = 0.02;
// Reads that a run counts as, at most: those of one run slip alike. And changes that are expected before any is seen.
constexpr double kMostOfDepth = 50, kPriorExcess = 5;
// log10 of how many times as often as expected reads slip: its prior, and the values that are weighed; and the odds
// that such a repeat is heterozygous.
constexpr double kFactorMean = -0.2, kFactorSpread = 0.45, kMostOfFactor = 2;
constexpr int kFactors = 81;
constexpr double kHeterozygousRun = 0.05;
// It varies along the rates, which are in bins, so that those of neighbours are correlated, and from unit to unit:
// units of 1, of 2 and of more bases have a factor of their own in each bin, with this standard deviation around the
// common one.
constexpr int kBinsOfDecade = 4, kFirstBin = -13, kBins = 12, kUnitKinds = 3;
constexpr double kOfNeighbours = 0.95, kUnitSpread = 0.15;
// No kind's reads make a value less likely by more, so that products are above 0.
constexpr double kLeastLog = -50;

// Repeats of a class that show the same: so many of them.
struct Observed {
    double depth, changed, fewer, number;
};

// The repeats of a unit, the reads of homozygous ones, and the changes among them: [copies].
struct OfCopies {
    std::vector<double> repeats, reads, changes;
    explicit OfCopies(size_t most) : repeats(most), reads(most), changes(most) {}
};

double log_odds(const Observed& one, double rate, double share) {
    const double alone =
        std::log1p(-share) + one.changed * std::log(rate) + (one.depth - one.changed) * std::log1p(-rate);
    return std::log(share) + one.depth * std::log(0.5) - alone;
}

// The logarithm of the likelihood of a run's reads, but for a constant: their changes are slips of this rate, or half
// of the reads are of another allele.
double log_of_run(const Observed& one, double rate) {
    const double alone = one.changed * std::log(rate) + (one.depth - one.changed) * std::log1p(-rate);
    const double other = std::log(kHeterozygousRun) - one.depth * std::log(2.0) - alone;
    return alone + std::log1p(std::exp(std::min(other, 500.0)));
}

double step_of(double first, double last, int steps, int step) { return first + step * (last - first) / (steps - 1); }

using OfFactors = std::array<double, kFactors>;  // by the values of a factor that are weighed
using OfKinds = std::array<std::array<OfFactors, kUnitKinds>, kBins>;

double factor_of(int number) { return step_of(-kMostOfFactor, kMostOfFactor, kFactors, number); }

// The bin and the unit's kind.
std::pair<size_t, size_t> kind_of(int unit, double rate) {
    const int bin = static_cast<int>(std::lround(kBinsOfDecade * std::log10(rate))) - kFirstBin;
    return {static_cast<size_t>(std::clamp(bin, 0, kBins - 1)), static_cast<size_t>(std::min(unit, kUnitKinds) - 1)};
}

OfFactors times(OfFactors a, const OfFactors& b) {
    std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::multiplies<>());
    const double most = *std::max_element(a.begin(), a.end());
    for (double& one : a) one /= most;
    return a;
}

// How likely each factor (second) is where another one (first) is known: normally distributed around so much of its
// distance from the mean, but for a constant.
using Transitions = std::array<OfFactors, kFactors>;

Transitions transitions(double correlation, double deviation) {
    Transitions found;
    for (int from = 0; from < kFactors; ++from) {
        for (int to = 0; to < kFactors; ++to) {
            const double mean = kFactorMean + correlation * (factor_of(from) - kFactorMean);
            const double away = (factor_of(to) - mean) / deviation;
            found[static_cast<size_t>(from)][static_cast<size_t>(to)] = std::exp(-away * away / 2);
        }
    }
    return found;
}

// Sums over the first factor, or over the second one.
OfFactors blurred(const OfFactors& values, const Transitions& along, bool is_of_first) {
    OfFactors sums{};
    for (size_t i = 0; i < sums.size(); ++i)
        for (size_t j = 0; j < sums.size(); ++j) sums[i] += values[j] * (is_of_first ? along[j][i] : along[i][j]);
    return sums;
}

// How likely the reads of each kind of repeat are by its factor.
OfKinds likelihoods_of_kinds(const StrSites& sites, const SlipRates& rates) {
    OfKinds seen{};
    OfFactors times_as_often;
    for (int i = 0; i < kFactors; ++i) times_as_often[static_cast<size_t>(i)] = std::pow(10.0, factor_of(i));
    for (const auto& [site, count] : sites) {
        const size_t place = rates.place(site.unit, site.copies);
        const double rate = rates.gain[place] + rates.loss[place];
        if (rate < kLeastOfRun) continue;
        const auto [bin, unit] = kind_of(site.unit, rate);
        const double weight = static_cast<double>(count) * std::min(1.0, kMostOfDepth / site.depth);
        const Observed one{double(site.depth), double(site.fewer) + site.more, double(site.fewer), 1};
        for (size_t i = 0; i < times_as_often.size(); ++i)
            seen[bin][unit][i] += weight * log_of_run(one, std::min(kHighestStrRate, times_as_often[i] * rate));
    }
    for (auto& of_bin : seen) {
        for (OfFactors& own : of_bin) {
            const double most = *std::max_element(own.begin(), own.end());
            for (double& one : own) one = std::exp(std::max(one - most, kLeastLog));
        }
    }
    return seen;
}

// The posterior of each kind's factor: the common ones of the bins are a chain, from which those of units hang.
OfKinds posteriors_of_kinds(const OfKinds& seen) {
    const Transitions to_behind =
        transitions(kOfNeighbours, kFactorSpread * std::sqrt(1 - kOfNeighbours * kOfNeighbours));
    const Transitions to_unit = transitions(1, kUnitSpread);
    OfKinds of_unit;                              // what a unit's reads say of the common factor
    std::array<OfFactors, kBins> before, behind;  // what the bins before and behind say of it
    for (int i = 0; i < kFactors; ++i) {
        const double away = (factor_of(i) - kFactorMean) / kFactorSpread;
        before.front()[static_cast<size_t>(i)] = std::exp(-away * away / 2);
    }
    behind.back().fill(1);
    for (size_t bin = 0; bin < kBins; ++bin) {
        OfFactors all = before[bin];
        for (size_t unit = 0; unit < kUnitKinds; ++unit) {
            of_unit[bin][unit] = blurred(seen[bin][unit], to_unit, false);
            all = times(all, of_unit[bin][unit]);
        }
        if (bin + 1 < kBins) before[bin + 1] = blurred(all, to_behind, true);
    }
    for (size_t bin = kBins - 1; bin > 0; --bin) {
        OfFactors all = behind[bin];
        for (const OfFactors& own : of_unit[bin]) all = times(all, own);
        behind[bin - 1] = blurred(all, to_behind, false);
    }
    OfKinds found;
    for (size_t bin = 0; bin < kBins; ++bin) {
        for (size_t unit = 0; unit < kUnitKinds; ++unit) {
            OfFactors others = times(before[bin], behind[bin]);
            for (size_t other = 0; other < kUnitKinds; ++other)
                if (other != unit) others = times(others, of_unit[bin][other]);
            found[bin][unit] = times(seen[bin][unit], blurred(others, to_unit, true));
        }
    }
    return found;
}

// Mean and standard deviation.
std::pair<double, double> moments(const OfFactors& weights) {
    double sum = 0, first = 0, second = 0;
    for (int i = 0; i < kFactors; ++i) {
        const double weight = weights[static_cast<size_t>(i)], factor = factor_of(i);
        sum += weight, first += weight * factor, second += weight * factor * factor;
    }
    return {first / sum, std::sqrt(std::max(0.0, second / sum - first * first / (sum * sum)))};
}

// P(each repeat of a class is homozygous).
std::vector<double> homozygous(const std::vector<Observed>& sites) {
    double reads = 0, changes = 0, count = 0;
    for (const Observed& one : sites) {
        count += one.number;
        if (one.changed >= kFewOthers * one.depth) continue;
        reads += one.depth * one.number;
        changes += one.changed * one.number;
    }
    double rate = changes / std::max(1.0, reads), share = kPriorHeterozygous;
    std::vector<double> certain(sites.size());
    for (int round = 0; round < kEmRounds; ++round) {
        rate = std::clamp(rate, kLowestStrRate, kHighestStrRate);
        double weighed = 0, changed = 0, others = 0;
        for (size_t i = 0; i < sites.size(); ++i) {
            const Observed& one = sites[i];
            certain[i] = 1 / (1 + std::exp(std::clamp(log_odds(one, rate, share), -500.0, 500.0)));
            changed += one.number * certain[i] * one.changed;
            weighed += one.number * certain[i] * one.depth;
            others += one.number * (1 - certain[i]);
        }
        rate = changed / std::max(weighed, 1e-9);
        share = (others + kPriorHeterozygous * kPriorSites) / (count + kPriorSites);
    }
    return certain;
}

// The nearest values that never fall, by weighted squares: neighbours that fall share their mean.
std::vector<double> ascending(const std::vector<double>& values, const std::vector<double>& weights) {
    struct Block {
        double value, weight;
        size_t size;
    };
    std::vector<Block> blocks;
    for (size_t i = 0; i < values.size(); ++i) {
        blocks.push_back({values[i], weights[i], 1});
        while (blocks.size() > 1 && blocks[blocks.size() - 2].value > blocks.back().value) {
            const Block last = blocks.back();
            blocks.pop_back();
            Block& before = blocks.back();
            const double weight = before.weight + last.weight;
            before = {(before.value * before.weight + last.value * last.weight) / weight, weight,
                      before.size + last.size};
        }
    }
    std::vector<double> rising;
    for (const Block& block : blocks) rising.insert(rising.end(), block.size, block.value);
    return rising;
}

double log_likelihood(const OfCopies& seen, size_t first_copies, double first, double growth) {
    double sum = 0;
    for (size_t i = first_copies; i < seen.reads.size(); ++i) {
        if (seen.reads[i] == 0) continue;
        const double rate = std::min(std::log(kHighestStrRate), first + growth * static_cast<double>(i - first_copies));
        sum += seen.changes[i] * rate + (seen.reads[i] - seen.changes[i]) * std::log1p(-std::exp(rate));
    }
    return sum;
}

// The logarithms of the first rate of a unit and of its growth that its reads and the prior make likeliest.
std::pair<double, double> likeliest(const OfCopies& seen, size_t first_copies) {
    std::pair<double, double> best;
    double highest = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < kFirsts; ++i) {
        const double first = step_of(std::log(kLowestFirst), std::log(kHighestFirst), kFirsts, i);
        for (int j = 0; j < kGrowths; ++j) {
            const double growth = step_of(0, std::log(kHighestGrowth), kGrowths, j);
            const double of_first = (first - std::log(kFirstRate)) / kFirstSpread;
            const double of_growth = (growth - std::log(kGrowth)) / kGrowthSpread;
            const double value =
                log_likelihood(seen, first_copies, first, growth) - (of_first * of_first + of_growth * of_growth) / 2;
            if (value > highest) highest = value, best = {first, growth};
        }
    }
    return best;
}

// The rate of each number of copies, from the first on.
std::vector<double> smoothed(const OfCopies& seen, size_t first_copies) {
    const auto [first, growth] = likeliest(seen, first_copies);
    std::vector<double> rates, weights;
    for (size_t i = first_copies; i < seen.reads.size(); ++i) {
        const double common =
            std::min(kHighestStrRate, std::exp(first + growth * static_cast<double>(i - first_copies)));
        weights.push_back(seen.reads[i] + kPriorReads);
        rates.push_back((seen.changes[i] + kPriorReads * common) / weights.back());
    }
    rates = ascending(rates, weights);
    for (double& rate : rates) rate = std::min(rate, kHighestStrRate);
    return rates;
}

int64_t rounded(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

using Classes = std::map<std::pair<int, int>, std::vector<Observed>>;  // by unit and copies

Classes by_class(const StrSites& sites) {
    Classes classes;
    for (const auto& [site, count] : sites) {
        if (site.depth < kLeastOfRepeat) continue;
        const auto fewer = static_cast<double>(site.fewer);
        classes[{site.unit, site.copies}].push_back(
            {static_cast<double>(site.depth), fewer + site.more, fewer, static_cast<double>(count)});
    }
    return classes;
}

// Adds what the repeats of a unit and of so many copies show. Returns the reads that lost units.
double add_class(const std::vector<Observed>& sites, size_t copies, OfCopies& seen) {
    const std::vector<double> certain = homozygous(sites);
    double lost = 0;
    for (size_t i = 0; i < sites.size(); ++i) {
        const double weight = sites[i].number * certain[i];
        seen.repeats[copies] += sites[i].number;
        seen.reads[copies] += weight * sites[i].depth;
        seen.changes[copies] += weight * sites[i].changed;
        lost += weight * sites[i].fewer;
    }
    return lost;
}

template <class To, class From, class Make>
void append_made(std::vector<To>& to, const std::vector<From>& from, const Make& make) {
    std::transform(from.begin(), from.end(), std::back_inserter(to), make);
}

}  // namespace

StrRates estimate_rates(const StrSites& sites, const std::vector<int>& least_copies, int most_copies) {
    const Classes classes = by_class(sites);
    StrRates found;
    for (size_t row = 0; row < least_copies.size(); ++row) {
        OfCopies seen(static_cast<size_t>(most_copies));
        const auto first = static_cast<size_t>(least_copies[row]) - 1;
        double lost = 0;
        for (const auto& [unit_and_copies, own] : classes)
            if (unit_and_copies.first == static_cast<int>(row) + 1 && unit_and_copies.second >= least_copies[row])
                lost += add_class(own, static_cast<size_t>(unit_and_copies.second) - 1, seen);
        const double changed = std::accumulate(seen.changes.begin(), seen.changes.end(), 0.0);
        const double share = (lost + kLossShare * kPriorChanges) / (changed + kPriorChanges);
        std::vector<double> rates = smoothed(seen, first);
        rates.insert(rates.begin(), first, 0.0);
        append_made(found.gain, rates, [&](double rate) { return (1 - share) * rate; });
        append_made(found.loss, rates, [&](double rate) { return share * rate; });
        append_made(found.repeats, seen.repeats, rounded);
        append_made(found.reads, seen.reads, rounded);
        append_made(found.changes, seen.changes, rounded);
    }
    return found;
}

GapTables gap_tables(const StrRates& rates, const std::vector<int>& least_copies, uint8_t quality, uint8_t gap) {
    const size_t size = rates.gain.size(), width = size / least_copies.size();
    GapTables tables{std::vector<uint8_t>(size, quality), std::vector<uint8_t>(size, quality),
                     std::vector<uint8_t>(size, gap)};
    for (size_t row = 0; row < least_copies.size(); ++row) {
        const int unit = static_cast<int>(row) + 1, most = static_cast<int>(width);
        const double further = std::max(1.0, std::nearbyint(static_cast<double>(gap) / unit));
        for (int copies = least_copies[row]; copies <= most; ++copies) {
            const size_t at = row * width + static_cast<size_t>(copies) - 1;
            const double through = ways_of_gap(unit, copies, std::pow(10.0, -further / 10));
            const auto opening = [&](double rate) {
                const double phred = -10 * std::log10(std::max(rate / through, 1e-12));
                return static_cast<uint8_t>(std::clamp(std::nearbyint(phred), kLowestStrQuality, double(quality)));
            };
            // Reads with fewer copies than the least are many, and few of them have lost a unit of a repeat.
            if (copies > least_copies[row]) tables.insertion[at] = opening(rates.gain[at - 1]);
            tables.deletion[at] = opening(rates.loss[copies < most ? at + 1 : at]);
            if (tables.insertion[at] < quality || tables.deletion[at] < quality)
                tables.gap[at] = static_cast<uint8_t>(further);
        }
    }
    return tables;
}

SlipRates seen_slips(SlipRates rates, const StrSites& sites) {
    const OfKinds factors = posteriors_of_kinds(likelihoods_of_kinds(sites, rates));
    for (size_t place = 0; place < rates.gain.size(); ++place) {
        const double rate = rates.gain[place] + rates.loss[place];
        if (rate == 0) continue;
        const auto [bin, unit] = kind_of(static_cast<int>(place) / rates.most_copies + 1, rate);
        const auto [mean, deviation] = moments(factors[bin][unit]);
        rates.gain[place] *= std::pow(10.0, mean);
        rates.loss[place] *= std::pow(10.0, mean);
        rates.spread[place] = std::hypot(rates.spread[place], deviation);
    }
    return rates;
}

double stutter_excess(const StrSites& sites, const SlipRates& without_pcr) {
    double changed = kPriorExcess, expected = kPriorExcess;
    for (const auto& [site, count] : sites) {
        const size_t place = without_pcr.place(site.unit, site.copies);
        const double rate = without_pcr.gain[place] + without_pcr.loss[place];
        const int others = site.fewer + site.more;
        const bool is_clear = site.depth >= kLeastOfRepeat && others < kFewOthers * site.depth;
        if (site.unit != 1 || rate < kLeastOfRun || rate > kMostOfRun || !is_clear) continue;
        const double weight = static_cast<double>(count) * std::min(1.0, kMostOfDepth / site.depth);
        changed += weight * others;
        expected += weight * site.depth * rate;
    }
    return changed / expected;
}

}  // namespace pairhmm
