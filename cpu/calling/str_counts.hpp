// Counts the reads over each tandem repeat that gained or lost units (stutter).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "calling/aligned_reads.hpp"
#include "calling/tandem_tracts.hpp"

namespace pairhmm {

// What the reads over a repeat show.
struct StrSite {
    int unit, copies;        // bases of the unit, and the copies that most reads have
    int depth, fewer, more;  // reads, and those with fewer and with more units

    bool operator<(const StrSite& other) const { return key() < other.key(); }

private:
    std::tuple<int, int, int, int, int> key() const { return {unit, copies, depth, fewer, more}; }
};

// The number of repeats that show the same.
using StrSites = std::map<StrSite, int64_t>;

// Memory grows with the depth and the lengths of reads.
class StrCounter {
public:
    // least_copies: that a repeat has, by the bases of its unit from 1 on; most_copies: nothing changes beyond.
    StrCounter(std::vector<int> least_copies, int most_copies)
        : least_copies_(std::move(least_copies)), most_copies_(most_copies) {}

    // Takes reads of one contig, in order of start; contigs come one after another.
    void add(const std::string& chrom, const AlignedReads& reads, ReferenceBases& reference);
    // What all reads show that were taken.
    StrSites sites() const;

private:
    // The most gained or lost units that are counted apart.
    static constexpr int kMostChange = 4;
    struct Counted {
        Tract tract;
        std::array<int, 2 * kMostChange + 1> reads{};  // by the units that they gained
    };

    void forget(size_t count);
    void find(int64_t end, ReferenceBases& reference);
    void count(int64_t start, int64_t end);
    void count_change(int64_t at, int64_t size, int64_t start, int64_t end);
    void add_site(const Counted& counted, StrSites& sites) const;
    size_t first_from(int64_t start) const;

    std::vector<int> least_copies_;
    int most_copies_;
    std::string chrom_;
    std::deque<Counted> tracts_;  // those that later reads may span
    int64_t done_ = 0;            // repeats that begin before are known, or not needed any more
    StrSites sites_;
};

}  // namespace pairhmm
