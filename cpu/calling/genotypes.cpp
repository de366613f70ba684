#include "calling/genotypes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace pairhmm {

namespace {

// The first of the largest.
int64_t argmax(const double* values, int64_t count) { return std::max_element(values, values + count) - values; }

double range(const double* row, int alleles) {
    const auto [low, high] = std::minmax_element(row, row + alleles);
    return *high - *low;
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

// The allele that is ahead of all others by kInformative, or -1.
int64_t informative(const double* values, int alleles) {
    const int64_t best = argmax(values, alleles);
    double next = kLowest;
    for (int allele = 0; allele < alleles; ++allele)
        if (allele != best) next = std::max(next, values[allele]);
    return values[best] - next > kInformative ? best : -1;
}

// Lets errors that qualities do not promise, so many of a base, show other letters in place of each other.
void misread(double rate, const std::vector<ErrorsLike>& errors, double* likelihoods) {
    const auto is_letter = [&](size_t allele) { return allele == 0 || errors[allele].context[0] >= 0; };
    double all = 0;
    for (size_t allele = 0; allele < errors.size(); ++allele)
        if (is_letter(allele)) all += likelihoods[allele];
    for (size_t allele = 0; allele < errors.size(); ++allele)
        if (is_letter(allele)) likelihoods[allele] += rate / 3 * (all - likelihoods[allele]);
}

// Gives fragments, from one on, their likelihoods of genotypes: the means over the alleles of each.
void weigh_genotypes(const Genotypes& genotypes, size_t fragment, SeenFragments& seen) {
    const auto alleles = static_cast<size_t>(seen.alleles), count = static_cast<size_t>(genotypes.count());
    seen.of_genotype.resize(fragment * count);
    seen.of_genotype.resize(seen.of_allele.size() / alleles * count, 0.0);
    for (size_t i = fragment * alleles; i < seen.of_allele.size(); ++i)
        for (size_t genotype = 0; genotype < count; ++genotype)
            seen.of_genotype[i / alleles * count + genotype] +=
                seen.of_allele[i] * genotypes.share[i % alleles * count + genotype];
}

// Puts what a fragment says of the alleles, log10, into `seen`.
void add_likelihoods(const double* row, const Genotypes& genotypes, double unpromised, SeenFragments& seen) {
    const size_t first = seen.of_allele.size();
    // Without a score floor, likelihoods of mates that differ can lie beyond the range of a double.
    for (int allele = 0; allele < seen.alleles; ++allele)
        seen.of_allele.push_back(std::pow(10.0, std::max(row[allele], kLowestLog10)));
    if (unpromised > 0 && !seen.errors.empty()) misread(unpromised, seen.errors, &seen.of_allele[first]);
    weigh_genotypes(genotypes, first / static_cast<size_t>(seen.alleles), seen);
}

// How many alleles slip to each other: the first ones. matrix: a row and a column of each.
size_t slipping_alleles(const std::vector<double>& matrix) {
    return static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(matrix.size()))));
}

// P(an allele is read | a chromosome of a genotype) where reads slip: [alleles][genotypes]
std::vector<double> slipping_shares(const Genotypes& genotypes, const std::vector<double>& matrix) {
    const size_t count = static_cast<size_t>(genotypes.count());
    const size_t slipping = slipping_alleles(matrix);
    std::vector<double> shares(genotypes.share);
    std::fill_n(shares.begin(), slipping * count, 0.0);
    for (size_t from = 0; from < slipping; ++from)
        for (size_t to = 0; to < slipping; ++to)
            for (size_t genotype = 0; genotype < count; ++genotype)
                shares[to * count + genotype] +=
                    matrix[from * slipping + to] * genotypes.share[from * count + genotype];
    return shares;
}

// log10 of the product, over observations, of the sums of their likelihoods times the shares of alleles: [genotypes].
std::vector<double> log10_products(const std::vector<double>& likelihoods, const std::vector<double>& shares,
                                   size_t alleles) {
    const size_t count = shares.size() / alleles;
    Log10Products products(count);
    for (size_t begin = 0; begin < likelihoods.size(); begin += alleles) {
        for (size_t genotype = 0; genotype < count; ++genotype) {
            double sum = 0;
            for (size_t allele = 0; allele < alleles; ++allele)
                sum += likelihoods[begin + allele] * shares[allele * count + genotype];
            products.multiply(genotype, sum);
        }
    }
    return products.log10();
}

// What fragments say of the alleles and genotypes of chromosomes where reads slip.
void let_slip(const Genotypes& genotypes, const std::vector<double>& matrix, SeenFragments& seen) {
    const auto alleles = static_cast<size_t>(seen.alleles);
    const size_t slipping = slipping_alleles(matrix);
    const std::vector<double> read(seen.of_allele);
    for (size_t begin = 0; begin < read.size(); begin += alleles)
        for (size_t from = 0; from < slipping; ++from)
            seen.of_allele[begin + from] = std::inner_product(read.begin() + begin, read.begin() + begin + slipping,
                                                              matrix.begin() + from * slipping, 0.0);
    weigh_genotypes(genotypes, 0, seen);
}

// The likelihoods of genotypes, weighed over the ways in which reads slip. The fragments get the likeliest way.
std::vector<double> slipping_likelihoods(const Genotypes& genotypes, const std::vector<SiteReads::Slips>& slips,
                                         SeenFragments& seen) {
    std::vector<double> total(static_cast<size_t>(genotypes.count()), kLowest);
    const SiteReads::Slips* likeliest = nullptr;
    double most = kLowest;
    for (const SiteReads::Slips& one : slips) {
        const std::vector<double> found = log10_products(seen.of_allele, slipping_shares(genotypes, one.matrix),
                                                         static_cast<size_t>(genotypes.alleles));
        for (size_t i = 0; i < total.size(); ++i) total[i] = log10_sum({total[i], found[i] + one.log10_prior});
        const double best = *std::max_element(found.begin(), found.end()) + one.log10_prior;
        if (likeliest == nullptr || best > most) likeliest = &one, most = best;
    }
    let_slip(genotypes, likeliest->matrix, seen);
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

SiteReads::SiteReads(const ScoredReads& reads, const Extent& site, const Extent& whole,
                     const std::vector<int64_t>& allele_of, int alleles, int samples, double score_floor, double floor,
                     bool has_unlisted)
    : alleles_(alleles),
      has_unlisted_(has_unlisted),
      begin_(static_cast<size_t>(samples) + 1, 0),
      origins_(reads.origins),
      first_(whole.start),
      last_(whole.end) {
    // Reads of what lies inside a long deletion would make its alternative allele a rare one.
    const auto shows = [&](int64_t read, const Extent& extent) {
        const bool is_inside = reads.start[read] > extent.start && reads.end[read] < extent.end;
        return overlap({reads.start[read], reads.end[read]}, extent) && !is_inside;
    };
    const auto is_over = [&](int64_t read) {
        return !reads.set_aside[read] && (shows(read, site) || shows(read, whole));
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
    const int64_t best = informative(this->row(row), alleles_);
    return has_unlisted_ && best == alleles_ - 1 ? -1 : best;
}

SiteReads SiteReads::without_rows(int alleles) const {
    SiteReads same;
    same.alleles_ = alleles;
    same.begin_ = begin_;
    same.read_ = read_;
    same.fragment_ = fragment_;
    same.origins_ = origins_;
    same.first_ = first_;
    same.last_ = last_;
    return same;
}

bool SiteReads::has_alternative(const Genotypes& genotypes, int64_t genotype) const {
    const int16_t* const alleles = &genotypes.table[genotype * genotypes.ploidy];
    return std::any_of(alleles, alleles + genotypes.ploidy,
                       [&](int16_t allele) { return allele > 0 && !(has_unlisted_ && allele == alleles_ - 1); });
}

SiteReads SiteReads::with_alleles(const std::vector<int64_t>& kept) const {
    SiteReads fewer = without_rows(static_cast<int>(kept.size()));
    if (!errors_.empty())
        for (const int64_t allele : kept) fewer.errors_.push_back(errors_[static_cast<size_t>(allele)]);
    for (size_t read = 0; read < fragment_.size(); ++read) {
        const double* row = &rows_[read * alleles_];
        double best = kLowest;
        for (const int64_t allele : kept) best = std::max(best, row[allele]);
        for (const int64_t allele : kept) fewer.rows_.push_back(row[allele] - best);
    }
    return fewer;
}

SiteReads SiteReads::with_non_reference() const {
    SiteReads more = without_rows(alleles_ + 1);
    more.slips_ = slips_;
    more.errors_ = errors_;
    if (!errors_.empty()) more.errors_.emplace_back();
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

// Mates are one observation.
SeenFragments SiteReads::fragments(int sample, const Genotypes& genotypes) const {
    std::vector<int64_t> order(static_cast<size_t>(count(sample)));
    std::iota(order.begin(), order.end(), begin_[sample]);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return fragment_[a] < fragment_[b]; });
    SeenFragments seen{alleles_, {}, {}, {}, {}, errors_};
    std::vector<double> row;
    for (size_t i = 0; i < order.size();) {
        const int64_t number = fragment_[order[i]];
        Fragment fragment{number, false, false, 0, 0};
        row.assign(this->row(order[i]), this->row(order[i]) + alleles_);
        for (size_t first = i; i < order.size() && fragment_[order[i]] == number; ++i) {
            if (i > first) join_mate(row.data(), this->row(order[i]), alleles_);
            if (origins_ == nullptr) continue;
            fragment.add(origins_->fragment(read_[order[i]], number, first_));
        }
        seen.fragments.push_back(fragment);
        seen.informative_for.push_back(informative(row.data(), alleles_));
        add_likelihoods(row.data(), genotypes, origins_ == nullptr ? 0 : origins_->rates.unpromised, seen);
    }
    return seen;
}

std::vector<double> SiteReads::likelihoods(int sample, const Genotypes& genotypes) const {
    const auto alone = [&](SeenFragments& seen) {
        if (!slips_.empty()) return slipping_likelihoods(genotypes, slips_, seen);
        const auto count = static_cast<size_t>(genotypes.count());
        std::vector<double> total(count, 0.0);
        for (size_t i = 0; i < seen.of_genotype.size(); ++i) total[i % count] += std::log10(seen.of_genotype[i]);
        return total;
    };
    SeenFragments seen = fragments(sample, genotypes);
    if (origins_ == nullptr) return alone(seen);
    if (origins_->rates.of_amplicons && slips_.empty()) seen = without_primers(seen, genotypes);
    return with_other_sources(std::move(seen), genotypes, *origins_, sample, first_, last_, alone);
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
    std::vector<double> reference;
    for (int64_t i = 0; i < genotypes.count(); ++i)
        if (!has_alternative(genotypes, i)) reference.push_back(posteriors[i]);
    called.log10_reference = reference.size() == 1 ? posteriors[0] : log10_sum(reference);
    // The probability of being wrong is summed directly: 1 - P(best) would lose every GQ above 150.
    const double wrong = posteriors.size() > 1 ? log10_sum(posteriors, static_cast<size_t>(called.best)) : kLowest;
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

}  // namespace pairhmm
