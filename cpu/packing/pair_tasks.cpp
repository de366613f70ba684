#include "packing/pair_tasks.hpp"

#include <algorithm>

namespace pairhmm {
namespace {

constexpr int64_t kPairsEach = 1 << 11;  // pairs that a thread takes at once

// Whether any of the bits [first, end) is set.
bool is_any_set(const uint32_t* bits, int64_t first, int64_t end) {
    for (int64_t at = first; at < end;) {
        const int64_t word_end = std::min(end, (at / 32 + 1) * 32);
        const uint64_t mask = (uint64_t{1} << (word_end - at)) - 1;
        if (bits[at / 32] >> at % 32 & mask) return true;
        at = word_end;
    }
    return false;
}

}  // namespace

PairTasks::PairTasks(int64_t pairs, const PackedSequences& queries, const PackedSequences& targets,
                     const PairClasses& classes, Team& team)
    : pairs_(pairs), queries_(queries), targets_(targets), classes_(classes) {
    for (size_t c = 0; c + 1 < classes_.rows.size(); ++c) {
        class_of_rows_.resize(static_cast<size_t>(classes_.rows[c]) + 1, static_cast<uint8_t>(c));
    }
    shares_.resize(static_cast<size_t>((pairs + kPairsEach - 1) / kPairsEach));
    const int64_t shares = static_cast<int64_t>(shares_.size());
    team.run(shares, 1, team.size(), [&](int64_t share, int64_t) { look_at(share); });
    int64_t tasks = 0;
    for (size_t c = 0; c < classes_.rows.size(); ++c) {
        first_task_.push_back(tasks), first_slot_.push_back(slots_);
        const int64_t size = classes_.pairs_of_task[c];
        for (const Share& share : shares_) {
            const int64_t of_share = (share.counts[c] + size - 1) / size;
            tasks += of_share, slots_ += of_share * size;
        }
    }
    first_task_.push_back(tasks), first_slot_.push_back(slots_);
    longest_rows_.resize(classes_.rows.size()), longest_columns_.resize(classes_.rows.size());
    for (const Share& share : shares_) {
        for (size_t c = 0; c < classes_.rows.size(); ++c) {
            longest_rows_[c] = std::max(longest_rows_[c], share.longest_rows[c]);
            longest_columns_[c] = std::max(longest_columns_[c], share.longest_columns[c]);
        }
    }
}

bool PairTasks::has_unknown(const PackedSequences& of, int64_t i) const {
    if (!of.unknown) return false;
    const int64_t* offset = of.offset + of.index[i];
    return is_any_set(of.unknown, offset[0] - of.base, offset[1] - of.base);
}

DevicePair PairTasks::pair(int64_t i) const {
    const int64_t *query = queries_.offset + queries_.index[i], *target = targets_.offset + targets_.index[i];
    const auto query_letter = static_cast<uint32_t>(query[0] - queries_.base),
               target_letter = static_cast<uint32_t>(target[0] - targets_.base),
               query_letters = static_cast<uint32_t>(query[1] - query[0]),
               target_letters = static_cast<uint32_t>(target[1] - target[0]);
    const bool swapped = classes_.rows_are == PairClasses::kTarget ||
                         (classes_.rows_are == PairClasses::kShorter && target_letters < query_letters);
    if (swapped) return {target_letter, target_letters, query_letter, query_letters};
    return {query_letter, query_letters, target_letter, target_letters};
}

void PairTasks::look_at(int64_t number) {
    Share& share = shares_[static_cast<size_t>(number)];
    const auto& heights = classes_.rows;
    share.counts.resize(heights.size());
    share.longest_rows.resize(heights.size()), share.longest_columns.resize(heights.size());
    const int64_t first = number * kPairsEach, end = std::min(first + kPairsEach, pairs_);
    share.keys.reserve(static_cast<size_t>(end - first));
    for (int64_t i = first; i < end; ++i) {
        const DevicePair one = pair(i);
        const int64_t shorter = std::min(one.rows, one.columns);
        if (shorter == 0 || classes_.per_letter * shorter + classes_.per_row * one.rows > classes_.most ||
            has_unknown(queries_, i) || has_unknown(targets_, i)) {
            share.left.push_back(static_cast<int32_t>(i));
            continue;
        }
        const uint64_t c = one.rows < class_of_rows_.size() ? class_of_rows_[one.rows] : heights.size() - 1;
        ++share.counts[c];
        share.longest_rows[c] = std::max<int64_t>(share.longest_rows[c], one.rows);
        share.longest_columns[c] = std::max<int64_t>(share.longest_columns[c], one.columns);
        const uint64_t columns = std::min<uint64_t>(one.columns, 0xffffffff);
        share.keys.push_back(c << 56 | (0xffffffff - columns) << 16 | static_cast<uint64_t>(i - first));
    }
    if (!std::is_sorted(share.keys.begin(), share.keys.end())) std::sort(share.keys.begin(), share.keys.end());
}

std::vector<int32_t> PairTasks::left() const {
    std::vector<int32_t> all;
    for (const Share& share : shares_) all.insert(all.end(), share.left.begin(), share.left.end());
    return all;
}

void PairTasks::write(DevicePair* pairs, uint32_t* index, Team& team) const {
    // Where each share's pairs of a class begin.
    const size_t count = classes_.rows.size();
    std::vector<int64_t> begin(shares_.size() * count);
    int64_t slot = 0;
    for (size_t c = 0; c < count; ++c) {
        const int64_t size = classes_.pairs_of_task[c];
        for (size_t s = 0; s < shares_.size(); ++s) {
            begin[s * count + c] = slot;
            slot += (shares_[s].counts[c] + size - 1) / size * size;
        }
    }
    team.run(static_cast<int64_t>(shares_.size()), 1, team.size(), [&](int64_t number, int64_t) {
        const auto s = static_cast<size_t>(number);
        const Share& share = shares_[s];
        size_t key = 0;
        for (size_t c = 0; c < count; ++c) {
            int64_t at = begin[s * count + c];
            for (int64_t k = 0; k < share.counts[c]; ++k, ++key, ++at) {
                const int64_t i = number * kPairsEach + static_cast<int64_t>(share.keys[key] & 0xffff);
                pairs[at] = pair(i);
                index[at] = static_cast<uint32_t>(i);
            }
            for (; share.counts[c] > 0 && (at - begin[s * count + c]) % classes_.pairs_of_task[c]; ++at) {
                pairs[at] = pairs[at - 1];
                index[at] = ~uint32_t{0};
            }
        }
    });
}

}  // namespace pairhmm
