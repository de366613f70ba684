// Lines of the tables that commands write, and lines of a table that is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scan/scanner.hpp"

namespace pairhmm {

// `pairhmm forward`.

using Names = std::optional<std::vector<std::string>>;  // without names, numbers from 0 in each group

// Scores of pairs in the order of a batch: read after read of each group, each against the group's haplotypes.
struct ScoreTable {
    int64_t groups, first_group;                               // first_group: the number of the batch's first group
    const int64_t *group_read, *group_haplotype, *group_pair;  // [groups + 1]
    const Names &read_names, &haplotype_names;                 // of the whole batch
    const double* log10;                                       // [pairs]
    const uint8_t* precision;                                  // [pairs], index into precision_names
    const std::vector<std::string>& precision_names;
};

// Lines `group read haplotype score precision` of the pairs [first, end), in parts that follow each other.
std::vector<std::string> score_lines(const ScoreTable& table, int64_t first, int64_t end, int threads);

// `pairhmm scan`.

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
    bool has_qualities;
};

// Columns file, record, number, signature, start, end, strand, sum, mean, matches, informative, mismatches, place;
// `number` is from 1, sum and mean are empty without qualities.
std::string hit_lines(const HitTable& table);

// `pairhmm map distances`.

// Texts end to end.
struct JoinedTexts {
    const char* text;
    const int64_t* end;  // of each

    void append(std::string& out, int64_t index) const {
        const int64_t begin = index == 0 ? 0 : end[index - 1];
        out.append(text + begin, static_cast<size_t>(end[index] - begin));
    }
};

struct DistanceTable {
    int64_t pairs;
    JoinedTexts samples, others;
    const int32_t *sample, *other;  // [pairs] into samples and others
    const uint16_t* equal;          // [pairs] into heads
    JoinedTexts heads;              // the columns that depend on the number of equal slots alone
    const double *containment, *ani;
};

// Lines `sample_1 sample_2 jaccard mash_distance containment ani`, in parts that follow each other.
std::vector<std::string> distance_lines(const DistanceTable& table, int threads);

// Lines of a table that are like the one before them, so that they can be copied without a look at each.
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
