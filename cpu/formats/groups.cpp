#include "formats/groups.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "formats/phred.hpp"
#include "threads/std_threads.hpp"

namespace pairhmm {
namespace {

constexpr uint8_t kHighestAscii = 127;  // Phred+33 is text; a byte beyond ASCII is no quality
constexpr uint8_t kNoCode = 0x80;       // codes are small: this bit is set in the mark of letters that have none
constexpr int64_t kMostLines = int64_t{1} << 59;
constexpr int64_t kReadsPerShare = 512;

// What str.split takes as white space, of ASCII.
bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f); }

const uint8_t* find(const uint8_t* begin, const uint8_t* end, char c) {
    const void* found = begin == end ? nullptr : std::memchr(begin, c, static_cast<size_t>(end - begin));
    return found == nullptr ? end : static_cast<const uint8_t*>(found);
}

// The fields of a line, of which the first `most` are kept. Returns how many there are, most + 1 for more than that.
int split(TextSpan line, TextSpan* fields, int most) {
    int count = 0;
    for (const uint8_t* at = line.begin;; ++count) {
        at = std::find_if_not(at, line.end, is_space);
        if (at == line.end || count > most) return count;
        const uint8_t* begin = at;
        at = std::find_if(at, line.end, is_space);
        if (count < most) fields[count] = {begin, at};
    }
}

// Counts are capped where no file has as many lines.
bool parse_count(TextSpan field, int64_t& count) {
    count = 0;
    for (const uint8_t* at = field.begin; at < field.end; ++at) {
        if (*at < '0' || *at > '9') return false;
        count = std::min(kMostLines, 10 * count + (*at - '0'));
    }
    return true;
}

// Phred qualities of a field; false where a character is no quality.
bool unpack_qualities(const uint8_t* from, int64_t length, uint8_t* to) {
    uint8_t highest = 0;
    for (int64_t i = 0; i < length; ++i) {
        to[i] = static_cast<uint8_t>(from[i] - kPhredOffset);
        highest = std::max(highest, to[i]);
    }
    return highest <= kHighestAscii - kPhredOffset;
}

bool unpack_letters(const uint8_t* code, const uint8_t* from, int64_t length, uint8_t* to) {
    uint8_t seen = 0;
    for (int64_t i = 0; i < length; ++i) seen |= to[i] = code[from[i]];
    return (seen & kNoCode) == 0;
}

}  // namespace

GroupsText::GroupsText(TextSpan text, bool is_end)
    : text_(text), is_end_(is_end), at_(text.begin), newline_(find(text.begin, text.end, '\n')) {
    for (TextSpan line; next_line(line);) {
        TextSpan fields[2];
        const int count = split(line, fields, 2);
        if (count > 0) {
            int64_t reads, haplotypes;
            broken_ = count != 2 || !parse_count(fields[0], reads) || !parse_count(fields[1], haplotypes);
            if (broken_ || !take_group(reads, haplotypes)) break;
            lines_ += reads + haplotypes;
        }
        ++lines_;
        end_ = at_ - text_.begin;
    }
    read_.resize(static_cast<size_t>(reads()));
    haplotype_.resize(static_cast<size_t>(haplotypes()));
    for (const auto& read : read_) bases_ += read.length;
    for (const auto& haplotype : haplotype_) letters_ += haplotype.size();
}

// A line without what ends it: '\n', '\r' or both.
bool GroupsText::next_line(TextSpan& line) {
    if (at_ == text_.end) return false;
    if (newline_ < at_) newline_ = find(at_, text_.end, '\n');
    line = {at_, find(at_, newline_, '\r')};
    // A '\n' may follow a '\r' that ends the buffer, and the rest of a line may follow anything else.
    if (!is_end_ && newline_ == text_.end && text_.end - line.end <= 1) return false;
    at_ = line.end;
    if (at_ != text_.end && *at_ == '\r') ++at_;
    if (at_ != text_.end && at_ == newline_) ++at_;
    return true;
}

// The lines of a group, kept; false where the buffer ends before it, or a line is broken.
bool GroupsText::take_group(int64_t reads, int64_t haplotypes) {
    TextSpan line;
    for (int64_t i = 0; i < reads; ++i) {
        if (!next_line(line)) return false;
        if (broken_ = !split_read(line, read_.emplace_back()); broken_) return false;
    }
    for (int64_t i = 0; i < haplotypes; ++i) {
        if (!next_line(line)) return false;
        if (broken_ = split(line, &haplotype_.emplace_back(), 1) != 1; broken_) return false;
    }
    group_read_.push_back(group_read_.back() + reads);
    group_haplotype_.push_back(group_haplotype_.back() + haplotypes);
    return true;
}

bool GroupsText::split_read(TextSpan line, ReadLine& read) {
    // Nearly all lines have one space between fields. A space within a field has no code and is no quality: `unpack`
    // sees it.
    const int64_t length = find(line.begin, line.end, ' ') - line.begin, stride = length + 1;
    const uint8_t* at = line.begin;
    if (length > 0 && line.size() == 5 * stride - 1 && at[2 * stride - 1] == ' ' && at[3 * stride - 1] == ' ' &&
        at[4 * stride - 1] == ' ') {
        read = {{at, at + stride, at + 2 * stride, at + 3 * stride, at + 4 * stride}, length};
        return true;
    }
    TextSpan fields[5];
    if (split(line, fields, 5) != 5) return false;
    read.length = fields[0].size();
    for (int i = 0; i < 5; ++i) {
        if (fields[i].size() != read.length) return false;
        read.field[i] = fields[i].begin;
    }
    return true;
}

bool GroupsText::unpack(const uint8_t* code, int threads, const GroupArrays& to) const {
    std::copy(group_read_.begin(), group_read_.end(), to.group_read);
    std::copy(group_haplotype_.begin(), group_haplotype_.end(), to.group_haplotype);
    to.read_offset[0] = to.haplotype_offset[0] = 0;
    for (size_t r = 0; r < read_.size(); ++r) to.read_offset[r + 1] = to.read_offset[r] + read_[r].length;
    for (size_t h = 0; h < haplotype_.size(); ++h)
        to.haplotype_offset[h + 1] = to.haplotype_offset[h] + haplotype_[h].size();

    std::atomic<bool> valid{true};
    run_shares(reads(), kReadsPerShare, threads, [&](int64_t first, int64_t end) {
        bool all = true;
        for (int64_t r = first; r < end; ++r) {
            const ReadLine& read = read_[static_cast<size_t>(r)];
            uint8_t* column = to.columns + to.read_offset[r];
            all &= unpack_letters(code, read.field[0], read.length, column);
            for (int i = 1; i < 5; ++i) all &= unpack_qualities(read.field[i], read.length, column += bases_);
        }
        if (!all) valid = false;
    });
    run_shares(haplotypes(), kReadsPerShare, threads, [&](int64_t first, int64_t end) {
        for (int64_t h = first; h < end; ++h) {
            const TextSpan& letters = haplotype_[static_cast<size_t>(h)];
            if (!unpack_letters(code, letters.begin, letters.size(), to.haplotypes + to.haplotype_offset[h]))
                valid = false;
        }
    });
    return valid;
}

}  // namespace pairhmm
