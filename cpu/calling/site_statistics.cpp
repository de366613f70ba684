#include "calling/site_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pairhmm {

namespace {

// Tables with more than twice so many reads are made so large, as GATK does (StrandBiasTest.normalizeContingencyTable).
constexpr int64_t kTableSize = 200;
// GATK's FisherStrand.MIN_PVALUE.
constexpr double kSmallestP = 1e-320;
// Probabilities that differ by less than this share are equal.
constexpr double kSameProbability = 1e-7;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

int64_t sum(const Strands& table) { return table[0] + table[1] + table[2] + table[3]; }

Strands normalised(const Strands& table) {
    const int64_t all = sum(table);
    if (all <= 2 * kTableSize) return table;
    Strands smaller;
    for (int i = 0; i < 4; ++i) smaller[i] = table[i] * kTableSize / all;
    return smaller;
}

double root_mean_square(const SquaredMapqs& mapqs) {
    return mapqs.reads > 0 ? std::sqrt(static_cast<double>(mapqs.sum) / static_cast<double>(mapqs.reads)) : kNone;
}

std::vector<double> log_factorials(int64_t largest) {
    std::vector<double> found(static_cast<size_t>(largest) + 1, 0.0);
    for (int64_t i = 2; i <= largest; ++i) found[i] = found[i - 1] + std::log(static_cast<double>(i));
    return found;
}

}  // namespace

double fisher_strand(const Strands& given) {
    const Strands table = normalised(given);
    // One table has these margins.
    if (table[0] + table[1] == 0 || table[2] + table[3] == 0) return 0;
    const int64_t all = sum(table), reference = table[0] + table[1], forward = table[0] + table[2];
    static const std::vector<double> log_factorial = log_factorials(2 * kTableSize);
    // Up to a constant: the log probability of a table with so many forward reads of the reference.
    const auto log_probability = [&](int64_t count) {
        return -log_factorial[count] - log_factorial[reference - count] - log_factorial[forward - count] -
               log_factorial[all - reference - forward + count];
    };
    const double own = log_probability(table[0]);
    double total = 0, as_rare = 0;
    for (int64_t count = std::max<int64_t>(0, reference + forward - all); count <= std::min(reference, forward);
         ++count) {
        const double ratio = std::exp(log_probability(count) - own);
        total += ratio;
        if (ratio <= 1 + kSameProbability) as_rare += ratio;
    }
    const double p = std::max(std::min(1.0, as_rare / total), kSmallestP);
    // No -0.
    return std::max(0.0, -10.0 * std::log10(p));
}

double strand_odds(const Strands& table) {
    double count[4];
    for (int i = 0; i < 4; ++i) count[i] = static_cast<double>(table[i] + 1);
    const double odds = (count[0] * count[3]) / (count[1] * count[2]);
    const auto evenness = [](double one, double other) { return std::min(one, other) / std::max(one, other); };
    return std::log(odds + 1 / odds) + std::log(evenness(count[0], count[1])) - std::log(evenness(count[2], count[3]));
}

double rank_sum(const std::vector<int>& ours, const std::vector<int>& theirs) {
    if (ours.empty() || theirs.empty()) return kNone;
    std::vector<std::pair<int, bool>> values;
    for (const int value : ours) values.emplace_back(value, true);
    for (const int value : theirs) values.emplace_back(value, false);
    std::sort(values.begin(), values.end());
    double rank_of_ours = 0, ties = 0;
    for (size_t begin = 0, end; begin < values.size(); begin = end) {
        int64_t own = 0;
        for (end = begin; end < values.size() && values[end].first == values[begin].first; ++end)
            own += values[end].second;
        const double equal = static_cast<double>(end - begin);
        rank_of_ours += static_cast<double>(own) * (static_cast<double>(begin + end + 1) / 2);
        ties += equal * (equal * equal - 1);
    }
    const double n = static_cast<double>(ours.size()), m = static_cast<double>(theirs.size()), all = n + m;
    const double excess = rank_of_ours - n * (n + 1) / 2 - n * m / 2;
    const double variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
    if (!(variance > 0)) return 0;
    // The correction for continuity, which GATK has for the one-sided test.
    return (excess - (excess >= 0 ? 0.5 : -0.5)) / std::sqrt(variance);
}

const std::vector<SiteAnnotation>& site_annotations() {
    static const std::vector<SiteAnnotation> all = {
        {"FS", 3, "Phred-scaled p of Fisher's exact test for strand bias",
         [](const SiteSums& sums) { return fisher_strand(sums.strands); }},
        {"MQ", 2, "Root mean square of the mapping qualities",
         [](const SiteSums& sums) { return root_mean_square(sums.mapqs); }},
        {"MQRankSum", 3, "z of the rank sum test of mapping qualities, alternate against reference reads",
         [](const SiteSums& sums) { return rank_sum(sums.mapq[1], sums.mapq[0]); }},
        {"ReadPosRankSum", 3,
         "z of the rank sum test of distances from the ends of reads, alternate against reference reads",
         [](const SiteSums& sums) { return rank_sum(sums.from_end[1], sums.from_end[0]); }},
        {"SOR", 3, "Symmetric odds ratio of strand bias",
         [](const SiteSums& sums) { return strand_odds(sums.strands); }},
    };
    return all;
}

SiteStatistics site_statistics(const SiteReads& reads, const ReadFacts& facts) {
    constexpr uint16_t kReverse = 16;
    SiteStatistics found;
    SiteSums sums;
    for (int sample = 0; sample < reads.samples(); ++sample) {
        Strands own{};
        for (int64_t row = reads.first(sample); row < reads.last(sample); ++row) {
            const int64_t read = reads.read(row);
            const int quality = facts.mapq[read];
            if (quality != kUnknownMapq) {
                sums.mapqs.sum += int64_t{quality} * quality;
                ++sums.mapqs.reads;
            }
            const int64_t allele = reads.informative_for(row);
            if (allele < 0) continue;
            const int is_other = allele > 0, is_reverse = (facts.flag[read] & kReverse) != 0;
            ++own[2 * is_other + is_reverse];
            if (quality == kUnknownMapq || quality == 0) continue;
            sums.mapq[is_other].push_back(quality);
            const int32_t from_end = facts.from_end[read * facts.stride];
            if (from_end >= 0) sums.from_end[is_other].push_back(from_end);
        }
        for (int i = 0; i < 4; ++i) sums.strands[i] += own[i];
        found.strands.push_back(own);
    }
    for (const SiteAnnotation& annotation : site_annotations()) found.annotations.push_back(annotation.value(sums));
    found.mapqs = sums.mapqs;
    return found;
}

}  // namespace pairhmm
