#include "formats/score_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "threads/shares.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kPairsPerPart = 1 << 14;
constexpr uint64_t kUnit = 1'000'000;  // six decimals

void append_number(std::string& out, uint64_t number) {
    char digits[20];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// Formats like Python's f"{score:.6f}": the exact value of the double, rounded to six decimals, half to even. This uses
// integers, because std::to_chars takes doubles on recent macOS only, and takes twice as long.
void append_score(std::string& out, double score) {
    uint64_t bits;
    std::memcpy(&bits, &score, sizeof bits);
    // |score| is mantissa / 2^shift; subnormals, which lack the leading one, are zero here either way.
    const int shift = 1075 - static_cast<int>(bits >> 52 & 0x7ff);
    const uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
    if (shift < 10) {  // |score| >= 2^43, infinite, or NaN
        char text[400];
        const int size = std::snprintf(text, sizeof text, "%.6f", score);
        if (score != score) out += "nan";
        else out.append(text, static_cast<size_t>(size));
        return;
    }
    uint64_t units = 0;
    if (shift < 75) {  // else less than half a unit: mantissa * kUnit < 2^73
        using Wide = unsigned __int128;
        const Wide exact = Wide{mantissa} * kUnit, half = Wide{1} << (shift - 1);
        const Wide rest = exact & (2 * half - 1);
        units = static_cast<uint64_t>(exact >> shift);
        units += rest > half || (rest == half && (units & 1) != 0);
    }
    if (bits >> 63) out += '-';
    append_number(out, units / kUnit);
    char decimals[7] = {'.'};
    uint64_t left = units % kUnit;
    for (int i = 6; i > 0; --i, left /= 10) decimals[i] = static_cast<char>('0' + left % 10);
    out.append(decimals, sizeof decimals);
}

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
