// How many molecules have a base at each position of a contig. Mates that overlap count once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "calling/aligned_reads.hpp"

namespace pairhmm {

class DepthCounter {
public:
    // Counts reads of `sample`, and their bases of `min_quality` or more.
    DepthCounter(int sample, int min_quality) : sample_(sample), min_quality_(min_quality) {}

    // Adds the reads of one contig, in order of start, to depth [length]. Bases beyond the contig's end are not
    // counted.
    void add(const AlignedReads& reads, uint32_t* depth, int64_t length);
    // Forget open pairs: the next read is on another contig.
    void reset() { first_mates_.clear(); }

private:
    // The positions at which the first mate of a pair has counted.
    struct FirstMate {
        int64_t start;
        std::vector<bool> counted;
        int64_t end() const { return start + static_cast<int64_t>(counted.size()); }
        bool has(int64_t position) const {
            const int64_t at = position - start;
            return at >= 0 && at < static_cast<int64_t>(counted.size()) && counted[at];
        }
    };

    void add_read(const AlignedReads& reads, int64_t read, uint32_t* depth, int64_t length);
    template <class Visit>
    void visit_bases(const Reads& reads, int64_t read, int64_t length, Visit visit) const;
    void forget_before(int64_t position);

    int sample_, min_quality_;
    std::unordered_map<std::string, FirstMate> first_mates_;
};

}  // namespace pairhmm
