// Finds candidates in blocks of reads, in order of position: what Discovery finds, as records write it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "calling/discovery.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

// The candidates do not depend on how the reads are divided into blocks.
class CandidateFinder {
public:
    // Without `assembles`, candidates are those of alignments alone.
    CandidateFinder(ReferenceBases& reference, int samples, CandidateThresholds thresholds, bool assembles)
        : reference_(reference), discovery_(samples, thresholds, assembles) {}

    // All candidates of the contig before this position were given.
    int64_t settled() const { return discovery_.settled(); }
    // Counts the reads of the next block. Gives the candidates that no later read can change.
    //
    // Candidates are sought in `places`: intervals in order, which do not overlap, all those behind settled() that the
    // reads may reach. Without them, they are sought where the call before sought them on this contig, or everywhere.
    //
    // Throws std::invalid_argument for reads of unknown samples, and as CandidateScanner::add does.
    std::vector<Variant> scan(const std::string& chrom, const Reads& reads,
                              const std::vector<std::pair<int64_t, int64_t>>* places = nullptr);
    // From now on, what is decided on windows of assembly is kept.
    void watch() { discovery_.watch(); }
    const WindowDecisions& decisions() const { return discovery_.decisions(); }
    // The last candidates of a contig, once all its reads were counted.
    std::vector<Variant> finish();

private:
    std::vector<Variant> settle(const Reads& reads, int64_t frontier);
    Variant record(const std::vector<Candidate>& candidates, size_t first, size_t behind);

    ReferenceBases& reference_;
    Discovery discovery_;
    std::string chrom_;
    int64_t found_ = 0;
};

}  // namespace pairhmm
