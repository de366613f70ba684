// Samples that are mixtures of haplotypes: P(read) = sum over h of w_h P(read | h). docs/model.md has the equations.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "calling/genotypes.hpp"

namespace pairhmm {

// Half of the 95% quantile of chi-square with one degree of freedom: the natural logarithm of a likelihood ratio.
constexpr double kIntervalRatio = 1.9207;
// How many alleles are looked at in 1,000 bases: three letters at each. QUAL is about the false ones of these.
constexpr double kTestsOfKilobase = 3000;

// What fragments say of haplotypes, those that say the same as one.
struct MixtureRows {
    int64_t haplotypes = 0;
    std::vector<double> likelihoods;  // [rows][haplotypes] the best 1
    std::vector<double> counts;       // [rows]
    // Differences of log10 likelihoods are rounded to it, so that few rows differ.
    static constexpr double kStep = 1.0 / 16;
};

// The rows of a sample's fragments over a region, without the reads that are set aside. The reads of a fragment are one
// observation. What it says against a haplotype is limited to `floor`, log10.
MixtureRows mixture_rows(const ScoredReads& reads, int32_t sample, double floor);

// The share of some haplotypes together.
struct MixedShare {
    double fraction = 0, low = 0, high = 1;  // by the profile likelihood, 95%
    double ratio = 0;                        // natural logarithm of P(reads | all) / P(reads | none of them)
    double ratio_of_others = 0;              // the same of all other haplotypes

    MixedShare of_others() const { return {1 - fraction, 1 - high, 1 - low, ratio_of_others, ratio}; }
};

// The weights of haplotypes.
class Mixture {
public:
    // lengths: [haplotypes] how many fragments over the region each gives, relative to others of the same number of
    // molecules; none: equal.
    explicit Mixture(MixtureRows rows, std::vector<double> lengths = {});

    bool has_reads() const { return !rows_.counts.empty(); }
    // The shares of fragments.
    const std::vector<double>& weights() const { return weights_; }
    // Of each haplotype, the first one that no fragment tells from it.
    std::vector<size_t> same_as() const;
    // Of the haplotypes that are marked, among molecules. What was asked for once is kept.
    MixedShare share(const std::vector<uint8_t>& is_in) const;

private:
    // The largest log likelihood where the marked haplotypes have a share, its derivative by the share, and the
    // weights. It is sought from near ones.
    struct Fit {
        double log_likelihood, slope;
        std::vector<double> weights;
        std::vector<size_t> columns;     // the haplotypes that may have a weight
        std::vector<double> covariance;  // [columns][columns] of the weights, where all are marked
    };
    Fit fit(const std::vector<uint8_t>& is_in, double share, const std::vector<double>& near) const;
    Fit fit_of(const std::vector<size_t>& columns, const std::vector<uint8_t>& is_in, double share,
               const std::vector<double>& near) const;
    std::vector<uint8_t> begun(const std::vector<uint8_t>& is_in, double share, const std::vector<double>& near) const;
    bool add_missing(const Fit& found, const std::vector<uint8_t>& is_in, double share,
                     std::vector<uint8_t>& is_used) const;
    double bound(const std::vector<uint8_t>& is_in, double fraction, double end, double share, double spread) const;
    double variance(const std::vector<uint8_t>& is_in) const;
    MixedShare share_of_fragments(const std::vector<uint8_t>& is_in) const;
    MixedShare share_of_molecules(const std::vector<uint8_t>& is_in) const;

    MixtureRows rows_;
    std::vector<double> lengths_, weights_, covariance_;
    std::vector<size_t> columns_;  // of the covariance
    double log_likelihood_ = 0;
    mutable std::map<std::vector<uint8_t>, MixedShare> shares_;  // without the first haplotype
};

// QUAL of an allele by the ratios of all samples, each as `MixedShare` has it. A fraction of 0 is at the end of its
// range, so that each sample adds a degree of freedom half of the time.
double mixture_quality(const std::vector<double>& ratios);

}  // namespace pairhmm
