// The ends of a read that say nothing of the sample, as GATK's HaplotypeCaller cuts them off (finalizeRegion of
// AssemblyBasedCallerUtils, ReadClipper): bases of low quality, adaptors, and clips of odd pairs.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/bam_record.hpp"

namespace pairhmm {

// Bases [first, last) of a read.
struct KeptBases {
    int64_t first, last;
};

// Bases of the soft clip at either end of a read.
struct ReadClips {
    int64_t leading, trailing;
};
ReadClips clips_of(const BamRecord& record);

bool is_reverse(const BamRecord& record);

// The first base that stands at a reference position or behind it. Clips stand where they would without gaps.
int64_t base_at(const BamRecord& record, int64_t position);

// The reference bases [left, right) of a read's fragment, as far as the read tells.
struct FragmentEnds {
    std::optional<int64_t> left, right;
};
FragmentEnds fragment_ends(const BamRecord& record, int64_t end);

// What is left of a read, one behind whose last reference base is `end`.
//
// A pair tells where its fragment ends: bases beyond are the adaptor's. Where mates do not face each other, it does
// not, and soft clips go. Then bases below quality 10 go from both ends. Clips of reads without a mate stay.
KeptBases kept_bases(const BamRecord& record, int64_t end);

// The same on a circular contig of so many bases. A read that lies over its origin, were its clips aligned without
// gaps, keeps these: what is behind the origin is not the adaptor's.
KeptBases kept_on_circle(const BamRecord& record, int64_t end, int64_t length);

}  // namespace pairhmm
