// Forward-backward of many pairs: expected counts for a fit, and the posteriors of single pairs.
#pragma once

#include <cstdint>

#include "posterior/level.hpp"

namespace pairhmm {

// Number of doubles in a block's counts of matches, insertions and transitions.
constexpr int64_t counts_size(int64_t symbols, int64_t places) { return symbols * kEmissions + places * kTransitions; }

// Expected counts of each block of `block` pairs, counts [blocks][counts_size], and log10 likelihoods [pairs]. Blocks
// depend only on the order of pairs, so sums over them do not depend on the threads. Without `counts`, forward alone
// computes the likelihoods, in about a third of the time.
void expected_counts(const PosteriorLevel& level, const PairSet& set, int64_t symbols, int64_t places, int64_t block,
                     int threads, double* counts, double* log10);

// Posteriors of each pair, from `at` [pairs] on in match, insertion and deletion, and log10 likelihoods [pairs].
void posteriors(const PosteriorLevel& level, const PairSet& set, const int64_t* at, int threads, double* match,
                double* insertion, double* deletion, double* log10);

}  // namespace pairhmm
