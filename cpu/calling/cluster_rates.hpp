// How many places have a copy of a sequence elsewhere, at what shares of the depth, and how many chromosomes differ as
// much: seen from clusters of some of a run's reads. docs/model.md has the formulas.
#pragma once

#include <vector>

#include "calling/aligned_reads.hpp"
#include "calling/neighbours.hpp"
#include "calling/other_sources.hpp"

namespace pairhmm {

class ClusterRateFinder {
public:
    // Takes reads of one contig over [first, last), and what they show, with numbers of reads in place of fragments.
    void add(const AlignedReads& reads, const Mismatches& shown, int64_t first, int64_t last, bool of_amplicons);
    // Sets the rates that the reads show. Beforehand they are those of a usual library.
    void set(SourceRates& rates) const;

private:
    void add_place(const Mismatches& shown, int64_t place);

    double places_ = 0;
    std::vector<Cluster> clusters_;  // the first one of each place that has any
};

}  // namespace pairhmm
