#include "calling/genotypes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace pairhmm {

namespace {

// The first of the largest.
int64_t argmax(const double* values, int64_t count) { return std::max_element(values, values + count) - values; }

double range(const double* row, int alleles) {
    const auto [low, high] = std::minmax_element(row, row + alleles);
    return *high - *low;
}

// log10 of the sum of 10 to the power of values, but for the one at `without`.
double log10_sum(const std::vector<double>& values, int64_t without = -1) {
    double top = kLowest;
    for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i)
        if (i != without) top = std::max(top, values[i]);
    double sum = 0;
    for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i)
        if (i != without) sum += std::pow(10.0, std::max(values[i] - top, kLowestLog10));
    return top + std::log10(sum);
}

// The haplotypes by which alleles are compared: the likely ones of each allele, or all of it where none is.
std::vector<int64_t> compared_haplotypes(const std::vector<int64_t>& allele_of, int alleles, const uint8_t* is_likely) {
    std::vector<int64_t> compared(allele_of);
    if (is_likely == nullptr) return compared;
    std::vector<uint8_t> has_likely(static_cast<size_t>(alleles), 0);
    for (size_t h = 0; h < allele_of.size(); ++h)
        if (allele_of[h] >= 0 && is_likely[h]) has_likely[allele_of[h]] = 1;
    for (size_t h = 0; h < allele_of.size(); ++h)
        if (allele_of[h] >= 0 && !is_likely[h] && has_likely[allele_of[h]]) compared[h] = -1;
    return compared;
}

// Puts what a read says of the alleles into `row`: [alleles].
void compare_alleles(const double* scores, const std::vector<int64_t>& allele_of, int alleles, double score_floor,
                     double floor, double* row) {
    const int64_t haplotypes = static_cast<int64_t>(allele_of.size());
    const double lowest = *std::max_element(scores, scores + haplotypes) - score_floor;
    std::fill(row, row + alleles, kLowest);
    for (int64_t h = 0; h < haplotypes; ++h)
        if (allele_of[h] >= 0) row[allele_of[h]] = std::max(row[allele_of[h]], std::max(lowest, scores[h]));
    const double best = *std::max_element(row, row + alleles);
    // A read that no haplotype can explain does not tell alleles apart.
    const bool is_known = std::isfinite(best);
    for (int allele = 0; allele < alleles; ++allele)
        row[allele] = std::max(-floor, is_known ? row[allele] - best : 0.0);
}

// Observations of mates, put into one. Where they agree on the best allele, the clearer one counts: the one with the
// larger range. Where they disagree, they are added, and cancel.
void join_mate(double* ours, const double* theirs, int alleles) {
    if (argmax(ours, alleles) == argmax(theirs, alleles)) {
        if (range(theirs, alleles) > range(ours, alleles)) std::copy(theirs, theirs + alleles, ours);
        return;
    }
    for (int allele = 0; allele < alleles; ++allele) ours[allele] += theirs[allele];
    const double best = *std::max_element(ours, ours + alleles);
    for (int allele = 0; allele < alleles; ++allele) ours[allele] -= best;
}

// One observation for each fragment. row: [reads][alleles]
std::vector<double> join_mates(const double* row, const int64_t* fragment, int64_t reads, int alleles) {
    std::vector<int64_t> order(static_cast<size_t>(reads));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return fragment[a] < fragment[b]; });
    const auto is_same = [&](int64_t a, int64_t b) { return fragment[a] == fragment[b]; };
    if (std::adjacent_find(order.begin(), order.end(), is_same) == order.end()) return {row, row + reads * alleles};
    std::vector<double> joined;
    joined.reserve(static_cast<size_t>(reads * alleles));
    for (size_t i = 0; i < order.size(); ++i) {
        const double* theirs = row + order[i] * alleles;
        if (i > 0 && is_same(order[i - 1], order[i])) join_mate(&joined[joined.size() - alleles], theirs, alleles);
        else joined.insert(joined.end(), theirs, theirs + alleles);
    }
    return joined;
}

// log10 P(observations | genotype): [genotypes]. An observation's likelihood is the mean over the genotype's alleles.
std::vector<double> genotype_likelihoods(const std::vector<double>& observations, const Genotypes& genotypes) {
    const size_t count = static_cast<size_t>(genotypes.count()), alleles = static_cast<size_t>(genotypes.alleles);
    std::vector<double> total(count, 0.0), mean(count);
    for (size_t begin = 0; begin < observations.size(); begin += alleles) {
        std::fill(mean.begin(), mean.end(), 0.0);
        for (size_t allele = 0; allele < alleles; ++allele) {
            // Without a score floor, likelihoods of mates that differ can lie beyond the range of a double.
            const double likelihood = std::pow(10.0, std::max(observations[begin + allele], kLowestLog10));
            const double* share = &genotypes.share[allele * count];
            for (size_t genotype = 0; genotype < count; ++genotype) mean[genotype] += likelihood * share[genotype];
        }
        for (size_t genotype = 0; genotype < count; ++genotype) total[genotype] += std::log10(mean[genotype]);
    }
    return total;
}

}  // namespace

Genotypes::Genotypes(int alleles, int ploidy, std::vector<int16_t> table, std::vector<double> prior)
    : alleles(alleles), ploidy(ploidy), table(std::move(table)), prior(std::move(prior)) {
    const size_t genotypes = this->prior.size();
    std::vector<int> copies(static_cast<size_t>(alleles) * genotypes, 0);
    for (size_t i = 0; i < this->table.size(); ++i) ++copies[this->table[i] * genotypes + i / ploidy];
    for (const int of_allele : copies) share.push_back(static_cast<double>(of_allele) / ploidy);
}

SiteReads::SiteReads(const ScoredReads& reads, int64_t first, int64_t last, const std::vector<int64_t>& allele_of,
                     int alleles, int samples, double score_floor, double floor)
    : alleles_(alleles), begin_(static_cast<size_t>(samples) + 1, 0) {
    const auto is_over = [&](int64_t read) {
        return !reads.set_aside[read] && reads.start[read] < last && reads.end[read] > first;
    };
    for (int64_t read = 0; read < reads.count; ++read)
        if (is_over(read)) ++begin_[reads.sample[read] + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    read_.resize(static_cast<size_t>(begin_.back()));
    fragment_.resize(read_.size());
    rows_.resize(fragment_.size() * alleles);
    std::vector<int64_t> next(begin_.begin(), begin_.end() - 1);
    std::vector<std::vector<int64_t>> compared;
    for (int sample = 0; sample < samples; ++sample)
        compared.push_back(compared_haplotypes(
            allele_of, alleles, reads.is_likely ? reads.is_likely + sample * reads.haplotypes : nullptr));
    for (int64_t read = 0; read < reads.count; ++read) {
        if (!is_over(read)) continue;
        const int64_t at = next[reads.sample[read]]++;
        read_[at] = read;
        fragment_[at] = reads.fragment[read];
        compare_alleles(reads.log10 + read * reads.haplotypes, compared[reads.sample[read]], alleles, score_floor,
                        floor, &rows_[at * alleles]);
    }
}

std::vector<double> SiteReads::rows(int sample) const {
    return {rows_.begin() + begin_[sample] * alleles_, rows_.begin() + begin_[sample + 1] * alleles_};
}

std::vector<int64_t> SiteReads::depths(int sample) const {
    std::vector<int64_t> depths(static_cast<size_t>(alleles_), 0);
    for (int64_t row = begin_[sample]; row < begin_[sample + 1]; ++row) {
        const int64_t allele = informative_for(row);
        if (allele >= 0) ++depths[allele];
    }
    return depths;
}

int64_t SiteReads::informative_for(int64_t row) const {
    const double* values = this->row(row);
    const int64_t best = argmax(values, alleles_);
    double next = kLowest;
    for (int allele = 0; allele < alleles_; ++allele)
        if (allele != best) next = std::max(next, values[allele]);
    return values[best] - next > kInformative ? best : -1;
}

SiteReads SiteReads::with_alleles(const std::vector<int64_t>& kept) const {
    SiteReads fewer;
    fewer.alleles_ = static_cast<int>(kept.size());
    fewer.begin_ = begin_;
    fewer.read_ = read_;
    fewer.fragment_ = fragment_;
    for (size_t read = 0; read < fragment_.size(); ++read) {
        const double* row = &rows_[read * alleles_];
        double best = kLowest;
        for (const int64_t allele : kept) best = std::max(best, row[allele]);
        for (const int64_t allele : kept) fewer.rows_.push_back(row[allele] - best);
    }
    return fewer;
}

SiteReads SiteReads::with_non_reference() const {
    SiteReads more;
    more.alleles_ = alleles_ + 1;
    more.begin_ = begin_;
    more.read_ = read_;
    more.fragment_ = fragment_;
    std::vector<double> lower;
    for (size_t read = 0; read < fragment_.size(); ++read) {
        const double* values = row(static_cast<int64_t>(read));
        lower.clear();
        std::copy_if(values, values + alleles_, std::back_inserter(lower), [](double value) { return value < 0; });
        std::sort(lower.begin(), lower.end());
        const size_t half = lower.size() / 2;
        const double median = lower.empty() ? 0 : lower.size() % 2 ? lower[half] : (lower[half - 1] + lower[half]) / 2;
        more.rows_.insert(more.rows_.end(), values, values + alleles_);
        more.rows_.push_back(median);
    }
    return more;
}

std::vector<double> SiteReads::likelihoods(int sample, const Genotypes& genotypes) const {
    const int64_t first = begin_[sample];
    return genotype_likelihoods(join_mates(&rows_[first * alleles_], &fragment_[first], count(sample), alleles_),
                                genotypes);
}

CalledGenotype SiteReads::call(int sample, const Genotypes& genotypes, const std::vector<double>& prior) const {
    CalledGenotype called;
    called.depth = count(sample);
    if (genotypes.ploidy == 0 || called.depth == 0) {
        called.depth = 0;
        called.depths.assign(static_cast<size_t>(alleles_), 0);
        called.likelihoods.assign(genotypes.prior.size(), 0);
        if (genotypes.count() > 0) called.log10_reference = prior[0];
        return called;
    }
    called.depths = depths(sample);
    const std::vector<double> likelihoods = this->likelihoods(sample, genotypes);
    called.likelihoods = phred_likelihoods(likelihoods);
    if (!tell_apart(called.likelihoods)) {
        called.log10_reference = prior[0];
        return called;
    }
    std::vector<double> posteriors(likelihoods);
    for (size_t i = 0; i < posteriors.size(); ++i) posteriors[i] += prior[i];
    const double all = log10_sum(posteriors);
    for (double& posterior : posteriors) posterior -= all;
    called.best = argmax(posteriors.data(), genotypes.count());
    called.log10_reference = posteriors[0];
    // The probability of being wrong is summed directly: 1 - P(best) would lose every GQ above 150.
    const double wrong = posteriors.size() > 1 ? log10_sum(posteriors, called.best) : kLowest;
    called.quality = static_cast<int>(std::min<double>(kMaxGq, std::nearbyint(-10.0 * std::max(wrong, -kMaxQual))));
    return called;
}

std::vector<int64_t> phred_likelihoods(const std::vector<double>& log10) {
    std::vector<int64_t> phred;
    const double best = *std::max_element(log10.begin(), log10.end());
    for (const double likelihood : log10)
        phred.push_back(static_cast<int64_t>(std::min<double>(std::nearbyint(-10.0 * (likelihood - best)), kMaxPl)));
    return phred;
}

bool tell_apart(const std::vector<int64_t>& phred) {
    return phred.size() == 1 || std::any_of(phred.begin(), phred.end(), [](int64_t value) { return value > 0; });
}

void number_names(std::string_view text, int64_t names, const int64_t* end, int64_t* number) {
    std::unordered_map<std::string_view, int64_t> seen;
    seen.reserve(static_cast<size_t>(names));
    int64_t begin = 0;
    for (int64_t name = 0; name < names; ++name) {
        number[name] = seen.try_emplace(text.substr(begin, end[name] - begin), name).first->second;
        begin = end[name];
    }
}

}  // namespace pairhmm
