//
// The frequency f of all alternative alleles together has the density theta / f, which makes k copies among any number
// of chromosomes as likely as theta / k, and f = 0 has the rest. The integral over f is a sum over Gauss-Legendre
// points, and exact up to twice their number of chromosomes. Which alternative alleles the copies are of is by a
// Dirichlet-multinomial with the copies that the other samples are expected to have.
#include "calling/shared_alleles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace pairhmm {

namespace {

using Table = std::vector<std::vector<double>>;  // [samples][genotypes]

constexpr double kPi = 3.14159265358979323846;
// More points than this change nothing that is written.
constexpr int kMostPoints = 128;
// P(f > 0) that no prior exceeds.
constexpr double kMostVariable = 0.5;
// The least likelihood of a genotype beside the best one, so that products of relatives fit a double.
constexpr double kLeastLikelihood = 1e-200;
constexpr int kMostRounds = 10;
constexpr double kSettled = 1e-3;  // copies

struct Frequency {
    double value;   // of all alternative alleles
    double weight;  // its prior
};

// Gauss-Legendre points and weights on (0, 1), by Newton's method.
std::vector<Frequency> legendre(int count) {
    std::vector<Frequency> points;
    for (int i = 0; i < count; ++i) {
        double x = std::cos(kPi * (i + 0.75) / (count + 0.5)), slope = 1;
        for (int step = 0; step < 100; ++step) {
            double before = 1, value = x;
            for (int degree = 2; degree <= count; ++degree) {
                const double next = ((2 * degree - 1) * x * value - (degree - 1) * before) / degree;
                before = value;
                value = next;
            }
            slope = count * (x * value - before) / (x * x - 1);
            const double moved = value / slope;
            x -= moved;
            if (std::abs(moved) < 1e-15) break;
        }
        points.push_back({(1 - x) / 2, 1 / ((1 - x * x) * slope * slope)});
    }
    return points;
}

// The prior of the frequency for so many chromosomes; no alternative allele first.
std::vector<Frequency> frequencies(int chromosomes, double theta) {
    std::vector<Frequency> points{{0.0, 1.0}};
    if (theta <= 0) return points;
    const int count = std::clamp((chromosomes + 1) / 2, 1, kMostPoints);
    for (const Frequency& point : legendre(count)) points.push_back({point.value, theta * point.weight / point.value});
    double variable = 0;
    for (size_t i = 1; i < points.size(); ++i) variable += points[i].weight;
    const double scale = std::min(1.0, kMostVariable / variable);
    for (size_t i = 1; i < points.size(); ++i) points[i].weight *= scale;
    points[0].weight = 1 - scale * variable;
    return points;
}

// P(all of a genotype's alternative alleles | how many they are), for one sample: [genotypes].
std::vector<double> kinds_of(const Genotypes& genotypes, const std::vector<double>& expected) {
    const size_t count = static_cast<size_t>(genotypes.count());
    const double all = std::accumulate(expected.begin(), expected.end(), 0.0);
    std::vector<double> kinds(count, 1.0);
    for (size_t genotype = 0; genotype < count; ++genotype) {
        int drawn = 0;
        for (size_t alternative = 0; alternative < expected.size(); ++alternative) {
            const double share = genotypes.share[(alternative + 1) * count + genotype];
            const int copies = static_cast<int>(std::lround(share * genotypes.ploidy));
            for (int copy = 0; copy < copies; ++copy, ++drawn)
                kinds[genotype] *= (expected[alternative] + copy) / (all + drawn) * (drawn + 1) / (copy + 1);
        }
    }
    return kinds;
}

int alternatives_in(const Genotypes& genotypes, int64_t genotype) {
    return static_cast<int>(std::lround((1 - genotypes.share[genotype]) * genotypes.ploidy));
}

double log_sum(const std::vector<double>& logs) {
    const double top = *std::max_element(logs.begin(), logs.end());
    double sum = 0;
    for (const double log : logs) sum += std::exp(log - top);
    return top + std::log(sum);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

class Sharing {
public:
    Sharing(const SiteReads& reads, const std::vector<const Genotypes*>& genotypes, const std::vector<double>& theta,
            const std::vector<Family>& families)
        : reads_(reads), genotypes_(genotypes), theta_(theta), relatives_(genotypes, families), own_(genotypes.size()) {
        int chromosomes = 0;
        for (int sample = 0; sample < samples(); ++sample) {
            const Genotypes& mine = *genotypes[sample];
            own_[sample].assign(static_cast<size_t>(mine.count()), 1.0);
            is_known_.push_back(mine.count() > 0 && reads.reads_of(sample) > 0 && take_likelihoods(reads, sample));
            counts_.push_back(mine.count() > 0 && (is_known_.back() || relatives_.is_related(sample)));
            if (is_founder(sample)) chromosomes += mine.ploidy;
        }
        points_ = frequencies(chromosomes, std::accumulate(theta.begin(), theta.end(), 0.0));
        binomials();
        expected_.assign(genotypes.size(), std::vector<double>(theta.size(), 0.0));
    }

    SharedAlleles shared() {
        Table prior = priors();
        for (int round = 1; theta_.size() > 1 && round < kMostRounds && expect(prior) > kSettled; ++round)
            prior = priors();
        SharedAlleles result;
        result.log10_reference = (log_probability(reference_alone()) - log_sum(log_weights_)) / std::log(10.0);
        for (auto& of_sample : prior) {
            for (double& probability : of_sample) probability = std::log10(std::max(probability, kLeastLikelihood));
            result.prior.push_back(std::move(of_sample));
        }
        return result;
    }

private:
    int samples() const { return static_cast<int>(genotypes_.size()); }
    bool is_founder(int sample) const { return counts_[sample] && !relatives_.is_child(sample); }

    // Makes P(reads | genotype) of a sample, the best 1. False where its reads do not tell genotypes apart.
    bool take_likelihoods(const SiteReads& reads, int sample) {
        std::vector<double> values = reads.likelihoods(sample, *genotypes_[sample]);
        if (!tell_apart(phred_likelihoods(values))) return false;
        const double best = *std::max_element(values.begin(), values.end());
        for (double& value : values)
            value = std::max(kLeastLikelihood, std::pow(10.0, std::max(value - best, kLowestLog10)));
        own_[sample] = std::move(values);
        return true;
    }

    // by_frequency_: P(copies of any alternative allele | frequency), for each point and ploidy.
    void binomials() {
        int most = 0;
        for (const Genotypes* genotypes : genotypes_) most = std::max(most, genotypes->ploidy);
        by_frequency_.resize(points_.size());
        for (size_t point = 0; point < points_.size(); ++point) {
            const double f = points_[point].value;
            by_frequency_[point] = {{1.0}};
            for (int ploidy = 1; ploidy <= most; ++ploidy) {
                const auto& fewer = by_frequency_[point].back();
                std::vector<double> copies(static_cast<size_t>(ploidy) + 1, 0.0);
                for (int k = 0; k < ploidy; ++k) {
                    copies[k] += (1 - f) * fewer[k];
                    copies[k + 1] += f * fewer[k];
                }
                by_frequency_[point].push_back(copies);
            }
        }
    }

    // P(genotype | frequency) of founders, 1 for children: [samples][genotypes].
    Table founders(size_t point) const {
        Table prior(genotypes_.size());
        for (int sample = 0; sample < samples(); ++sample) {
            const Genotypes& mine = *genotypes_[sample];
            prior[sample].assign(static_cast<size_t>(mine.count()), 1.0);
            if (!is_founder(sample)) continue;
            const auto& copies = by_frequency_[point][mine.ploidy];
            for (int64_t genotype = 0; genotype < mine.count(); ++genotype)
                prior[sample][genotype] = copies[alternatives_in(mine, genotype)] * kinds_[sample][genotype];
        }
        return prior;
    }

    // The logarithm of P(all reads), with these likelihoods.
    double log_probability(const Table& own) const {
        std::vector<double> logs;
        for (size_t point = 0; point < points_.size(); ++point) {
            Table evidence = founders(point);
            logs.push_back(std::log(points_[point].weight) + log_of(evidence, own, nullptr));
        }
        return log_sum(logs);
    }

    // Multiplies the evidence of relatives by that of their reads. Returns the logarithm of the probability of all
    // samples; `messages` gets what relatives say of each.
    double log_of(Table& evidence, const Table& own, Table* messages) const {
        double log = 0;
        for (int sample = 0; sample < samples(); ++sample) {
            if (!counts_[sample]) continue;
            if (!relatives_.is_related(sample)) log += std::log(dot(evidence[sample], own[sample]));
            else
                for (size_t genotype = 0; genotype < own[sample].size(); ++genotype)
                    evidence[sample][genotype] *= own[sample][genotype];
        }
        return log + relatives_.pass(evidence, messages);
    }

    // P(genotype | reads of all other samples): [samples][genotypes].
    Table priors() {
        kinds_.clear();
        for (int sample = 0; sample < samples(); ++sample)
            kinds_.push_back(kinds_of(*genotypes_[sample], of_others(sample)));
        std::vector<Table> said;  // [points] what all but its own reads say of each sample
        std::vector<std::vector<double>> logs(genotypes_.size());  // [samples][points] of that and its own reads
        log_weights_.clear();
        for (size_t point = 0; point < points_.size(); ++point) {
            const Table prior = founders(point);
            Table evidence = prior, messages;
            log_weights_.push_back(std::log(points_[point].weight) + log_of(evidence, own_, &messages));
            for (int sample = 0; sample < samples(); ++sample) {
                for (size_t genotype = 0; genotype < prior[sample].size(); ++genotype)
                    messages[sample][genotype] *= prior[sample][genotype];
                messages[sample].resize(prior[sample].size());
                scale_up(messages[sample]);
                logs[sample].push_back(std::log(dot(messages[sample], own_[sample])));
            }
            said.push_back(std::move(messages));
        }
        Table result(genotypes_.size());
        for (int sample = 0; sample < samples(); ++sample) {
            result[sample].assign(own_[sample].size(), counts_[sample] ? 0.0 : 1.0);
            if (!counts_[sample]) continue;
            std::vector<double> weights(points_.size());
            for (size_t point = 0; point < points_.size(); ++point)
                weights[point] =
                    std::isinf(log_weights_[point]) ? log_weights_[point] : log_weights_[point] - logs[sample][point];
            const double all = log_sum(weights);
            for (size_t point = 0; point < points_.size(); ++point)
                for (size_t genotype = 0; genotype < result[sample].size(); ++genotype)
                    result[sample][genotype] += std::exp(weights[point] - all) * said[point][sample][genotype];
            const double sum = std::accumulate(result[sample].begin(), result[sample].end(), 0.0);
            for (double& probability : result[sample]) probability /= sum;
        }
        return result;
    }

    // Copies of each alternative allele that the other samples are expected to have, and those of the prior.
    std::vector<double> of_others(int sample) const {
        std::vector<double> copies(theta_);
        for (int other = 0; other < samples(); ++other)
            if (other != sample)
                for (size_t allele = 0; allele < copies.size(); ++allele) copies[allele] += expected_[other][allele];
        return copies;
    }

    // Expects copies in founders. Returns the largest change.
    double expect(const Table& prior) {
        double change = 0;
        for (int sample = 0; sample < samples(); ++sample) {
            if (!is_founder(sample) || !is_known_[sample]) continue;
            const Genotypes& mine = *genotypes_[sample];
            const size_t count = own_[sample].size();
            const double all = dot(prior[sample], own_[sample]);
            for (size_t allele = 0; allele < theta_.size(); ++allele) {
                double copies = 0;
                for (size_t genotype = 0; genotype < count; ++genotype)
                    copies += prior[sample][genotype] * own_[sample][genotype] / all *
                              mine.share[(allele + 1) * count + genotype] * mine.ploidy;
                change = std::max(change, std::abs(copies - expected_[sample][allele]));
                expected_[sample][allele] = copies;
            }
        }
        return change;
    }

    // Likelihoods that leave samples whose reads tell genotypes apart those without an alternative allele.
    Table reference_alone() const {
        Table own = own_;
        for (int sample = 0; sample < samples(); ++sample)
            for (size_t genotype = 0; is_known_[sample] && genotype < own[sample].size(); ++genotype)
                if (reads_.has_alternative(*genotypes_[sample], static_cast<int64_t>(genotype)))
                    own[sample][genotype] = 0;
        return own;
    }

    const SiteReads& reads_;
    const std::vector<const Genotypes*>& genotypes_;
    const std::vector<double>& theta_;
    Relatives relatives_;
    Table own_;                   // P(reads | genotype)
    std::vector<bool> is_known_;  // [samples] whether reads tell its genotypes apart
    std::vector<bool> counts_;    // [samples] whether it is weighed
    std::vector<Frequency> points_;
    std::vector<std::vector<std::vector<double>>> by_frequency_;  // [points][ploidies][copies]
    Table kinds_, expected_;
    std::vector<double> log_weights_;  // [points] of their prior and all reads
};

}  // namespace

SharedAlleles share_alleles(const SiteReads& reads, const std::vector<const Genotypes*>& genotypes,
                            const std::vector<double>& theta, const std::vector<Family>& families) {
    return Sharing(reads, genotypes, theta, families).shared();
}

}  // namespace pairhmm
