#include "formats/region_lines.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "formats/numbers.hpp"

namespace pairhmm {
namespace {

constexpr uint16_t kFlagPaired = 0x1, kFlagFirst = 0x40, kFlagSecond = 0x80;

uint8_t mate_of(uint16_t flag) {
    if ((flag & kFlagPaired) == 0) return 0;
    return (flag & kFlagFirst) != 0 ? 1 : (flag & kFlagSecond) != 0 ? 2 : 0;
}

void append_scores(const ScoredRegion& region, int64_t read, const RegionTable& table, WrittenReads& reads) {
    const auto width = static_cast<int64_t>(region.haplotypes.size());
    const double* scores = region.log10.data() + read * width;
    const size_t before = reads.log10.size();
    reads.log10.insert(reads.log10.end(), scores, scores + width);
    const uint8_t* precision = region.precision.data() + read * width;
    reads.precision.insert(reads.precision.end(), precision, precision + width);
    if (!table.is_prepared || !table.floor || width == 0) return;
    const double least = *std::max_element(scores, scores + width) - *table.floor;
    std::for_each(reads.log10.begin() + static_cast<std::ptrdiff_t>(before), reads.log10.end(),
                  [&](double& score) { score = std::max(score, least); });
}

void append_reads(const ScoredRegion& region, const RegionTable& table, WrittenReads& reads) {
    for (int64_t read = 0; read < region.reads(); ++read) {
        if (table.is_prepared && region.set_aside[read]) continue;
        const int64_t begin = read == 0 ? 0 : region.name_end[read - 1];
        reads.names.add(region.names.substr(begin, region.name_end[read] - begin));
        reads.sample.push_back(region.sample[read]);
        reads.mate.push_back(mate_of(region.flag[read]));
        reads.members.push_back(region.members.empty() ? 1 : region.members[read]);
        append_scores(region, read, table, reads);
    }
}

// Texts with a separator between them, or a dot where there are none.
template <class Items, class Text>
std::string joined(const Items& items, char separator, Text&& text_of) {
    std::string joined;
    for (const auto& item : items) {
        if (!joined.empty()) joined += separator;
        joined += text_of(item);
    }
    return joined.empty() ? "." : joined;
}

std::string variants_of(const Region& region) {
    const auto same = [](const std::string& alt) { return alt; };
    return joined(region.variants, ',', [&](const Variant& variant) {
        return std::to_string(region.on_contig(variant.pos) + 1) + ':' + variant.ref + '>' +
               joined(variant.alts, '/', same);
    });
}

std::string alleles_of(const Haplotype& haplotype) {
    return joined(haplotype.alleles, ',', [](int16_t allele) { return std::to_string(allele); });
}

std::vector<std::string> names_of(const ScoredRegion& scored) {
    const Region& region = scored.region;
    const std::string place = region.place(region.haplotype_start, region.haplotype_end) + '/';
    std::vector<std::string> names;
    for (const Haplotype& haplotype : scored.haplotypes)
        names.push_back(haplotype.name.empty() ? place + std::to_string(names.size()) : haplotype.name);
    return names;
}

std::string haplotype_lines(const ScoredRegion& region, const std::string& place,
                            const std::vector<std::string>& names) {
    const std::string variants = variants_of(region.region);
    std::string lines;
    for (size_t i = 0; i < names.size(); ++i) {
        const Haplotype& haplotype = region.haplotypes[i];
        const std::string alleles = alleles_of(haplotype);
        for (const std::string* text : {&place, &names[i], &haplotype.sequence, &alleles, &variants})
            lines += *text + '\t';
        lines += haplotype.is_nuisance ? "1\n" : "0\n";
    }
    return lines;
}

// The lines of a region's pairs, read after read.
std::string table_lines(const std::string& place, const std::vector<std::string>& haplotypes, const WrittenReads& reads,
                        const RegionTable& table) {
    constexpr size_t kRoom = 40;  // for a score, a precision and what stands between
    std::string out, head, tail;  // head and tail: what all lines of a read share
    size_t longest = 0, pair = 0;
    for (const auto& haplotype : haplotypes) longest = std::max(longest, haplotype.size());
    for (size_t read = 0; read < reads.sample.size(); ++read) {
        const int64_t begin = read == 0 ? 0 : reads.names.end[read - 1];
        head = table.samples[static_cast<size_t>(reads.sample[read])];
        head += '\t';
        head += place;
        head += '\t';
        head.append(reads.names.text, begin, reads.names.end[read] - begin);
        head += '\t';
        append_number(head, reads.mate[read]);
        head += '\t';
        tail = '\t';
        append_number(tail, static_cast<uint64_t>(reads.members[read]));
        tail += '\n';
        if (read == 0) out.reserve((head.size() + longest + kRoom) * reads.log10.size());
        for (const std::string& haplotype : haplotypes) {
            out += head;
            out += haplotype;
            out += '\t';
            append_score(out, reads.log10[pair]);
            out += '\t';
            out += table.precision_names[reads.precision[pair++]];
            out += tail;
        }
    }
    return out;
}

}  // namespace

RegionLines lines_of_region(const ScoredRegion& scored, const RegionTable& table) {
    const Region& region = scored.region;
    const auto [start, end] = region.within_contig(region.start, region.end);
    const std::string place = region.chrom + '\t' + std::to_string(start) + '\t' + std::to_string(end);
    const std::vector<std::string> names = names_of(scored);
    WrittenReads reads;
    append_reads(scored, table, reads);
    RegionLines lines{table_lines(place, names, reads, table), haplotype_lines(scored, place, names), {}, {}};
    const auto span_of = [&, start = start, end = end](size_t count, const std::string& text) {
        return RegionSpan{region.chrom, start, end, static_cast<int64_t>(count), static_cast<int64_t>(text.size())};
    };
    lines.in_table.push_back(span_of(reads.log10.size(), lines.table));
    lines.in_haplotypes.push_back(span_of(names.size(), lines.haplotypes));
    return lines;
}

std::vector<RegionLines> region_lines(const std::vector<ScoredRegion>& regions, const RegionTable& table) {
    std::vector<RegionLines> parts;
    RegionLines open;
    const auto close = [&] {
        if (!open.in_table.empty()) parts.push_back(std::exchange(open, {}));
    };
    for (const ScoredRegion& region : regions) {
        RegionLines one = lines_of_region(region, table);
        const bool is_deep = one.in_table.front().rows >= table.deep;
        if (is_deep) close();
        if (open.in_table.empty()) {
            open = std::move(one);
        } else {
            open.table += one.table;
            open.haplotypes += one.haplotypes;
            open.in_table.push_back(std::move(one.in_table.front()));
            open.in_haplotypes.push_back(std::move(one.in_haplotypes.front()));
        }
        if (is_deep || static_cast<int64_t>(open.table.size()) >= table.at_once) close();
    }
    close();
    return parts;
}

RegionColumns region_columns(const std::vector<ScoredRegion>& regions, const RegionTable& table) {
    RegionColumns columns;
    for (const ScoredRegion& scored : regions) {
        const size_t before = columns.written.sample.size();
        append_reads(scored, table, columns.written);
        const auto [start, end] = scored.region.within_contig(scored.region.start, scored.region.end);
        columns.start.push_back(start);
        columns.end.push_back(end);
        columns.reads.push_back(static_cast<int64_t>(columns.written.sample.size() - before));
        columns.haplotypes.push_back(static_cast<int64_t>(scored.haplotypes.size()));
        columns.chrom.add(scored.region.chrom);
        columns.variants.add(scored.region.variants.empty() ? "" : variants_of(scored.region));
        for (const std::string& name : names_of(scored)) columns.names.add(name);
        for (const Haplotype& haplotype : scored.haplotypes) {
            columns.sequences.add(haplotype.sequence);
            columns.alleles.add(alleles_of(haplotype));
            columns.nuisance.push_back(haplotype.is_nuisance);
        }
    }
    return columns;
}

}  // namespace pairhmm
