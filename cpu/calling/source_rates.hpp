// How often errors of one strand share a cause, and reads are foreign, seen from some of a run's reads. docs/model.md
// has the formulas.
#pragma once

#include <array>
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
    // and for each source at a rate of 1.
    using Likelihoods = std::array<double, 5>;

    void add_site(const AlignedReads& reads, const Neighbour& snv);
    double log_likelihood(const Likelihoods& rates) const;
    void raise(size_t kind, Likelihoods& rates) const;
    double lower_limit(size_t kind, Likelihoods rates) const;

    GenotypeTables tables_;
    std::vector<Likelihoods> snvs_;
    Likelihoods seen_{};  // the sum, over these SNVs, of the probability that one of its reads would be seen
    double bases_ = 0;    // that reads cover, sample by sample
};

}  // namespace pairhmm
