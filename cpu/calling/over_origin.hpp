// Reads over the origin of a circular contig. Aligners know lines, so they clip such a read at one end of the contig:
// here the clip is aligned to the other end, so that the read is whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calling/candidates.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

// Bases between the origin and an alignment that an aligner has ended before it, at most.
constexpr int64_t kNearOrigin = 100;

// A read that begins before the origin, at `start` in the contig, and ends behind it, at `end` > length.
struct ReadOverOrigin {
    int64_t read;
    int64_t start, end;
    std::vector<uint32_t> cigar;
};

// The reads of a contig of so many bases that lie over its origin, by their alignments or once their clips are aligned.
// end: [reads] one behind the last reference base of each. `unrolled` has the contig three times, end to end.
std::vector<ReadOverOrigin> reads_over_origin(const Reads& reads, const int64_t* end, const std::string& chrom,
                                              int64_t length, ReferenceBases& unrolled);

// How a query is aligned to a target from the beginning of both on.
struct Extension {
    std::vector<uint32_t> cigar;  // what is left of the query is clipped
    int64_t target = 0;           // bases of the target that it takes up
};

// The best extension, with the costs of bwa mem. Queries and targets are codes; a query's N fits any base.
Extension extend_clip(const std::string& query, const std::string& target);

}  // namespace pairhmm
