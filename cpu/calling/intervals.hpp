// Intervals of a contig that are wanted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pairhmm {

// Intervals [start, end) of one contig: the whole contig until `limit_to` is called.
class Intervals {
public:
    // `intervals` are in order and do not overlap.
    void limit_to(std::vector<std::pair<int64_t, int64_t>> intervals) {
        intervals_ = std::move(intervals);
        are_everywhere_ = false;
    }
    void clear() { intervals_.clear(), are_everywhere_ = true; }

    bool have(int64_t position) const { return touch(position, position + 1); }
    // Whether [start, end) has a base of any interval.
    bool touch(int64_t start, int64_t end) const {
        if (are_everywhere_) return true;
        const auto behind = std::upper_bound(intervals_.begin(), intervals_.end(), start,
                                             [](int64_t at, const auto& interval) { return at < interval.second; });
        return behind != intervals_.end() && behind->first < end;
    }
    // The same for intervals in order of start, without a search. `from` begins as 0, and is the next call's.
    bool touch(int64_t start, int64_t end, size_t& from) const {
        if (are_everywhere_) return true;
        while (from < intervals_.size() && intervals_[from].second <= start) ++from;
        return from < intervals_.size() && intervals_[from].first < end;
    }

private:
    std::vector<std::pair<int64_t, int64_t>> intervals_;
    bool are_everywhere_ = true;
};

}  // namespace pairhmm
