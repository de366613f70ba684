// Samples that are mixtures of haplotypes: P(read) = sum over h of w_h P(read | h). docs/model.md has the equations.
#pragma once

#include <cstdint>
#include <vector>

#include "calling/genotypes.hpp"

namespace pairhmm {

// Half of the 95% quantile of chi-square with one degree of freedom: the natural logarithm of a likelihood ratio.
constexpr double kIntervalRatio = 1.9207;
// How many alleles are looked at in 1,000 bases: three letters at each. QUAL is about the false ones of these.
constexpr double kTestsOfKilobase = 3000;

// The share of some haplotypes together.
struct MixedShare {
    double fraction = 0, low = 0, high = 1;  // by the profile likelihood, 95%
    double ratio = 0;                        // natural logarithm of P(reads | all) / P(reads | none of them)
};

// The haplotypes of one sample, weighed by its fragments over a region.
class Mixture {
public:
    // Reads that are set aside are not used. The reads of a fragment are one observation. What it says against a
    // haplotype is limited to `floor`, log10.
    Mixture(const ScoredReads& reads, int32_t sample, double floor);

    bool has_reads() const { return total_ > 0; }
    const std::vector<double>& weights() const { return weights_; }
    // Of the haplotypes that are marked.
    MixedShare share(const std::vector<uint8_t>& is_in) const;

private:
    // The largest likelihood where the marked haplotypes have a share of `fraction`, and its derivative by the share.
    // weights: where to begin, and where it is.
    struct Fit {
        double log_likelihood, slope;
    };
    Fit fit(const std::vector<uint8_t>& is_in, double fraction, std::vector<double>& weights) const;
    // How much lower the logarithm of the likelihood is with another share.
    double below_best(const std::vector<uint8_t>& is_in, double fraction) const;
    double bound(const std::vector<uint8_t>& is_in, double fraction, double end, double at_end) const;
    // Sums over fragments: log P, and of each haplotype n L / P.
    double expect(const std::vector<double>& weights, std::vector<double>& gradient) const;

    size_t haplotypes_;
    std::vector<double> rows_;   // [distinct fragments][haplotypes] P(fragment | haplotype), the best 1
    std::vector<double> count_;  // [distinct fragments]
    double total_ = 0;           // fragments
    std::vector<double> weights_;
    double log_likelihood_ = 0;
};

// QUAL of an allele by the ratios of all samples, each as `MixedShare` has it. A fraction of 0 is at the end of its
// range, so that each sample adds a degree of freedom half of the time.
double mixture_quality(const std::vector<double>& ratios);

}  // namespace pairhmm
