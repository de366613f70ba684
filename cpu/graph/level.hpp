// What an instruction set provides to graphs of haplotypes; graph/level.cpp makes it over a vector width.
#pragma once

#include <cstdint>

#include "forward/batch.hpp"

namespace pairhmm {

struct SiteGraph {
    int64_t sites, alleles, passes;
    const int64_t* site;    // [sites + 1] first allele of a site
    const int64_t* allele;  // [alleles + 1] first letter of an allele
    const uint8_t* letter;  // 0..4
    // The score is the sum of `passes` sums over all paths, each with weights of its own (docs/model.md).
    const double* weight;  // [passes * alleles]
    const double* factor;  // [passes] of each sum
};

struct GraphLevel {
    int lanes;
    // Scores (log10) of `count` reads, one a lane: that of read[l] goes to scores[l]. Gaps end in all of them, or in
    // none (forward/rows.hpp).
    void (*forward)(const SiteGraph&, const Batch&, const int64_t* read, int count, double* scores);
};

const GraphLevel* graph_level_x86_64_v2();
const GraphLevel* graph_level_avx2();
const GraphLevel* graph_level_avx512();
const GraphLevel* graph_level_neon();

}  // namespace pairhmm
