// The profiles that cut reads of a molecule become, and what is known of them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "calling/aligned_reads.hpp"
#include "calling/joining.hpp"
#include "calling/scored_region.hpp"

namespace pairhmm {

// The fewest bases of a read after it was cut to a region. GATK drops shorter ones, too (AssemblyBasedCallerUtils,
// READ_LENGTH_FILTER_THRESHOLD).
constexpr int64_t kMinCutLength = 10;

// Slices of reads that were cut to their regions, region after region.
struct CutSlices {
    std::vector<int64_t> read, first, last;  // bases [first, last) of a read
    std::vector<int64_t> region_read{0};     // [regions + 1] first slice of each region

    int64_t count() const { return static_cast<int64_t>(read.size()); }
    void add(int64_t of_read, int64_t from, int64_t to);
    // Adds a slice once more without the read's soft clips, if these are not all of it. How many bases of either end
    // are left out.
    std::pair<int64_t, int64_t> add_unclipped(const Reads& reads, int64_t slice);
};

// Joins cut reads, as join_reads() does.
JoinedReads join_slices(const AlignedReads& reads, const CutSlices& cut, bool join_mates);

// Whether a profile has reads of both ends of its molecule.
inline bool are_mates(const JoinedReads& joined, int64_t profile) {
    return (joined.ends[profile] & (joined.ends[profile] - 1)) != 0;
}

// Adds a profile to the reads of a region: what is known of it, but for its bases from the end.
//
// It has the first of its reads' names in alphabetical order, so that the two ends of a family share it. Its flags and
// its mapping quality are those of its first read, without the number of the mate where mates were joined. Its length
// is that of the longest read or its own, whichever is more.
void add_profile(const AlignedReads& reads, const CutSlices& cut, const JoinedReads& joined, int64_t profile,
                 ScoredRegion& region);

}  // namespace pairhmm
