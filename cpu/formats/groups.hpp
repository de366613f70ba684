// Text of `.in` groups (docs/formats.md): the whole groups of a buffer, and their letters and qualities.
//
// Lines and fields are split as by Python's text files and str.split, so that this reader and the one in
// pairhmm/forward/pair_texts.py accept the same files. This reader only detects that a file is faulty; the other one
// says what is wrong. s150 (README.md), 157 MB of text, takes 0.02 s to scan, and 0.03 s on one thread to unpack.
#pragma once

#include <cstdint>
#include <vector>

namespace pairhmm {

// A piece of the buffer, [begin, end).
struct TextSpan {
    const uint8_t* begin;
    const uint8_t* end;
    int64_t size() const { return end - begin; }
};

// The arrays of a PairBatch that groups are unpacked to. GroupsText gives their lengths.
struct GroupArrays {
    int64_t *group_read, *group_haplotype;    // [groups + 1]
    int64_t *read_offset, *haplotype_offset;  // [reads + 1], [haplotypes + 1]
    uint8_t* haplotypes;                      // codes[letters]
    uint8_t* columns;                         // [5][bases]: codes, then base, insertion, deletion and gap qualities
};

class GroupsText {
public:
    // Finds the whole groups at the beginning of a buffer; at the file's end a last line needs no newline.
    GroupsText(TextSpan text, bool is_end);

    int64_t groups() const { return static_cast<int64_t>(group_read_.size()) - 1; }
    int64_t reads() const { return group_read_.back(); }
    int64_t haplotypes() const { return group_haplotype_.back(); }
    int64_t bases() const { return bases_; }
    int64_t letters() const { return letters_; }

    // Bytes and lines of the whole groups and of the blank lines around them.
    int64_t end() const { return end_; }
    int64_t lines() const { return lines_; }

    // Whether the group behind them has a faulty line.
    bool is_broken() const { return broken_; }

    // Fills the arrays. Returns false where a letter has no code in code[256] or a character is no quality; the arrays
    // are then of no use.
    bool unpack(const uint8_t* code, int threads, const GroupArrays& to) const;

private:
    struct ReadLine {
        const uint8_t* field[5];
        int64_t length;  // of each field
    };

    bool next_line(TextSpan& line);
    bool take_group(int64_t reads, int64_t haplotypes);
    static bool split_read(TextSpan line, ReadLine& read);

    TextSpan text_;
    bool is_end_;
    const uint8_t* at_;       // the next line
    const uint8_t* newline_;  // the first '\n' from at_ on, or the end
    std::vector<ReadLine> read_;
    std::vector<TextSpan> haplotype_;
    std::vector<int64_t> group_read_{0}, group_haplotype_{0};
    int64_t bases_ = 0, letters_ = 0, end_ = 0, lines_ = 0;
    bool broken_ = false;
};

}  // namespace pairhmm
