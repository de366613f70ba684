// The reads of a contig that regions may still need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calling/aligned_reads.hpp"
#include "calling/intervals.hpp"

namespace pairhmm {

// The columns of some reads.
struct ReadColumns {
    AlignedReads view() const;
    // Drops all reads, but keeps their memory: pages that were never used cost more than copies.
    void clear();
    // Adds reads [first, last) of a block, of which there is at least one.
    void append_run(const AlignedReads& block, int64_t first, int64_t last);
    template <class Predicate>
    void append_where(const AlignedReads& block, Predicate&& is_wanted);
    // Drops the reads that end at `position` or before it.
    void forget(int64_t position);

    std::vector<int64_t> start, end, base_offset{0}, cigar_offset{0}, name_end, molecule_end;
    std::vector<int32_t> sample;
    std::vector<uint16_t> flag;
    std::vector<uint8_t> mapq, base, quality, insertion, deletion;
    std::vector<uint32_t> cigar;
    std::string names, molecules;
    bool has_molecules = false;
    int64_t reach = 0;  // the longest interval of the reference that a read takes up

private:
    void append_molecules(const AlignedReads& block, int64_t first, int64_t last);
    void append_indel_qualities(const AlignedReads& block, int64_t first_base, int64_t last_base);
};

class ReadBuffer {
public:
    const std::string& chrom() const { return chrom_; }
    AlignedReads view() const { return columns_.view(); }
    // Drops all reads; those to come are on this contig.
    void begin(std::string chrom);
    // Adds the reads over some intervals. They follow those before in order of start.
    void append(const AlignedReads& block, const Intervals& wanted);
    // Drops the reads that end at `position` or before it, once they may be many: each read is moved a few times at
    // most, however small the blocks are.
    void forget(int64_t position);
    // The reads over [start, end).
    std::vector<int64_t> over(int64_t start, int64_t end) const;

private:
    std::string chrom_;
    ReadColumns columns_;
    size_t most_bases_ = 0;  // from which on reads are dropped
};

}  // namespace pairhmm
