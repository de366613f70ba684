#include "formats/score_lines.hpp"

#include <algorithm>

#include "formats/numbers.hpp"
#include "threads/shares.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kPairsPerPart = 1 << 14;

void append_name(std::string& out, const Names& names, int64_t index, int64_t first_of_group) {
    if (names) out += (*names)[static_cast<size_t>(index)];
    else append_number(out, static_cast<uint64_t>(index - first_of_group));
}

void append_lines(std::string& out, const ScoreTable& table, int64_t first, int64_t end) {
    std::string head;  // group and read
    int64_t group =
        std::upper_bound(table.group_pair, table.group_pair + table.groups + 1, first) - table.group_pair - 1;
    for (int64_t pair = first; pair < end; ++group) {
        const int64_t haplotypes = table.group_haplotype[group + 1] - table.group_haplotype[group];
        for (const int64_t last = std::min(end, table.group_pair[group + 1]); pair < last;) {
            const int64_t within = pair - table.group_pair[group], first_haplotype = within % haplotypes;
            head.clear();
            append_number(head, static_cast<uint64_t>(table.first_group + group));
            head += '\t';
            append_name(head, table.read_names, table.group_read[group] + within / haplotypes, table.group_read[group]);
            head += '\t';
            const int64_t read_end = std::min(last, pair - first_haplotype + haplotypes);
            for (int64_t h = table.group_haplotype[group] + first_haplotype; pair < read_end; ++pair, ++h) {
                out += head;
                append_name(out, table.haplotype_names, h, table.group_haplotype[group]);
                out += '\t';
                append_score(out, table.log10[pair]);
                out += '\t';
                out += table.precision_names[table.precision[pair]];
                out += '\n';
            }
        }
    }
}

}  // namespace

std::vector<std::string> score_lines(const ScoreTable& table, int64_t first, int64_t end, int threads) {
    std::vector<std::string> parts(static_cast<size_t>((end - first + kPairsPerPart - 1) / kPairsPerPart));
    run_shares(end - first, kPairsPerPart, threads, [&](int64_t from, int64_t to) {
        append_lines(parts[static_cast<size_t>(from / kPairsPerPart)], table, first + from, first + to);
    });
    return parts;
}

}  // namespace pairhmm
