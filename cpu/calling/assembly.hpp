// Local assembly: the alleles that the reads over a window of the reference spell together.
//
// Method. A graph of k-mers is made of the reference and the reads. Edges that few reads have are dropped. Each way
// that leaves the reference and comes back to it is aligned with the reference that it replaces; where they differ are
// alleles. k is the least of a ladder for which no k-mer of the reference occurs twice, no way leads back to itself,
// and ways that lead back to the reference are long: each is one more copy of what it leads back over.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "calling/candidates.hpp"
#include "calling/kmer_graph.hpp"

namespace pairhmm {

// Why a k was not taken.
enum class TriedK { kRepeatedInReference, kCircle, kShortCopy };

// A way that leaves the reference and comes back, as assembly judged it.
struct JudgedWay {
    double weight, leaving;             // reads, of it and of all ways where it begins, the reference among them
    bool is_united;                     // errors have parted its reads
    std::vector<Candidate> shown;       // where it differs from the reference
    std::vector<uint8_t> is_supported;  // [shown] whether enough reads have it
};

// What assembly decided, for who asks.
struct AssemblySteps {
    std::vector<std::pair<int, TriedK>> tried;  // those that were not taken
    std::vector<JudgedWay> ways;
};

struct Assembly {
    int k = 0;                       // 0 where no k of the ladder will do: then the rest is empty
    std::vector<Candidate> alleles;  // in order, those that enough reads have
    std::vector<Candidate> shown;    // in order, all
    bool is_whole = false;           // whether every way was followed
    EdgeSet edges;                   // of the ways that were kept and of the reference

    // Whether they spell letters: more than k of them.
    bool spells(Stretch letters) const;
};

// Puts candidates in order, and makes equal ones one.
void sort_distinct(std::vector<Candidate>& candidates);

// `reference` begins at `start`; it and the reads have letters 0..3 alone. The order of the reads has no effect.
// Ways that delete fewer letters than `least_deleted` give no alleles. `steps` gets what was decided, if it is not
// null.
Assembly assembled(int64_t start, Stretch reference, const std::vector<Stretch>& reads,
                   const CandidateThresholds& thresholds, int64_t least_deleted = std::numeric_limits<int64_t>::min(),
                   AssemblySteps* steps = nullptr);

}  // namespace pairhmm
