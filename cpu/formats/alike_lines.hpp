// Finds lines of a table that are like the one before them, so that they can be copied without a look at each.
#pragma once

#include <cstdint>

namespace pairhmm {

struct TableText {
    const char* text;
    int64_t size;
    int fields;
    int place;  // the first of the three columns with contig, start and end; -1: the table has none
};

struct AlikeLines {
    int64_t end, lines;
};

// The lines from `at` on that follow the one at `before` and are like it: ASCII without carriage returns, not blank,
// with as many fields as the table has, and of the same place. The first other line, and one without an end, end the
// stretch.
AlikeLines alike_lines(const TableText& table, int64_t before, int64_t at);

}  // namespace pairhmm
