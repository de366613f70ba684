// Reads text of FASTA and FASTQ (docs/scan.md), which comes in pieces of any size, into letters and
// qualities.
//
// A FASTA record that is longer than a block is given in parts. Each part begins with the last letters of the one
// before. A FASTQ record is always given whole, since its qualities follow all of its letters. One thread reads 320 MB
// of FASTQ in 0.25 s.
#pragma once

#include <cstdint>
#include <string>

#include "formats/sample_block.hpp"

namespace pairhmm {

// What is wrong with a record.
struct TextProblem {
    enum Kind { kNone, kNoRecord, kOtherFormat, kLetter, kQuality, kLengths, kCutOff };
    Kind kind = kNone;
    int64_t record = 0;  // 0-based number in the file
    std::string name;
    int64_t at = 0, value = 0;  // position and byte, or letters and qualities
};

class SampleText {
public:
    // set_of_letter[256]: what stands for a letter, 0 for none. overlap: letters that parts of a record share.
    // longest_held: letters of a FASTA record that is kept for the next block in order to be given whole.
    SampleText(const uint8_t* set_of_letter, int64_t overlap, int64_t longest_held);

    // Takes a piece of text, all of it; an empty one is the end. False where a record is not right.
    bool feed(const uint8_t* text, int64_t size);

    // What has come since the last block.
    SampleBlock take();

    const TextProblem& problem() const { return problem_; }

private:
    enum State { kBetween, kHeader, kLineStart, kSequence, kPlus, kQualities };

    const uint8_t* read_between(const uint8_t* at, const uint8_t* end);
    const uint8_t* read_header(const uint8_t* at, const uint8_t* end);
    const uint8_t* read_line_start(const uint8_t* at);
    const uint8_t* read_sequence(const uint8_t* at, const uint8_t* end);
    const uint8_t* read_plus(const uint8_t* at, const uint8_t* end);
    const uint8_t* read_qualities(const uint8_t* at, const uint8_t* end);
    void add_letters(const uint8_t* from, int64_t count);
    void add_qualities(const uint8_t* from, int64_t count);
    void end_quality_line();
    void end_record();
    void end_text();
    const uint8_t* fail(TextProblem::Kind kind, int64_t at, int64_t value);
    int64_t held() const { return static_cast<int64_t>(block_.letters.size()) - block_.offset.back(); }

    const uint8_t* set_of_letter_;
    int64_t overlap_, longest_held_;
    State state_ = kBetween;
    char format_ = 0;    // '>' or '@', once known
    SampleBlock block_;  // whole records, and behind the last offset what has come of the next one
    std::string name_;   // of the record that is being read
    bool name_ended_ = false;
    int64_t lines_ = 0;     // of its letters
    int64_t position_ = 0;  // of its first letter in block_
    TextProblem problem_;
};

}  // namespace pairhmm
