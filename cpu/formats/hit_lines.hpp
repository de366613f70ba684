// Lines of the table that `pairhmm scan` writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scan/scanner.hpp"

namespace pairhmm {

struct HitTable {
    const std::string& file;
    int64_t hits;
    const Hit* hit;         // [hits] start: in the record
    const int64_t* record;  // [hits] number of the record, from 0
    const char* names;      // end to end
    const int64_t* name_end;
    const int64_t* name;  // [hits] index into name_end
    const std::vector<std::string>& signatures;
    const int64_t* length;  // [signatures]
    bool has_qualities, has_place;
};

// Columns file, record, number, signature, start, end, strand, sum, mean, matches, informative, mismatches; `number` is
// from 1, sum and mean are empty without qualities. A last column, place, where the table has it.
std::string hit_lines(const HitTable& table);

}  // namespace pairhmm
