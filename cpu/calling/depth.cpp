#include "calling/depth.hpp"

#include <algorithm>

#include "calling/cigar.hpp"
#include "calling/letters.hpp"

namespace pairhmm {

namespace {

constexpr uint16_t kPaired = 0x1, kMateUnmapped = 0x8;

}  // namespace

void DepthCounter::add(const AlignedReads& reads, uint32_t* depth, int64_t length) {
    if (reads.reads.count) forget_before(reads.reads.start[0]);
    for (int64_t read = 0; read < reads.reads.count; ++read)
        if (reads.reads.sample[read] == sample_) add_read(reads, read, depth, length);
}

void DepthCounter::add_read(const AlignedReads& reads, int64_t read, uint32_t* depth, int64_t length) {
    const bool is_paired = (reads.flag[read] & kPaired) && !(reads.flag[read] & kMateUnmapped);
    if (!is_paired) {
        visit_bases(reads.reads, read, length, [&](int64_t position) { ++depth[position]; });
        return;
    }
    const auto [place, is_first] = first_mates_.try_emplace(std::string(reads.name(read)));
    FirstMate& mate = place->second;
    const int64_t start = reads.reads.start[read];
    // A read over the origin of a circle is there twice, and its mate between the two: it belongs to the one it
    // overlaps.
    if (!is_first && start < mate.end()) {
        visit_bases(reads.reads, read, length, [&](int64_t position) { depth[position] += !mate.has(position); });
        first_mates_.erase(place);
        return;
    }
    mate.start = start;
    mate.counted.assign(read_end(reads.reads, read) - start, false);
    visit_bases(reads.reads, read, length, [&](int64_t position) {
        ++depth[position];
        mate.counted[position - mate.start] = true;
    });
}

template <class Visit>
void DepthCounter::visit_bases(const Reads& reads, int64_t read, int64_t length, Visit visit) const {
    each_aligned(reads, read, [&](int64_t query, int64_t position, int64_t bases) {
        const int64_t at = reads.base_offset[read] + query;
        const int64_t first = std::max<int64_t>(0, -position), last = std::min(bases, length - position);
        for (int64_t i = first; i < last; ++i)
            if (reads.quality[at + i] >= min_quality_ && reads.base[at + i] < kCodeOfN) visit(position + i);
    });
}

// Pairs whose first mate ends before `position` can't overlap any more.
void DepthCounter::forget_before(int64_t position) {
    for (auto mate = first_mates_.begin(); mate != first_mates_.end();)
        mate = mate->second.end() <= position ? first_mates_.erase(mate) : std::next(mate);
}

}  // namespace pairhmm
