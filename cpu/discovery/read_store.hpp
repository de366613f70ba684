// Reads that outlive the block in which they came.
#pragma once

#include <cstdint>
#include <vector>

#include "genomics/candidates.hpp"

namespace pairhmm {

class ReadStore {
public:
    ReadStore() { clear(); }

    Reads reads() const;
    // Keeps the reads of both that end behind `position`.
    void keep(const Reads& newer, int64_t position);
    void clear();

private:
    void append(const Reads& reads, int64_t read);

    std::vector<int64_t> start_, base_offset_, cigar_offset_;
    std::vector<int32_t> sample_;
    std::vector<uint8_t> base_, quality_;
    std::vector<uint32_t> cigar_;
};

// One behind the last reference base of a read.
int64_t read_end(const Reads& reads, int64_t read);

}  // namespace pairhmm
