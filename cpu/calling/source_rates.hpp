// How often errors of one strand share a cause, reads are foreign and bases are wrong beyond their qualities, and
// whether reads are of amplicons: seen from some of a run's reads. docs/model.md has the formulas.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "calling/aligned_reads.hpp"
#include "calling/cluster_rates.hpp"
#include "calling/context_rates.hpp"
#include "calling/genotype_tables.hpp"
#include "calling/other_sources.hpp"

namespace pairhmm {

class SourceRateFinder {
public:
    // Takes reads of one contig, in order of start.
    void add(const std::string& chrom, const AlignedReads& reads, ReferenceBases& reference);
    // The rates that the reads show: no lower than those of a library in which such reads are rare.
    SourceRates rates() const;

private:
    // How likely the reads of an SNV are, as shares of the likeliest: without a variant, for chromosomes that have it,
    // and for each source at a rate of 1; errors of either strand.
    using Likelihoods = std::array<double, 7>;
    struct Snv {
        double of_errors(int strand, const ErrorShares& shares) const;

        Likelihoods likelihoods;
        std::array<int, 2> contexts;  // of errors of either strand
        std::array<bool, 2> is_told;  // from alleles, by fragments of the other strand
    };

    struct Rates {
        double chromosomes = 1, foreign = 0.01;
        ContextShares of_context{};

        double of(const Snv& snv) const;
        double without_errors(const Snv& snv) const;
        double of_errors(const Snv& snv, int strand) const;
    };

    void add_begins(const AlignedReads& reads);
    void add_errors(const AlignedReads& reads, const std::vector<LoneMismatch>& lone);
    void add_bases(const std::string& letters, int64_t start, int64_t end);
    void add_site(const AlignedReads& reads, const Neighbour& snv, const std::array<int, 2>& contexts);
    void add_seen(const std::vector<Fragment>& fragments, const std::array<bool, 2>& is_told);
    double log_likelihood(const Rates& rates) const;
    void raise(double& rate, const Rates& rates) const;
    AtRates at_rates(int context, const std::vector<const Snv*>& snvs, const Rates& rates) const;
    ContextShares expected_errors(const Rates& rates) const;
    double alone() const;
    // Whether reads begin at far fewer places than reads of random fragments do.
    bool are_of_amplicons() const;

    GenotypeTables tables_;
    ClusterRateFinder clusters_;
    std::vector<Snv> snvs_;
    // Sums, over these SNVs, of the probability that two reads of a source would be seen; of errors, where they are
    // told from alleles, and anywhere.
    double foreign_ = 0;
    ErrorShares told_{0, 0}, anywhere_{0, 0};
    double begins_ = 0, random_begins_ = 0;          // where reads begin, and would, if their fragments were random
    double errors_ = 0, promised_ = 0, sure_ = 0;    // errors of single reads, and bases that may have them
    double bases_ = 0;                               // that reads cover, sample by sample
    std::array<double, kErrorContexts> bases_of_{};  // the same, with each context
};

}  // namespace pairhmm
