// Reads that outlive the block in which they came.
#pragma once

#include <cstdint>
#include <vector>

#include "calling/candidates.hpp"

namespace pairhmm {

// Where reads end, which finds those over a place without a look at all.
class ReadEnds {
public:
    explicit ReadEnds(const Reads& reads);

    // One behind the last reference base of a read.
    int64_t of(int64_t read) const { return end_[static_cast<size_t>(read)]; }
    // All reads before this one end at `position` or before it.
    int64_t first_behind(int64_t position) const;

private:
    std::vector<int64_t> end_, highest_;  // [reads] each one's, and the highest one up to it
};

// A block of reads, and where they end.
struct EndedReads {
    const Reads* reads;
    const ReadEnds* ends;
};

class ReadStore {
public:
    ReadStore() { clear(); }

    Reads reads() const;
    // Drops its reads that end at `position` or before it. `ends` are its reads' own.
    void forget(const ReadEnds& ends, int64_t position);
    // Adds the reads of a block that end behind `position`.
    void add(const EndedReads& block, int64_t position);
    void clear();

private:
    void append(const Reads& reads, int64_t read);

    std::vector<int64_t> start_, base_offset_, cigar_offset_;
    std::vector<int32_t> sample_;
    std::vector<uint8_t> base_, quality_;
    std::vector<uint32_t> cigar_;
};

}  // namespace pairhmm
