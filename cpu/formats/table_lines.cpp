#include "formats/table_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "formats/numbers.hpp"
#include "threads/std_threads.hpp"

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

void append_column(std::string& out, int64_t number) {
    char digits[20];
    out += '\t';
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// As Python's f"{total / length:.3f}".
void append_mean(std::string& out, int64_t total, int64_t length) {
    char text[32];
    const double mean = static_cast<double>(total) / static_cast<double>(length);
    out.append(text, static_cast<size_t>(std::snprintf(text, sizeof text, "\t%.3f", mean)));
}

void append_lines(std::string& out, const DistanceTable& table, int64_t first, int64_t end) {
    for (int64_t pair = first; pair < end; ++pair) {
        table.samples.append(out, table.sample[pair]);
        out += '\t';
        table.others.append(out, table.other[pair]);
        out += '\t';
        table.heads.append(out, table.equal[pair]);
        out += '\t';
        append_score(out, table.containment[pair]);
        out += '\t';
        append_score(out, table.ani[pair]);
        out += '\n';
    }
}

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

std::vector<std::string> score_lines(const ScoreTable& table, int64_t first, int64_t end, int threads) {
    std::vector<std::string> parts(static_cast<size_t>((end - first + kPairsPerPart - 1) / kPairsPerPart));
    run_shares(end - first, kPairsPerPart, threads, [&](int64_t from, int64_t to) {
        append_lines(parts[static_cast<size_t>(from / kPairsPerPart)], table, first + from, first + to);
    });
    return parts;
}

std::string hit_lines(const HitTable& table) {
    std::string out;
    for (int64_t i = 0; i < table.hits; ++i) {
        const Hit& hit = table.hit[i];
        const int64_t name = table.name[i], begin = name == 0 ? 0 : table.name_end[name - 1];
        const int64_t length = table.length[hit.signature];
        out += table.file;
        out += '\t';
        out.append(table.names + begin, static_cast<size_t>(table.name_end[name] - begin));
        append_column(out, table.record[i] + 1);
        out += '\t';
        out += table.signatures[static_cast<size_t>(hit.signature)];
        append_column(out, hit.start);
        append_column(out, hit.start + length);
        out += hit.strand == 0 ? "\t+" : "\t-";
        if (table.has_qualities) {
            append_column(out, hit.total);
            append_mean(out, hit.total, length);
        } else {
            out += "\t\t";
        }
        append_column(out, hit.matches);
        append_column(out, hit.informative);
        append_column(out, hit.mismatches);
        append_column(out, hit.place);
        out += '\n';
    }
    return out;
}

std::vector<std::string> distance_lines(const DistanceTable& table, int threads) {
    std::vector<std::string> parts(static_cast<size_t>((table.pairs + kPairsPerPart - 1) / kPairsPerPart));
    run_shares(table.pairs, kPairsPerPart, threads, [&](int64_t first, int64_t end) {
        append_lines(parts[static_cast<size_t>(first / kPairsPerPart)], table, first, end);
    });
    return parts;
}

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
