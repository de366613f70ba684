// Drops items of columns in place: what stays is moved forward, and memory stays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace pairhmm {

// The runs [first, second) of items that stay, in order.
using KeptRuns = std::vector<std::pair<int64_t, int64_t>>;

template <class Predicate>
KeptRuns kept_runs(int64_t count, Predicate&& is_kept) {
    KeptRuns runs;
    for (int64_t first = 0, last; first < count; first = last + 1) {
        for (last = first; last < count && is_kept(last);) ++last;
        if (first < last) runs.emplace_back(first, last);
    }
    return runs;
}

// Of values that items have, or letters of a text.
template <class Values>
void keep(Values& values, const KeptRuns& runs) {
    auto to = values.begin();
    for (const auto& [first, last] : runs) to = std::move(values.begin() + first, values.begin() + last, to);
    values.erase(to, values.end());
}

// Runs of what items have many of, by where those of each begin: [items + 1].
inline KeptRuns parts_of(const KeptRuns& runs, const std::vector<int64_t>& offset) {
    KeptRuns parts;
    for (const auto& [first, last] : runs) parts.emplace_back(offset[first], offset[last]);
    return parts;
}

// The same by where they end: [items].
inline KeptRuns ended_parts(const KeptRuns& runs, const std::vector<int64_t>& end) {
    KeptRuns parts;
    for (const auto& [first, last] : runs) parts.emplace_back(first ? end[first - 1] : 0, end[last - 1]);
    return parts;
}

// Of where the parts of items end.
inline void keep_ends(std::vector<int64_t>& end, const KeptRuns& runs) {
    const KeptRuns parts = ended_parts(runs, end);
    int64_t total = 0;
    for (size_t run = 0; run < runs.size(); ++run) {
        const int64_t moved = parts[run].first - total;
        for (int64_t i = runs[run].first; i < runs[run].second; ++i) end[i] -= moved;
        total += parts[run].second - parts[run].first;
    }
    keep(end, runs);
}

inline void keep_offsets(std::vector<int64_t>& offset, const KeptRuns& runs) {
    offset.erase(offset.begin());
    keep_ends(offset, runs);
    offset.insert(offset.begin(), 0);
}

}  // namespace pairhmm
