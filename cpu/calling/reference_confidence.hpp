// How sure reads are that a sample has the reference, at every position of a contig. docs/vcf.md has the formulas.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "calling/candidates.hpp"
#include "calling/leftmost.hpp"

namespace pairhmm {

// Bands of positions without a read, and of those whose reads make all genotypes equally likely.
constexpr int kNoReads = -2, kNothingKnown = -1;

// Neighbouring positions [start, end) whose GQ lies in one band.
struct ReferenceBlock {
    int64_t start, end;
    int band;             // one of those above; else how many of the limits are not above GQ
    int64_t quality;      // the lowest GQ
    int64_t depth;        // the sum of the depths
    int64_t least_depth;  // the lowest
    int64_t one, both;    // the lowest Phred likelihoods of one and of two copies that are not the reference
};

// One sample's reads along one contig, added in order of start.
class ReferenceConfidence {
public:
    // Bases of a lower quality are not counted.
    explicit ReferenceConfidence(int min_base_quality);

    // Mates have the same number. Where they overlap, the first one counts. The windows reach so far beyond the reads
    // that repeats at their ends show there.
    void add(const Reads& reads, const int64_t* read_end, const uint32_t* fragment, const ReferenceWindows& reference);

    // The blocks of [begin, end), whose reads are all added. What lies before `end` is forgotten. limits: GQ from which
    // on each further band begins, ascending. With `haploid`, there is one copy.
    std::vector<ReferenceBlock> take(int64_t begin, int64_t end, const std::vector<int>& limits, bool haploid);

private:
    static constexpr int64_t kPageBits = 10, kPage = int64_t{1} << kPageBits;

    // Of one position, or of one base, which adds them there.
    struct Counts {
        int64_t one = 0, both = 0;  // thousandths of Phred by which one and two other copies are less likely
        int64_t depth = 0;
        int64_t showing_indels = 0;  // reads that would show an insertion or a deletion here
        void add(const Counts& more) {
            one += more.one;
            both += more.both;
            depth += more.depth;
            showing_indels += more.showing_indels;
        }
    };
    // What reads are compared with: the reference, and for each window and position, how far from the window's start a
    // read has to reach to show indels there.
    struct Compared {
        const ReferenceWindows& reference;
        std::vector<std::vector<int32_t>> reach;
    };

    void add_read(const Reads& reads, int64_t read, int64_t read_end, int64_t first, const Compared& compared);
    // Counts bases of a read that are aligned to [begin, end) of a window.
    void add_aligned(int64_t begin, int64_t end, const uint8_t* base, const uint8_t* quality, int64_t read_end,
                     const ReferenceWindow& window, const std::vector<int32_t>& reach);
    // Counts one base that is a difference although it may be the reference's.
    void add_different(int64_t position, uint8_t base, uint8_t quality, const ReferenceWindow& window);
    // Counts at a position, and at those up to the end of its page.
    Counts* counts_from(int64_t position);

    std::vector<Counts> added_;  // by kind of a base and its quality: what it adds
    Counts deleted_;             // what a deleted base adds
    std::map<int64_t, std::vector<Counts>> pages_;
    int64_t recent_number_ = -1;  // of the page that was asked for last
    Counts* recent_ = nullptr;
    std::unordered_map<uint32_t, int64_t> end_of_;  // by fragment: where its first read ends
    int64_t pruned_ = 0;
    LeftmostAlignment alignment_;  // of the read that is added
};

}  // namespace pairhmm
