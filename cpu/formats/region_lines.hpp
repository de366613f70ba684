// Lines of likelihood tables and of their companions, of scored regions.
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

RegionLines lines_of_region(const ScoredRegion& region, const RegionTable& table);

// The lines of regions, those of several regions together.
std::vector<RegionLines> region_lines(const std::vector<ScoredRegion>& regions, const RegionTable& table);

// Texts end to end, with the end of each.
struct PackedTexts {
    std::string text;
    std::vector<int64_t> end;

    void add(const std::string& next) {
        text += next;
        end.push_back(static_cast<int64_t>(text.size()));
    }
};

// Values of the reads that are written, and of their pairs.
struct WrittenReads {
    std::vector<int32_t> sample;
    PackedTexts names;
    std::vector<int64_t> members;  // reads of each profile: 1 where none were joined
    std::vector<uint8_t> mate, precision;
    std::vector<double> log10;
};

// The rows of regions as columns.
struct RegionColumns {
    std::vector<int64_t> start, end, reads, haplotypes;  // [regions]
    PackedTexts chrom, variants;                         // [regions]
    PackedTexts names, sequences, alleles;               // [haplotypes]
    std::vector<uint8_t> nuisance;                       // [haplotypes]
    WrittenReads written;
};

RegionColumns region_columns(const std::vector<ScoredRegion>& regions, const RegionTable& table);

}  // namespace pairhmm
