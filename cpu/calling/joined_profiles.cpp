#include "calling/joined_profiles.hpp"

#include <algorithm>
#include <string_view>

namespace pairhmm {

void CutSlices::add(int64_t of_read, int64_t from, int64_t to) {
    read.push_back(of_read);
    first.push_back(from);
    last.push_back(to);
}

std::pair<int64_t, int64_t> CutSlices::add_unclipped(const Reads& reads, int64_t slice) {
    const auto [begin, end] = unclipped_bases(reads, read[slice]);
    const int64_t from = std::max(first[slice], begin), to = std::min(last[slice], end);
    const std::pair<int64_t, int64_t> clipped{from - first[slice], last[slice] - to};
    if (clipped == std::pair<int64_t, int64_t>() || to - from < kMinCutLength) return {};
    add(read[slice], from, to);
    return clipped;
}

JoinedReads join_slices(const AlignedReads& reads, const CutSlices& cut, bool join_mates) {
    std::vector<std::string_view> name, molecule;
    std::vector<int32_t> sample;
    std::vector<uint16_t> flag;
    for (const int64_t read : cut.read) {
        name.push_back(reads.name(read));
        if (reads.reads.molecules) molecule.push_back(reads.reads.molecule(read));
        sample.push_back(reads.reads.sample[read]);
        flag.push_back(reads.flag[read]);
    }
    return join_reads(reads.reads,
                      {cut.count(), cut.read.data(), cut.first.data(), cut.last.data(),
                       static_cast<int64_t>(cut.region_read.size()) - 1, cut.region_read.data(), name.data(),
                       reads.reads.molecules ? molecule.data() : nullptr, sample.data(), flag.data()},
                      join_mates);
}

void add_profile(const AlignedReads& reads, const CutSlices& cut, const JoinedReads& joined, int64_t profile,
                 ScoredRegion& region) {
    constexpr uint16_t kNumberOfMate = 0x40 | 0x80;  // SAM flags
    const int64_t begin = joined.member_offset[profile], behind = joined.member_offset[profile + 1];
    const int64_t first = cut.read[joined.member[begin]];
    std::string_view name = reads.name(first);
    int64_t start = reads.reads.start[first], end = reads.end[first];
    int64_t length = joined.column_offset[profile + 1] - joined.column_offset[profile];
    for (int64_t i = begin; i < behind; ++i) {
        const int64_t read = cut.read[joined.member[i]];
        name = std::min(name, reads.name(read));
        start = std::min(start, reads.reads.start[read]);
        end = std::max(end, reads.end[read]);
        length = std::max(length, reads.length(read));
    }
    const uint16_t left_out = are_mates(joined, profile) ? kNumberOfMate : 0;
    region.names += name;
    region.name_end.push_back(static_cast<int64_t>(region.names.size()));
    region.sample.push_back(reads.reads.sample[first]);
    region.flag.push_back(static_cast<uint16_t>(reads.flag[first] & ~left_out));
    region.mapq.push_back(reads.mapq[first]);
    region.start.push_back(start);
    region.end.push_back(end);
    region.length.push_back(length);
    region.members.push_back(behind - begin);
    region.fragment.push_back(joined.fragment[profile]);
}

}  // namespace pairhmm
