// Lines of likelihood tables and of their companions, of scored regions (`table_rows` in
// pairhmm/calling/likelihoods.py).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calling/scored_region.hpp"

namespace pairhmm {

struct RegionTable {
    const std::vector<std::string>& samples;
    const std::vector<std::string>& precision_names;
    bool is_prepared;             // without the reads that are set aside, and with the floor
    std::optional<double> floor;  // how far below a read's best a score may be (log10)
    bool are_joined;              // reads were joined: a column has how many
    int64_t at_once;              // bytes of lines that are put together
    int64_t deep;                 // pairs from which on the lines of a region stay by themselves
};

// The rows of a region in a text.
struct RegionSpan {
    std::string chrom;
    int64_t start, end, rows, size;  // 0-based half-open; bytes
};

struct RegionLines {
    std::string table, haplotypes;  // lines of the table, and of its companion
    std::vector<RegionSpan> in_table, in_haplotypes;
};

// The lines of regions, those of several regions together.
std::vector<RegionLines> region_lines(const std::vector<ScoredRegion>& regions, const RegionTable& table);

}  // namespace pairhmm
