// Whether reads show an allele, or errors: by what errors promise, and by the strands and cycles of its reads.
#pragma once

#include "calling/artefact.hpp"
#include "calling/error_rates.hpp"

namespace pairhmm {

// The reads over a position, whatever letter they have.
std::array<uint32_t, kCells> all_letters(const SiteCells& cells);

std::array<double, kStrands> of_strands(const std::array<uint32_t, kCells>& cells);

// Phred: the probability of so many reads of a strand, or more, where errors are those expected. The errors of a
// context vary from place to place, with a variance of `spread` times their square.
double strand_evidence(double seen, double errors, double of_context, double spread);

// Phred: the probability of what both strands show (Fisher's product of probabilities).
double tail_evidence(const std::array<double, kStrands>& seen, const ExpectedErrors& errors, double spread);

// Which artefact explains the reads of a letter better than an allele; kNone where an allele does.
Artefact artefact_of(const std::array<uint32_t, kCells>& depth, const std::array<uint32_t, kCells>& seen,
                     const ExpectedErrors& errors, double spread);

}  // namespace pairhmm
