// The alleles that reads carry by their alignments.
#pragma once

#include <cstdint>
#include <limits>

#include "calling/candidates.hpp"

namespace pairhmm {

constexpr int64_t kNoIndel = std::numeric_limits<int64_t>::min();

// Candidates of one contig with their alternative alleles. An allele is an indel, shifted left, or some changed
// letters.
struct AlleleKeys {
    int64_t candidates;
    const int64_t* begin;            // [candidates] the bases of REF: [begin, end)
    const int64_t* end;              // [candidates]
    const int64_t* allele_offset;    // [candidates + 1] first allele of each
    const int64_t* anchor;           // [alleles] the base before an indel; kNoIndel for changed letters
    const int64_t* deleted;          // [alleles] bases
    const int64_t* inserted_offset;  // [alleles + 1]
    const uint8_t* inserted;         // letters
    const int64_t* change_offset;    // [alleles + 1]
    const int64_t* position;         // of each change
    const uint8_t* was;              // letters of the reference
    const uint8_t* now;              // letters of the allele
};

// The number of the allele of each candidate that some reads carry, 0 for the reference, in [reads][candidates].
// `unknown` stands where a read does not span a candidate, or shows none of its alleles.
void read_alleles(const Reads& reads, const int64_t* read, int64_t count, const int64_t* read_end,
                  const ReferenceWindows& reference, const AlleleKeys& keys, int16_t unknown, int16_t* carried);

}  // namespace pairhmm
