#include "formats/samples.hpp"

#include <algorithm>
#include <cstring>

#include "formats/phred.hpp"

namespace pairhmm {
namespace {

constexpr uint8_t kHighestPhred = 93;  // '~', the last printable character

const uint8_t* find_newline(const uint8_t* at, const uint8_t* end) {
    const void* found = std::memchr(at, '\n', static_cast<size_t>(end - at));
    return found == nullptr ? end : static_cast<const uint8_t*>(found);
}

// Without the '\r' of a line that ends in "\r\n".
const uint8_t* trim(const uint8_t* begin, const uint8_t* end) { return begin < end && end[-1] == '\r' ? end - 1 : end; }

}  // namespace

SampleText::SampleText(const uint8_t* set_of_letter, int64_t overlap, int64_t longest_held)
    : set_of_letter_(set_of_letter), overlap_(overlap), longest_held_(longest_held) {}

bool SampleText::feed(const uint8_t* text, int64_t size) {
    const uint8_t* end = text + size;
    for (const uint8_t* at = text; at < end && problem_.kind == TextProblem::kNone;) {
        switch (state_) {
            case kBetween: at = read_between(at, end); break;
            case kHeader: at = read_header(at, end); break;
            case kLineStart: at = read_line_start(at); break;
            case kSequence: at = read_sequence(at, end); break;
            case kPlus: at = read_plus(at, end); break;
            case kQualities: at = read_qualities(at, end); break;
        }
    }
    if (size == 0 && problem_.kind == TextProblem::kNone) end_text();
    return problem_.kind == TextProblem::kNone;
}

const uint8_t* SampleText::read_between(const uint8_t* at, const uint8_t* end) {
    if (*at == '\n' || *at == '\r') return at + 1;
    if (*at != '>' && *at != '@') return fail(TextProblem::kNoRecord, 0, *at);
    if (format_ == 0) format_ = static_cast<char>(*at);
    if (*at != format_) return fail(TextProblem::kOtherFormat, 0, *at);
    name_.clear();
    name_ended_ = false;
    lines_ = position_ = 0;
    state_ = kHeader;
    return std::min(at + 1, end);
}

const uint8_t* SampleText::read_header(const uint8_t* at, const uint8_t* end) {
    const uint8_t* newline = find_newline(at, end);
    if (!name_ended_) {
        const uint8_t* blank = std::find_if(at, newline, [](uint8_t c) { return c <= ' '; });
        name_.append(reinterpret_cast<const char*>(at), static_cast<size_t>(blank - at));
        name_ended_ = blank != newline;
    }
    if (newline == end) return end;
    state_ = kLineStart;
    return newline + 1;
}

const uint8_t* SampleText::read_line_start(const uint8_t* at) {
    if (format_ == '>' && *at == '>') {
        end_record();
        return at;
    }
    if (format_ == '@' && *at == '+') {
        state_ = kPlus;
        return at + 1;
    }
    state_ = kSequence;
    return at;
}

const uint8_t* SampleText::read_sequence(const uint8_t* at, const uint8_t* end) {
    const uint8_t* newline = find_newline(at, end);
    add_letters(at, trim(at, newline) - at);
    if (newline == end) return end;
    ++lines_;
    state_ = kLineStart;
    return newline + 1;
}

const uint8_t* SampleText::read_plus(const uint8_t* at, const uint8_t* end) {
    const uint8_t* newline = find_newline(at, end);
    if (newline == end) return end;
    state_ = kQualities;
    return newline + 1;
}

const uint8_t* SampleText::read_qualities(const uint8_t* at, const uint8_t* end) {
    const uint8_t* newline = find_newline(at, end);
    add_qualities(at, trim(at, newline) - at);
    if (newline == end) return end;
    end_quality_line();
    return newline + 1;
}

void SampleText::add_letters(const uint8_t* from, int64_t count) {
    const size_t before = block_.letters.size();
    block_.letters.resize(before + static_cast<size_t>(count));
    uint8_t* to = block_.letters.data() + before;
    uint8_t lowest = 1;
    for (int64_t i = 0; i < count; ++i) lowest = std::min(lowest, to[i] = set_of_letter_[from[i]]);
    if (lowest != 0) return;
    const int64_t at = std::find(to, to + count, 0) - to;
    fail(TextProblem::kLetter, position_ + held() - count + at + 1, from[at]);
}

void SampleText::add_qualities(const uint8_t* from, int64_t count) {
    const size_t before = block_.qualities.size();
    block_.qualities.resize(before + static_cast<size_t>(count));
    uint8_t* to = block_.qualities.data() + before;
    uint8_t highest = 0;
    for (int64_t i = 0; i < count; ++i) {
        to[i] = static_cast<uint8_t>(from[i] - kPhredOffset);
        highest = std::max(highest, to[i]);
    }
    if (highest <= kHighestPhred) return;
    const int64_t at = std::find_if(to, to + count, [](uint8_t quality) { return quality > kHighestPhred; }) - to;
    fail(TextProblem::kQuality, static_cast<int64_t>(before) - block_.offset.back() + at + 1, from[at]);
}

// Qualities may take several lines if the letters do.
void SampleText::end_quality_line() {
    const int64_t qualities = static_cast<int64_t>(block_.qualities.size()) - block_.offset.back();
    if (qualities == held()) end_record();
    else if (qualities > held() || lines_ <= 1) fail(TextProblem::kLengths, held(), qualities);
}

void SampleText::end_record() {
    block_.offset.push_back(static_cast<int64_t>(block_.letters.size()));
    block_.names += name_;
    block_.name_end.push_back(static_cast<int64_t>(block_.names.size()));
    state_ = kBetween;
}

void SampleText::end_text() {
    const bool may_end = state_ == kBetween || (format_ == '>' && (state_ == kLineStart || state_ == kSequence));
    const bool has_qualities = static_cast<int64_t>(block_.qualities.size()) > block_.offset.back();
    if (state_ == kQualities && (has_qualities || held() == 0)) end_quality_line();
    else if (may_end && state_ != kBetween) end_record();
    if (state_ != kBetween && problem_.kind == TextProblem::kNone) fail(TextProblem::kCutOff, 0, 0);
}

const uint8_t* SampleText::fail(TextProblem::Kind kind, int64_t at, int64_t value) {
    const int64_t record = block_.first_record + static_cast<int64_t>(block_.name_end.size());
    problem_ = {kind, record, state_ == kBetween ? std::string() : name_, at, value};
    return nullptr;
}

SampleBlock SampleText::take() {
    const int64_t whole = block_.offset.back(), part = held();
    int64_t kept = part;
    const bool is_open = state_ != kBetween;
    SampleBlock next;
    next.first_record = block_.first_record + static_cast<int64_t>(block_.name_end.size());
    if (is_open && format_ == '>' && part > longest_held_) {
        kept = std::min(overlap_, part);
        block_.unfinished = true;
        const State state = state_;
        end_record();
        state_ = state;
        position_ += part - kept;
        next.carried = kept;
    } else if (next.first_record == block_.first_record) {
        next.carried = block_.carried;
    }
    next.first_position = is_open ? position_ : 0;
    next.letters.assign(block_.letters.end() - kept, block_.letters.end());
    if (block_.qualities.size() > static_cast<size_t>(whole)) {
        next.qualities.assign(block_.qualities.begin() + whole, block_.qualities.end());
    }
    if (!block_.unfinished) {
        block_.letters.resize(static_cast<size_t>(whole));
        block_.qualities.resize(std::min(block_.qualities.size(), static_cast<size_t>(whole)));
    }
    block_.has_qualities = format_ == '@';
    std::swap(block_, next);
    return next;
}

}  // namespace pairhmm
