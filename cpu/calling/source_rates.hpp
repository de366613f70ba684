// How often errors of one strand share a cause, and reads are foreign, seen from some of a run's reads. docs/model.md
// has the formulas.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "calling/aligned_reads.hpp"
#include "calling/genotype_tables.hpp"
#include "calling/other_sources.hpp"

namespace pairhmm {

class SourceRateFinder {
public:
    // Takes reads of one contig, in order of start.
    void add(const std::string& chrom, const AlignedReads& reads, ReferenceBases& reference);
    // The rates that the reads show, at least: no lower than those of a library in which such reads are rare.
    SourceRates rates() const;

private:
    // How likely the reads of an SNV are, as shares of the likeliest: without a variant, for chromosomes that have it,
    // and for each source at a rate of 1; errors of either strand.
    using Likelihoods = std::array<double, 7>;
    struct Snv {
        Likelihoods likelihoods;
        std::array<int, 2> contexts;  // of errors of either strand
        std::array<bool, 2> is_told;  // from alleles, by fragments of the other strand
    };

    // Rates of all SNVs, and of errors in contexts that have their own.
    struct Rates {
        double chromosomes = 1, foreign = SourceRates{}.foreign;
        ErrorShares errors;
        std::map<int, ErrorShares> of_context;

        ErrorShares errors_of(const Snv& snv, int strand) const;
        double of(const Snv& snv) const;
    };
    using Rate = double& (*)(Rates&);

    void add_errors(const AlignedReads& reads, const std::vector<LoneMismatch>& lone);
    void add_bases(const std::string& letters, int64_t start, int64_t end);
    void add_site(const AlignedReads& reads, const Neighbour& snv, const std::array<int, 2>& contexts);
    std::map<int, std::vector<Snv>> by_context() const;
    double log_likelihood(const Rates& rates, const std::vector<Snv>& snvs) const;
    double raise(double& rate, const Rates& rates, const std::vector<Snv>& snvs, double lowest, double highest) const;
    void raise_context(int context, const std::vector<Snv>& snvs, Rates& rates) const;
    double lower_limit(Rate of, Rates rates) const;

    GenotypeTables tables_;
    std::vector<Snv> snvs_;
    // Sums, over these SNVs, of the probability that two reads of a source would be seen; of errors, where they are
    // told from alleles, and anywhere.
    double foreign_ = 0;
    ErrorShares told_{0, 0}, anywhere_{0, 0};
    double errors_ = 0, promised_ = 0, sure_ = 0;    // errors of single reads, and bases that may have them
    double bases_ = 0;                               // that reads cover, sample by sample
    std::array<double, kErrorContexts> bases_of_{};  // the same, with each context
};

}  // namespace pairhmm
