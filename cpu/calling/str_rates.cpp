#include "calling/str_rates.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace pairhmm {

namespace {

// Rounds of expectation-maximisation: more change no figure that is written.
constexpr int kEmRounds = 30;
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
// The prior of the logarithm (10) of how many times as often as expected reads slip, and the values that are weighed;
// and the odds that such a repeat is heterozygous.
constexpr double kFactorMean = -0.2, kFactorSpread = 0.3, kMostOfFactor = 1.5;
constexpr int kFactors = 61;
constexpr double kHeterozygousRun = 0.05;

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

// The logarithm of how likely it is, but for a constant, that reads slip so many times as often as at some rates.
double log_of_factor(double log10, const StrSites& sites, const SlipRates& rates) {
    const double factor = std::pow(10.0, log10);
    double value = -std::pow((log10 - kFactorMean) / kFactorSpread, 2) / 2;
    for (const auto& [site, count] : sites) {
        const size_t place = rates.place(site.unit, site.copies);
        const double rate = rates.gain[place] + rates.loss[place];
        if (rate < kLeastOfRun) continue;
        const double weight = static_cast<double>(count) * std::min(1.0, kMostOfDepth / site.depth);
        const Observed one{double(site.depth), double(site.fewer) + site.more, double(site.fewer), 1};
        value += weight * log_of_run(one, std::min(kHighestStrRate, factor * rate));
    }
    return value;
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

double step_of(double first, double last, int steps, int step) { return first + step * (last - first) / (steps - 1); }

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

SlipFactor slip_factor(const StrSites& sites, const SlipRates& rates) {
    std::vector<double> factors, weights;  // log10, and log
    for (int i = 0; i < kFactors; ++i) {
        factors.push_back(step_of(-kMostOfFactor, kMostOfFactor, kFactors, i));
        weights.push_back(log_of_factor(factors.back(), sites, rates));
    }
    const double most = *std::max_element(weights.begin(), weights.end());
    double sum = 0, first = 0, second = 0;
    for (size_t i = 0; i < factors.size(); ++i) {
        const double weight = std::exp(weights[i] - most);
        sum += weight, first += weight * factors[i], second += weight * factors[i] * factors[i];
    }
    return {first / sum, std::sqrt(std::max(0.0, second / sum - first * first / (sum * sum)))};
}

double stutter_excess(const StrSites& sites, const SlipRates& without_pcr) {
    double changed = kPriorExcess, expected = kPriorExcess;
    for (const auto& [site, count] : sites) {
        const size_t place = without_pcr.place(site.unit, site.copies);
        const double rate = without_pcr.gain[place] + without_pcr.loss[place];
        const int others = site.fewer + site.more;
        if (site.unit != 1 || rate < kLeastOfRun || rate > kMostOfRun || others >= kFewOthers * site.depth) continue;
        const double weight = static_cast<double>(count) * std::min(1.0, kMostOfDepth / site.depth);
        changed += weight * others;
        expected += weight * site.depth * rate;
    }
    return changed / expected;
}

}  // namespace pairhmm
