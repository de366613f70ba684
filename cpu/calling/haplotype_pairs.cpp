#include "calling/haplotype_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace pairhmm {

namespace {

// log10 by which the likelihood of a likely pair is below that of the best one, at most; from which on a pair is far
// less likely than another; that each change of the reference costs where two pairs are as likely; by which a haplotype
// explains a fragment worse than the best one, at most; from which on a read is of another haplotype; and by which
// pairs differ that are as likely.
constexpr double kLessLikely = 10, kFarLess = 5, kChange = 0.1, kFloor = 4.5, kOfAnother = 2, kAlike = 0.1;
// Fragments whose likelihoods have a product that fits a double.
constexpr size_t kTogether = 32;

// P(fragment | haplotype) of a sample, the best 1: [haplotypes][fragments]. What either mate says against a haplotype
// counts once.
std::vector<std::vector<double>> fragments_of(const ScoredReads& reads, int32_t sample) {
    std::unordered_map<int64_t, size_t> number;
    std::vector<std::vector<double>> rows;
    for (int64_t read = 0; read < reads.count; ++read) {
        if (reads.sample[read] != sample || reads.set_aside[read]) continue;
        const double* scores = reads.log10 + read * reads.haplotypes;
        const double best = *std::max_element(scores, scores + reads.haplotypes);
        if (!std::isfinite(best)) continue;
        const auto [at, is_new] = number.try_emplace(reads.fragment[read], rows.size());
        if (is_new) rows.emplace_back(static_cast<size_t>(reads.haplotypes), 0.0);
        std::vector<double>& row = rows[at->second];
        for (size_t h = 0; h < row.size(); ++h) row[h] = std::min(row[h], std::max(-kFloor, scores[h] - best));
    }
    std::vector<std::vector<double>> likelihoods(static_cast<size_t>(reads.haplotypes));
    for (const std::vector<double>& row : rows) {
        const double best = *std::max_element(row.begin(), row.end());
        for (size_t h = 0; h < row.size(); ++h) likelihoods[h].push_back(std::pow(10.0, row[h] - best));
    }
    return likelihoods;
}

// log10 P(fragments | a sample that has both haplotypes).
double log10_of(const std::vector<double>& one, const std::vector<double>& other) {
    double sum = 0;
    for (size_t first = 0; first < one.size(); first += kTogether) {
        double product = 1;
        for (size_t i = first; i < std::min(first + kTogether, one.size()); ++i) product *= (one[i] + other[i]) / 2;
        sum += std::log10(product);
    }
    return sum;
}

// Whether genotypes are those of a pair.
bool spell(const std::vector<std::vector<int>>& called, const Haplotype& one, const Haplotype& other) {
    for (size_t site = 0; site < called.size(); ++site) {
        if (called[site].empty() || one.alleles[site] < 0 || other.alleles[site] < 0) continue;
        const auto [low, high] = std::minmax(one.alleles[site], other.alleles[site]);
        if (called[site].front() != low || called[site].back() != high) return false;
    }
    return true;
}

int64_t differences(const Haplotype& one, const Haplotype& other) {
    int64_t count = 0;
    for (size_t site = 0; site < one.alleles.size(); ++site) count += one.alleles[site] != other.alleles[site];
    return count;
}

}  // namespace

HaplotypePairs::HaplotypePairs(const ScoredReads& reads, const std::vector<int>& ploidies)
    : haplotypes_(static_cast<size_t>(reads.haplotypes)),
      pairs_(ploidies.size()),
      only_(ploidies.size()),
      are_likely_(ploidies.size() * haplotypes_, 1) {
    for (size_t sample = 0; sample < ploidies.size(); ++sample) {
        if (ploidies[sample] != 1 && ploidies[sample] != 2) continue;
        const auto fragments = fragments_of(reads, static_cast<int32_t>(sample));
        for (size_t one = 0; one < haplotypes_; ++one)
            for (size_t other = one; other < (ploidies[sample] == 2 ? haplotypes_ : one + 1); ++other)
                pairs_[sample].push_back({one, other, log10_of(fragments[one], fragments[other])});
        mark_likely(sample);
    }
}

void HaplotypePairs::mark_likely(size_t sample) {
    const std::vector<Pair>& pairs = pairs_[sample];
    double best = kLowest;
    for (const Pair& pair : pairs) best = std::max(best, pair.log10);
    uint8_t* const are_likely = are_likely_.data() + sample * haplotypes_;
    std::fill(are_likely, are_likely + haplotypes_, uint8_t{0});
    for (const Pair& pair : pairs)
        if (pair.log10 >= best - kLessLikely) are_likely[pair.one] = are_likely[pair.other] = 1;
}

// Of the haplotypes with an allele, keeps those of the best pair that has one.
void HaplotypePairs::keep_best_with(size_t sample, const std::vector<int64_t>& allele_of, int64_t allele,
                                    uint8_t* likely) const {
    if (pairs_[sample].empty()) return;
    double best = kLowest;
    for (const Pair& pair : pairs_[sample])
        if (allele_of[pair.one] == allele || allele_of[pair.other] == allele) best = std::max(best, pair.log10);
    std::vector<uint8_t> is_of_best(haplotypes_, 0);
    for (const Pair& pair : pairs_[sample])
        if ((allele_of[pair.one] == allele || allele_of[pair.other] == allele) && pair.log10 >= best - kAlike)
            is_of_best[pair.one] = is_of_best[pair.other] = 1;
    for (size_t h = 0; h < haplotypes_; ++h)
        if (allele_of[h] == allele) likely[h] = is_of_best[h];
}

std::vector<uint8_t> HaplotypePairs::are_likely(const std::vector<int64_t>& allele_of,
                                                const std::vector<Haplotype>& haplotypes,
                                                std::optional<int64_t> unlisted) const {
    std::vector<uint8_t> likely = are_likely_;
    for (size_t sample = 0; sample < only_.size(); ++sample) {
        if (only_[sample] == nullptr) {
            if (unlisted) keep_best_with(sample, allele_of, *unlisted, likely.data() + sample * haplotypes_);
            continue;
        }
        for (size_t h = 0; h < haplotypes_; ++h) {
            // A haplotype that differs elsewhere is no other allele of this site: it would lend the reads of a rival.
            const auto is_beside = [&](size_t one) {
                return h == one || (allele_of[h] != allele_of[one] && differences(haplotypes[h], haplotypes[one]) <= 1);
            };
            likely[sample * haplotypes_ + h] = is_beside(only_[sample]->one) || is_beside(only_[sample]->other);
        }
    }
    return likely;
}

bool HaplotypePairs::correct(size_t sample, const ScoredReads& reads, const std::vector<Haplotype>& haplotypes,
                             const std::vector<std::vector<int>>& called, std::vector<uint8_t>& set_aside) {
    const Pair* best = nullptr;
    double best_score = kLowest, most = kLowest, spelled = kLowest;
    const Haplotype reference{{}, std::vector<int16_t>(called.size(), 0), {}, false};
    for (const Pair& pair : pairs_[sample]) {
        const Haplotype &one = haplotypes[pair.one], &other = haplotypes[pair.other];
        const double score =
            pair.log10 - kChange * static_cast<double>(differences(one, reference) + differences(other, reference));
        if (score > best_score) best = &pair, best_score = score;
        most = std::max(most, pair.log10);
        if (pair.log10 > spelled && spell(called, one, other)) spelled = pair.log10;
    }
    if (best == nullptr || spelled >= most - kFarLess) return false;
    only_[sample] = best;
    for (int64_t read = 0; read < reads.count; ++read) {
        const double* scores = reads.log10 + read * reads.haplotypes;
        const double own = std::max(scores[best->one], scores[best->other]);
        if (reads.sample[read] == static_cast<int32_t>(sample) &&
            own < *std::max_element(scores, scores + haplotypes_) - kOfAnother)
            set_aside[read] = 1;
    }
    return true;
}

}  // namespace pairhmm
