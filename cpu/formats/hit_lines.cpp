#include "formats/hit_lines.hpp"

#include <charconv>
#include <cstdio>

namespace pairhmm {
namespace {

void append_number(std::string& out, int64_t number) {
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

}  // namespace

std::string hit_lines(const HitTable& table) {
    std::string out;
    for (int64_t i = 0; i < table.hits; ++i) {
        const Hit& hit = table.hit[i];
        const int64_t name = table.name[i], begin = name == 0 ? 0 : table.name_end[name - 1];
        const int64_t length = table.length[hit.signature];
        out += table.file;
        out += '\t';
        out.append(table.names + begin, static_cast<size_t>(table.name_end[name] - begin));
        append_number(out, table.record[i] + 1);
        out += '\t';
        out += table.signatures[static_cast<size_t>(hit.signature)];
        append_number(out, hit.start);
        append_number(out, hit.start + length);
        out += hit.strand == 0 ? "\t+" : "\t-";
        if (table.has_qualities) {
            append_number(out, hit.total);
            append_mean(out, hit.total, length);
        } else {
            out += "\t\t";
        }
        append_number(out, hit.matches);
        append_number(out, hit.informative);
        append_number(out, hit.mismatches);
        if (table.has_place) append_number(out, hit.place);
        out += '\n';
    }
    return out;
}

}  // namespace pairhmm
