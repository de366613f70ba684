#include "calling/read_store.hpp"

#include <algorithm>
#include <utility>

#include "calling/kept_runs.hpp"

namespace pairhmm {

ReadEnds::ReadEnds(const Reads& reads) {
    end_.reserve(static_cast<size_t>(reads.count));
    highest_.reserve(static_cast<size_t>(reads.count));
    int64_t highest = 0;
    for (int64_t read = 0; read < reads.count; ++read) {
        end_.push_back(read_end(reads, read));
        highest = std::max(highest, end_.back());
        highest_.push_back(highest);
    }
}

int64_t ReadEnds::first_behind(int64_t position) const {
    return std::upper_bound(highest_.begin(), highest_.end(), position) - highest_.begin();
}

Reads ReadStore::reads() const {
    return {static_cast<int64_t>(start_.size()),
            start_.data(),
            sample_.data(),
            base_offset_.data(),
            base_.data(),
            quality_.data(),
            cigar_offset_.data(),
            cigar_.data()};
}

void ReadStore::forget(const ReadEnds& ends, int64_t position) {
    const auto count = static_cast<int64_t>(start_.size());
    const KeptRuns runs = kept_runs(count, [&](int64_t read) { return ends.of(read) > position; });
    if (runs == KeptRuns{{0, count}}) return;
    const KeptRuns bases = parts_of(runs, base_offset_);
    keep(base_, bases);
    keep(quality_, bases);
    keep(cigar_, parts_of(runs, cigar_offset_));
    for (auto* offset : {&base_offset_, &cigar_offset_}) keep_offsets(*offset, runs);
    keep(start_, runs);
    keep(sample_, runs);
}

void ReadStore::add(const EndedReads& block, int64_t position) {
    for (int64_t read = block.ends->first_behind(position); read < block.reads->count; ++read)
        if (block.ends->of(read) > position) append(*block.reads, read);
}

void ReadStore::clear() {
    for (auto* offset : {&base_offset_, &cigar_offset_}) offset->assign(1, 0);
    start_.clear(), sample_.clear(), base_.clear(), quality_.clear(), cigar_.clear();
}

void ReadStore::append(const Reads& reads, int64_t read) {
    const int64_t base = reads.base_offset[read], base_end = reads.base_offset[read + 1];
    const int64_t cigar = reads.cigar_offset[read], cigar_end = reads.cigar_offset[read + 1];
    start_.push_back(reads.start[read]);
    sample_.push_back(reads.sample[read]);
    base_.insert(base_.end(), reads.base + base, reads.base + base_end);
    quality_.insert(quality_.end(), reads.quality + base, reads.quality + base_end);
    cigar_.insert(cigar_.end(), reads.cigar + cigar, reads.cigar + cigar_end);
    base_offset_.push_back(base_offset_.back() + base_end - base);
    cigar_offset_.push_back(cigar_offset_.back() + cigar_end - cigar);
}

}  // namespace pairhmm
