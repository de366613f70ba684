// Lines of the table that `pairhmm forward` writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pairhmm {

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

}  // namespace pairhmm
