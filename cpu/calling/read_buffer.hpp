// The reads of a contig that regions may still need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calling/aligned_reads.hpp"
#include "calling/intervals.hpp"

namespace pairhmm {

class ReadBuffer {
public:
    const std::string& chrom() const { return chrom_; }
    AlignedReads view() const;
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
    template <class Predicate>
    void append_where(const AlignedReads& block, Predicate&& is_wanted);
    void append_run(const AlignedReads& block, int64_t first, int64_t last);
    void append_molecules(const AlignedReads& block, int64_t first, int64_t last);
    void append_indel_qualities(const AlignedReads& block, int64_t base, int64_t base_end);

    std::string chrom_;
    std::vector<int64_t> start_, end_, base_offset_{0}, cigar_offset_{0}, name_end_, molecule_end_;
    std::vector<int32_t> sample_;
    std::vector<uint16_t> flag_;
    std::vector<uint8_t> mapq_, base_, quality_, insertion_, deletion_;
    std::vector<uint32_t> cigar_;
    std::string names_, molecules_;
    bool has_molecules_ = false;
    int64_t reach_ = 0;      // the longest interval of the reference that a read takes up
    size_t most_bases_ = 0;  // from which on reads are dropped
};

}  // namespace pairhmm
