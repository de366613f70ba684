#include "calling/over_origin.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "calling/cigar.hpp"
#include "calling/letters.hpp"

namespace pairhmm {

namespace {

// bwa mem's costs: it rewards an alignment that reaches the end of the read.
constexpr int32_t kMatchScore = 1, kMismatch = -4, kGapOpen = -6, kGapExtend = -1, kWholeQuery = 5;
constexpr int32_t kNever = std::numeric_limits<int32_t>::min() / 2;
constexpr int64_t kLongestGap = 60;

int32_t score_of(char query, char target) {
    if (query == kCodeOfN) return 0;
    return query == target ? kMatchScore : kMismatch;
}

void add(std::vector<uint32_t>& cigar, uint32_t operation, int64_t length) {
    if (length == 0) return;
    if (!cigar.empty() && (cigar.back() & 15) == operation) cigar.back() += static_cast<uint32_t>(length << 4);
    else cigar.push_back(static_cast<uint32_t>(length << 4 | operation));
}

// Scores of alignments that end at a cell of a band around the diagonal (Gotoh's recurrence), and how each was reached.
class ExtensionTable {
public:
    ExtensionTable(const std::string& query, const std::string& target)
        : query_(query), target_(target), from_((query.size() + 1) * kWidth) {
        matched_.assign(kWidth, kNever);
        inserted_ = deleted_ = matched_;
        fill_first();
        for (int64_t row = 1; row <= rows(); ++row) fill(row);
    }

    Extension best() const {
        std::vector<uint32_t> reversed;
        add(reversed, kSoftClip, rows() - best_row_);
        int64_t row = best_row_, target = best_target_;
        for (uint8_t state = kAligned; row > 0 || target > 0;) {
            const uint8_t from = from_[static_cast<size_t>(row * kWidth + target - row + kLongestGap)];
            if (state == kAligned) state = from & 3;
            if (state == kAligned) {
                add(reversed, kMatch, 1);
                --row, --target;
            } else if (state == kInserting) {
                add(reversed, kInsert, 1);
                --row;
                if (!(from & kMoreInserted)) state = kAligned;
            } else {
                add(reversed, kDelete, 1);
                --target;
                if (!(from & kMoreDeleted)) state = kAligned;
            }
        }
        return {{reversed.rbegin(), reversed.rend()}, best_target_};
    }

private:
    static constexpr int64_t kWidth = 2 * kLongestGap + 1;
    enum : uint8_t { kAligned, kInserting, kDeleting, kMoreInserted = 4, kMoreDeleted = 8 };

    int64_t rows() const { return static_cast<int64_t>(query_.size()); }
    bool is_inside(int64_t target) const { return target >= 0 && target <= static_cast<int64_t>(target_.size()); }

    void fill_first() {
        matched_[kLongestGap] = 0;
        for (int64_t target = 1; target <= kLongestGap && is_inside(target); ++target) {
            const auto at = static_cast<size_t>(target + kLongestGap);
            matched_[at] = deleted_[at] = kGapOpen + static_cast<int32_t>(target) * kGapExtend;
            from_[at] = kDeleting | (target > 1 ? kMoreDeleted : 0);
        }
    }

    // A column is a diagonal: the cell before in the query is one to the right in the row before.
    void fill(int64_t row) {
        const char letter = query_[static_cast<size_t>(row - 1)];
        for (int64_t column = 0; column < kWidth; ++column) {
            const auto at = static_cast<size_t>(column);
            const int64_t target = row + column - kLongestGap;
            if (!is_inside(target)) {
                matched_[at] = inserted_[at] = deleted_[at] = kNever;
                continue;
            }
            const bool is_last = column + 1 == kWidth;
            const int32_t opened = is_last ? kNever : matched_[at + 1] + kGapOpen + kGapExtend;
            const int32_t longer = is_last ? kNever : inserted_[at + 1] + kGapExtend;
            const int32_t deleting = column == 0 ? kNever : matched_[at - 1] + kGapOpen + kGapExtend;
            const int32_t deleted = column == 0 ? kNever : deleted_[at - 1] + kGapExtend;
            const int32_t aligned =
                target == 0 ? kNever : matched_[at] + score_of(letter, target_[static_cast<size_t>(target - 1)]);
            inserted_[at] = std::max(opened, longer);
            deleted_[at] = std::max(deleting, deleted);
            matched_[at] = std::max({aligned, inserted_[at], deleted_[at]});
            uint8_t from = matched_[at] == aligned ? kAligned : matched_[at] == inserted_[at] ? kInserting : kDeleting;
            if (longer > opened) from |= kMoreInserted;
            if (deleted > deleting) from |= kMoreDeleted;
            from_[static_cast<size_t>(row * kWidth + column)] = from;
            note(row, target, matched_[at]);
        }
    }

    void note(int64_t row, int64_t target, int32_t score) {
        if (row == rows()) score += kWholeQuery;
        if (score <= best_score_) return;
        best_score_ = score;
        best_row_ = row;
        best_target_ = target;
    }

    const std::string &query_, &target_;
    std::vector<uint8_t> from_;                          // [query + 1][band]
    std::vector<int32_t> matched_, inserted_, deleted_;  // [band] of the last row
    int32_t best_score_ = 0;
    int64_t best_row_ = 0, best_target_ = 0;
};

// A read's clips, and whether an alignment of them would lead over the origin.
struct Clips {
    int64_t leading = 0, trailing = 0;

    Clips(const Reads& reads, int64_t read) {
        const auto [first, last] = unclipped_bases(reads, read);
        leading = first;
        trailing = reads.base_offset[read + 1] - reads.base_offset[read] - last;
    }
};

std::string codes(const uint8_t* first, const uint8_t* last) {
    std::string letters(first, last);
    for (char& letter : letters) letter = std::min(letter, static_cast<char>(kCodeOfN));
    return letters;
}

std::string codes(std::string letters) {
    for (char& letter : letters) letter = static_cast<char>(code_of(letter));
    return letters;
}

// The operations of a read between its clips.
std::vector<uint32_t> aligned_part(const Reads& reads, int64_t read) {
    std::vector<uint32_t> cigar;
    for (int64_t i = reads.cigar_offset[read]; i < reads.cigar_offset[read + 1]; ++i)
        if (const uint32_t operation = reads.cigar[i] & 15; operation != kSoftClip && operation != kHardClip)
            add(cigar, operation, reads.cigar[i] >> 4);
    return cigar;
}

void append(std::vector<uint32_t>& cigar, const std::vector<uint32_t>& more) {
    for (const uint32_t packed : more) add(cigar, packed & 15, packed >> 4);
}

// With its last bases aligned behind the origin.
std::optional<ReadOverOrigin> extended_right(const Reads& reads, int64_t read, int64_t end, const Clips& clips,
                                             const std::string& chrom, int64_t length, ReferenceBases& unrolled) {
    const uint8_t* last = reads.base + reads.base_offset[read + 1];
    const int64_t reach = std::min(end + clips.trailing + kLongestGap, reads.start[read] + length);
    const std::string target = codes(unrolled.fetch(chrom, end, reach));
    const Extension extension = extend_clip(codes(last - clips.trailing, last), target);
    if (end + extension.target <= length) return {};
    std::vector<uint32_t> cigar;
    add(cigar, kSoftClip, clips.leading);
    append(cigar, aligned_part(reads, read));
    append(cigar, extension.cigar);
    return ReadOverOrigin{read, reads.start[read], end + extension.target, std::move(cigar)};
}

// With its first bases aligned before the origin.
std::optional<ReadOverOrigin> extended_left(const Reads& reads, int64_t read, int64_t end, const Clips& clips,
                                            const std::string& chrom, int64_t length, ReferenceBases& unrolled) {
    const uint8_t* first = reads.base + reads.base_offset[read];
    const int64_t start = reads.start[read] + length;
    const int64_t reach = std::max(start - clips.leading - kLongestGap, end);
    std::string query = codes(first, first + clips.leading), target = codes(unrolled.fetch(chrom, reach, start));
    std::reverse(query.begin(), query.end());
    std::reverse(target.begin(), target.end());
    Extension extension = extend_clip(query, target);
    if (start - extension.target >= length) return {};
    std::reverse(extension.cigar.begin(), extension.cigar.end());
    append(extension.cigar, aligned_part(reads, read));
    add(extension.cigar, kSoftClip, clips.trailing);
    return ReadOverOrigin{read, start - extension.target, end + length, std::move(extension.cigar)};
}

std::optional<ReadOverOrigin> over_origin(const Reads& reads, int64_t read, int64_t end, const std::string& chrom,
                                          int64_t length, ReferenceBases& unrolled) {
    if (end > length) {
        const uint32_t* cigar = reads.cigar + reads.cigar_offset[read];
        return ReadOverOrigin{read, reads.start[read], end, {cigar, reads.cigar + reads.cigar_offset[read + 1]}};
    }
    const Clips clips(reads, read);
    if (length - end <= kNearOrigin && end + clips.trailing > length)
        if (auto found = extended_right(reads, read, end, clips, chrom, length, unrolled)) return found;
    if (reads.start[read] <= kNearOrigin && clips.leading > reads.start[read])
        return extended_left(reads, read, end, clips, chrom, length, unrolled);
    return {};
}

}  // namespace

Extension extend_clip(const std::string& query, const std::string& target) {
    return ExtensionTable(query, target).best();
}

std::vector<ReadOverOrigin> reads_over_origin(const Reads& reads, const int64_t* end, const std::string& chrom,
                                              int64_t length, ReferenceBases& unrolled) {
    std::vector<ReadOverOrigin> found;
    for (int64_t read = 0; read < reads.count; ++read)
        if (auto one = over_origin(reads, read, end[read], chrom, length, unrolled)) found.push_back(std::move(*one));
    return found;
}

}  // namespace pairhmm
