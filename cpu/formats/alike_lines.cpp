#include "formats/alike_lines.hpp"

#include <cstddef>
#include <string_view>

namespace pairhmm {
namespace {

struct Line {
    const char* end = nullptr;  // behind its line feed; null for a line that is to be looked at
    std::string_view place;
};

Line line_at(const TableText& table, int64_t at) {
    const char *const begin = table.text + at, *const stop = table.text + table.size;
    if (begin == stop || *begin <= ' ') return {};
    const char* place = table.place == 0 ? begin : nullptr;
    Line line;
    int field = 0;
    for (const char* next = begin; next != stop; ++next) {
        if (*next == '\t' || *next == '\n') {
            ++field;
            if (field == table.place) place = next + 1;
            if (field == table.place + 3 && place != nullptr) line.place = {place, static_cast<size_t>(next - place)};
            if (*next == '\t') continue;
            if (field == table.fields) line.end = next + 1;
            return line;
        }
        if (*next == '\r' || static_cast<signed char>(*next) < 0) return {};
    }
    return {};
}

}  // namespace

AlikeLines alike_lines(const TableText& table, int64_t before, int64_t at) {
    AlikeLines found{at, 0};
    const Line first = line_at(table, before);
    if (first.end == nullptr) return found;
    for (Line line = line_at(table, at); line.end != nullptr && line.place == first.place;
         line = line_at(table, found.end)) {
        found.end = line.end - table.text;
        ++found.lines;
    }
    return found;
}

}  // namespace pairhmm
