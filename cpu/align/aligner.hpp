// Pairs of sequences over the lanes of a level and over threads: scores, and alignments.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "align/level.hpp"

namespace pairhmm {

// Sequences end to end: sequence s is codes[offset[s]] to codes[offset[s + 1] - 1].
struct SequenceSet {
    const uint8_t* codes;
    const int64_t* offset;
};

struct PairBatch {
    int64_t pairs;
    SequenceSet queries, targets;
    const int32_t *query, *target;  // [pairs]
};

// Alignments in the order of the pairs; that of pair p is cigar[offset[p]] to cigar[offset[p + 1] - 1].
struct AlignmentTable {
    std::vector<int32_t> scores, starts, ends;
    std::vector<uint32_t> cigar;
    std::vector<int64_t> offset;
};

// The score of each pair, into scores [pairs]. Left as it is where `interrupted`, which is polled, becomes true.
void align_scores(const AlignLevel& level, const PairBatch& batch, const AlignScoring& scoring, int threads,
                  int32_t* scores, const std::function<bool()>& interrupted);

AlignmentTable align_pairs(const AlignLevel& level, const PairBatch& batch, const AlignScoring& scoring, int threads,
                           const std::function<bool()>& interrupted);

}  // namespace pairhmm
