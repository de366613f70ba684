// How Python is told why a parser stopped.
#pragma once

#include "formats/alignments.hpp"

inline const char* stop_name(pairhmm::AlignmentParser::Stop stop) {
    using pairhmm::AlignmentParser;
    switch (stop) {
        case AlignmentParser::kMore: return "more";
        case AlignmentParser::kFull: return "full";
        case AlignmentParser::kWindowEnd: return "window's end";
        case AlignmentParser::kGoals: return "goals";
        case AlignmentParser::kJump: return "jump";
        case AlignmentParser::kDamaged: return "damaged";
        case AlignmentParser::kUnsorted: return "unsorted";
        case AlignmentParser::kNoQualities: return "no qualities";
        case AlignmentParser::kWrongIndelTags: return "wrong indel tags";
    }
    return "";
}
