// Which levels this build and this machine have, and a batch over threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "forward/level.hpp"

namespace pairhmm {

struct NamedLevel {
    const char* name;
    const Level* level;  // null: not part of this build
    bool runs;           // this machine has the instructions
};

// Every level that the program knows for this architecture, slowest first.
std::vector<NamedLevel> levels();

// float32 scores of every pair of the batch but those of `skip_read` and, where it is given, `skip_haplotype`; NaN
// where float32 doesn't hold.
void forward_batch(const Level& level, const Batch& batch, const uint8_t* skip_read, int threads, double* scores,
                   const std::function<bool()>& interrupted, const uint8_t* skip_haplotype = nullptr);

// Cells that forward_batch computes: the columns of each group's trees, and one a haplotype where its halves are
// joined, times the rows of the reads. Reads longer than `longest` have whole matrices.
int64_t computed_cells(const Batch& batch, int64_t longest);

// float64 scores of the given pairs, each a read and a haplotype.
void forward_pairs(const Level& level, const Batch& batch, int64_t count, const int64_t* read, const int64_t* hap,
                   int threads, double* scores, const std::function<bool()>& interrupted);

// Scores of every pair, in float32 where it holds them, else in float64: `precision` says which. Reads of more than
// `longest` bases are scored in float64: their rounding errors add up.
void score_batch(const Level& level, const Batch& batch, int64_t longest, int threads, double* log10,
                 uint8_t* precision, const std::function<bool()>& interrupted);

}  // namespace pairhmm
