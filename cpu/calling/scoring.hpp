// Scores of prepared reads on the CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "calling/preparation.hpp"
#include "forward/dispatch.hpp"

namespace pairhmm {

// Scores of some regions, region after region, row-major (read, haplotype).
struct FlatScores {
    std::vector<double> log10;       // P(read | haplotype)
    std::vector<uint8_t> precision;  // index into PRECISIONS (pairhmm/models/batch.py)
};

// batch: its groups and haplotypes are given; it gets the reads. longest: as in score_batch.
FlatScores score_reads(const ReadModel& model, const PreparedReads& reads, Batch batch, const Level& level,
                       int64_t longest, int threads, const std::function<bool()>& interrupted);

}  // namespace pairhmm
