// The pair-HMM's forward algorithm on haplotypes with undetermined alleles, summed over all paths (docs/model.md).
//
// A graph is a chain of sites. A path takes one allele of each, and determined letters are a site of one allele. The
// states behind a site are the sum of those of its alleles, so that a letter is computed once for all paths.
#pragma once

#include <cstdint>
#include <functional>

#include "forward/batch.hpp"
#include "graph/level.hpp"

namespace pairhmm {

// Scores (log10) of every read of a batch, in float64. The batch's own haplotypes count for nothing.
void graph_scores(const GraphLevel& level, const SiteGraph& graph, const Batch& batch, int threads, double* scores,
                  const std::function<bool()>& interrupted);

}  // namespace pairhmm
