// Intervals that are wanted, of a contig and of a genome.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
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

// Intervals of several contigs.
class GenomeIntervals {
public:
    // The whole genome.
    GenomeIntervals() = default;
    // The intervals of each contig are in order, and do not overlap.
    explicit GenomeIntervals(std::map<std::string, std::vector<std::pair<int64_t, int64_t>>> of_contig)
        : are_everywhere_(false) {
        for (auto& [chrom, intervals] : of_contig) of_contig_[chrom].limit_to(std::move(intervals));
    }

    bool have(const std::string& chrom, int64_t position) const {
        const auto of = of_contig_.find(chrom);
        return are_everywhere_ || (of != of_contig_.end() && of->second.have(position));
    }

private:
    std::map<std::string, Intervals> of_contig_;
    bool are_everywhere_ = true;
};

}  // namespace pairhmm
