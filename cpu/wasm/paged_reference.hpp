// The reference genome in pages that JavaScript hands over: the core asks for bases at once, and JavaScript reads files
// later. What is not there yet is N, and is noted; what was computed with it has to be computed again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "calling/region_sources.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

class PagedReference final : public ReferenceBases {
public:
    // In place of a base that can't be read. It is an error only where the core needs that base.
    static constexpr char kUnreadable = '\0';

    void add_contig(const std::string& name, int64_t length) {
        number_.emplace(name, static_cast<int32_t>(length_.size()));
        length_.push_back(length);
    }

    std::string fetch(const std::string& chrom, int64_t start, int64_t end) override {
        const int32_t contig = number_.at(chrom);
        std::tie(start, end) = clamped(contig, start, end);
        std::string bases;
        bases.reserve(static_cast<size_t>(std::max<int64_t>(0, end - start)));
        for (int64_t at = start; at < end; at = first_of(number_of(at) + 1)) {
            const int64_t stop = std::min(end, first_of(number_of(at) + 1));
            if (const std::string* page = page_at(contig, at)) bases.append(*page, at % kPage, stop - at);
            else bases.append(stop - at, 'N');
        }
        for (size_t i = bases.find(kUnreadable); i != std::string::npos; i = bases.find(kUnreadable, i)) {
            const int64_t at = start + static_cast<int64_t>(i);
            unreadable_.insert({contig, at, at + 1});
            bases[i] = 'N';
        }
        return bases;
    }

    // Notes the pages of an interval that are not there: they will be needed.
    void want(const std::string& chrom, int64_t start, int64_t end) {
        const int32_t contig = number_.at(chrom);
        std::tie(start, end) = clamped(contig, start, end);
        for (int64_t at = start; at < end; at = first_of(number_of(at) + 1)) page_at(contig, at);
    }

    // Takes what is missing, or a part of it.
    void put(int32_t contig, int64_t start, std::string_view bases) {
        const int64_t end = start + static_cast<int64_t>(bases.size());
        for (int64_t at = start; at < end; at = first_of(number_of(at) + 1)) {
            const int64_t first = at % kPage, count = std::min(end, first_of(number_of(at) + 1)) - at;
            Page& page = pages_[{contig, number_of(at)}];
            page.bases.resize(std::max<size_t>(page.bases.size(), first + count));
            page.bases.replace(first, count, bases.substr(at - start, count));
            page.round = round_;
        }
    }

    bool lacks() const { return !missing_.empty() || !unreadable_.empty(); }

    // The intervals that are missing: contig, start, end, and whether the base is needed, although it can't be read. Of
    // that one is sure once no page is missing. Some pages that follow each other are one interval.
    std::vector<int32_t> take_missing() {
        const std::set<Missing>& missing = missing_.empty() ? unreadable_ : missing_;
        std::vector<int32_t> intervals;
        for (const auto& [contig, start, end] : missing) {
            const size_t size = intervals.size();
            if (size && intervals[size - 4] == contig && intervals[size - 2] == start &&
                end - intervals[size - 3] <= kLongest)
                intervals[size - 2] = static_cast<int32_t>(end);
            else
                intervals.insert(intervals.end(),
                                 {contig, static_cast<int32_t>(start), static_cast<int32_t>(end), missing_.empty()});
        }
        missing_.clear();
        unreadable_.clear();
        return intervals;
    }

    // Begins a round: what is wanted or used from now on counts as needed.
    void begin_round() { ++round_; }

    // Drops pages that this round does not need, but for the last ones: regions may wait there.
    void forget() {
        const auto is_old = [&](const auto& page) { return page.second.round < round_; };
        auto old = static_cast<size_t>(std::count_if(pages_.begin(), pages_.end(), is_old));
        for (auto page = pages_.begin(); old > kKept;) {
            old -= is_old(*page);
            page = is_old(*page) ? pages_.erase(page) : std::next(page);
        }
    }

private:
    static constexpr int64_t kPage = 1 << 10;
    static constexpr int64_t kLongest = 1 << 16;
    static constexpr size_t kKept = 1 << 11;
    using Missing = std::tuple<int32_t, int64_t, int64_t>;  // contig, start, end
    struct Page {
        std::string bases;
        int64_t round = 0;  // that used it last
    };

    static int64_t number_of(int64_t position) { return position / kPage; }
    static int64_t first_of(int64_t page) { return page * kPage; }

    std::pair<int64_t, int64_t> clamped(int32_t contig, int64_t start, int64_t end) const {
        return {std::max<int64_t>(0, start), std::min(end, length_[contig])};
    }

    const std::string* page_at(int32_t contig, int64_t position) {
        const int64_t number = number_of(position);
        const auto page = pages_.find({contig, number});
        if (page == pages_.end()) {
            missing_.insert({contig, first_of(number), std::min(first_of(number + 1), length_[contig])});
            return nullptr;
        }
        page->second.round = round_;
        return &page->second.bases;
    }

    std::map<std::string, int32_t> number_;
    std::vector<int64_t> length_;
    std::map<std::pair<int32_t, int64_t>, Page> pages_;
    std::set<Missing> missing_, unreadable_;
    int64_t round_ = 0;
};

}  // namespace pairhmm
