#include "calling/circle_reads.hpp"

#include <algorithm>
#include <limits>

#include "calling/kept_runs.hpp"
#include "calling/over_origin.hpp"

namespace pairhmm {

namespace {

// Secondary and supplementary alignments: other parts of split reads, which are whole here.
constexpr uint16_t kParts = 0x100 | 0x800;

// Adds reads [first, last) of a block, so many bases further on.
void append_moved(const AlignedReads& reads, int64_t first, int64_t last, int64_t distance, ReadColumns& to) {
    to.append_run(reads, first, last);
    for (auto* positions : {&to.start, &to.end})
        std::for_each(positions->end() - (last - first), positions->end(),
                      [&](int64_t& position) { position += distance; });
}

void append_whole(const AlignedReads& reads, const ReadOverOrigin& one, ReadColumns& to) {
    to.append_run(reads, one.read, one.read + 1);
    to.start.back() = one.start;
    to.end.back() = one.end;
    to.cigar.resize(static_cast<size_t>(to.cigar_offset[to.cigar_offset.size() - 2]));
    to.cigar.insert(to.cigar.end(), one.cigar.begin(), one.cigar.end());
    to.cigar_offset.back() = static_cast<int64_t>(to.cigar.size());
}

}  // namespace

CircleReads::Places CircleReads::near_origin() const {
    const int64_t near = std::min(kNearOrigin + 1, length_), behind = std::max(near, length_ - near);
    Places places{{0, near}};
    if (behind < length_) places.emplace_back(behind, length_);
    return places;
}

void CircleReads::take_near_origin(const AlignedReads& reads, ReferenceBases& unrolled) {
    auto whole = std::make_shared<ReadColumns>(*whole_);
    for (const ReadOverOrigin& one : reads_over_origin(reads.reads, reads.end, chrom_, length_, unrolled))
        if (!(reads.flag[one.read] & kParts)) append_whole(reads, one, *whole);
    whole_ = std::move(whole);
}

CircleReads CircleReads::over(Places places) const {
    CircleReads circle = *this;
    circle.places_ = places;
    Intervals wanted;
    wanted.limit_to(std::move(places));
    for (int64_t distance : {int64_t{0}, length_})
        for (size_t read = 0; read < whole_->start.size(); ++read)
            if (const int64_t start = whole_->start[read] + distance; wanted.touch(start, whole_->end[read] + distance))
                circle.waiting_.push_back({start, static_cast<int64_t>(read), distance});
    std::stable_sort(circle.waiting_.begin(), circle.waiting_.end(),
                     [](const Waiting& a, const Waiting& b) { return a.start < b.start; });
    return circle;
}

CircleReads::Places CircleReads::on_turn(int turn) const {
    const int64_t begin = turn * length_;
    Places parts;
    for (const auto& [start, end] : places_)
        if (start < begin + length_ && end > begin)
            parts.emplace_back(std::max<int64_t>(start - begin, 0), std::min(end - begin, length_));
    return parts;
}

ReadColumns CircleReads::turned(const AlignedReads& reads, int turn, ReferenceBases& unrolled) {
    const std::vector<uint8_t> gone = are_gone(reads, unrolled);
    const int64_t distance = turn * length_, *start = reads.reads.start;
    ReadColumns all;
    for (auto [first, last] : kept_runs(reads.reads.count, [&](int64_t read) { return !gone[read]; })) {
        while (first < last) {
            add_waiting(start[first] + distance, all);
            const int64_t until = next_ < waiting_.size() ? waiting_[next_].start - distance : start[last - 1];
            const int64_t stop = std::upper_bound(start + first, start + last, until) - start;
            append_moved(reads, first, stop, distance, all);
            first = stop;
        }
    }
    return all;
}

ReadColumns CircleReads::rest() {
    ReadColumns all;
    add_waiting(std::numeric_limits<int64_t>::max(), all);
    return all;
}

// Of each read, whether it lies over the origin, or is a part of a split read.
std::vector<uint8_t> CircleReads::are_gone(const AlignedReads& reads, ReferenceBases& unrolled) const {
    std::vector<uint8_t> gone;
    for (int64_t read = 0; read < reads.reads.count; ++read) gone.push_back((reads.flag[read] & kParts) != 0);
    for (const ReadOverOrigin& one : reads_over_origin(reads.reads, reads.end, chrom_, length_, unrolled))
        gone[one.read] = 1;
    return gone;
}

// Adds the reads over the origin that begin before a position.
void CircleReads::add_waiting(int64_t before, ReadColumns& to) {
    for (; next_ < waiting_.size() && waiting_[next_].start < before; ++next_)
        append_moved(whole_->view(), waiting_[next_].read, waiting_[next_].read + 1, waiting_[next_].distance, to);
}

}  // namespace pairhmm
