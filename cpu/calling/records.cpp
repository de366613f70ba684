#include "calling/records.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "calling/genotypes.hpp"
#include "calling/site_statistics.hpp"

namespace pairhmm {

namespace {

constexpr std::string_view kNonRef = "<NON_REF>";
// The allele of a chromosome on which a deletion takes the site away.
constexpr std::string_view kSpanned = "*";
// INFO fields that are not of the reads' statistics.
constexpr int kQualityByDepth = -1, kShareUnfit = -2;

void append_integer(std::string& text, int64_t number) {
    char digits[20];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// As printf has it. std::to_chars takes doubles on recent macOS only.
void append_real(std::string& text, const char* format, int precision, double value) {
    char digits[400];
    const int size = std::snprintf(digits, sizeof digits, format, precision, value);
    // The locale may have a comma for the point.
    std::replace(digits, digits + size, ',', '.');
    text.append(digits, static_cast<size_t>(size));
}

// Numbers with commas between them.
template <class Numbers>
void append_list(std::string& text, const Numbers& numbers, char separator = ',') {
    const size_t begin = text.size();
    for (const auto number : numbers) {
        if (text.size() > begin) text += separator;
        append_integer(text, number);
    }
}

bool has_variant(const SampleGenotype& sample) {
    return std::any_of(sample.alleles.begin(), sample.alleles.end(), [](int allele) { return allele > 0; });
}

// QUAL divided by the depth of the samples with the variant: their informative reads, or all where none is.
double quality_by_depth(const Site& site) {
    int64_t depth = 0;
    for (const SampleGenotype& sample : site.samples) {
        if (!has_variant(sample)) continue;
        int64_t informative = 0;
        for (const int64_t count : sample.depths) informative += count;
        depth += informative != 0 ? informative : sample.depth;
    }
    return depth != 0 ? site.quality / static_cast<double>(depth) : std::numeric_limits<double>::quiet_NaN();
}

// Of each of `info_fields`; NaN where it is not known.
std::vector<double> field_values(const Site& site) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> values;
    for (const InfoField& field : info_fields()) {
        const auto annotation = static_cast<size_t>(field.annotation);
        if (field.annotation == kQualityByDepth) values.push_back(quality_by_depth(site));
        else if (field.annotation == kShareUnfit) values.push_back(site.unfit >= kManyUnfit ? site.unfit : kUnknown);
        else values.push_back(annotation < site.annotations.size() ? site.annotations[annotation] : kUnknown);
    }
    return values;
}

bool is_mixture(const Site& site) { return !site.samples.empty() && !site.samples.front().fractions.empty(); }

// A number with as many digits as fractions have.
void append_fraction(std::string& text, double fraction) {
    if (std::isnan(fraction)) text += '.';
    else append_real(text, "%.*g", 4, fraction);
}

// The alternative alleles' fractions, and the ends of their intervals.
void append_fractions(const std::vector<AlleleFraction>& fractions, std::string& lines) {
    for (size_t i = 1; i < fractions.size(); ++i) append_fraction(lines += i > 1 ? "," : "", fractions[i].fraction);
    lines += ':';
    for (size_t i = 1; i < fractions.size(); ++i) {
        append_fraction(lines += i > 1 ? "," : "", fractions[i].low);
        append_fraction(lines += ',', fractions[i].high);
    }
}

// The mean fraction of each alternative allele in the samples that have reads; NaN without any.
std::vector<double> mean_fractions(const Site& site) {
    std::vector<double> sum(site.variant.alts.size(), 0.0);
    int known = 0;
    for (const SampleGenotype& sample : site.samples) {
        if (std::isnan(sample.fractions.front().fraction)) continue;
        ++known;
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += sample.fractions[i + 1].fraction;
    }
    for (double& one : sum) one /= known;
    return sum;
}

// The mean fraction of each alternative allele in the samples that have reads.
void append_mean_fractions(const Site& site, std::string& lines) {
    const std::vector<double> means = mean_fractions(site);
    lines += "AF=";
    for (size_t i = 0; i < means.size(); ++i) append_fraction(lines += i > 0 ? "," : "", means[i]);
}

// A dot for each chromosome whose allele is not known, or not listed.
void append_genotype(const SampleGenotype& sample, std::string& lines) {
    if (!sample.phased.empty()) {
        append_list(lines, sample.phased, '|');
        return;
    }
    const int unknown = std::max(sample.is_called ? 0 : 1, sample.ploidy - static_cast<int>(sample.alleles.size()));
    for (int copy = 0; copy < unknown; ++copy) lines += copy > 0 ? "/." : ".";
    if (unknown > 0 && !sample.alleles.empty()) lines += '/';
    append_list(lines, sample.alleles, '/');
}

bool continues(const PlacedBlock& one, const PlacedBlock& next) {
    return one.block.end == next.block.start && one.block.band == next.block.band && one.ploidy == next.ploidy &&
           one.chrom == next.chrom;
}

// DP is the mean, and everything else the lowest. Equal likelihoods make no genotype.
void append_block(const PlacedBlock& placed, std::string& lines) {
    const ReferenceBlock& block = placed.block;
    const bool is_known = block.both != 0 || (placed.ploidy > 1 && block.one != 0);
    lines += placed.chrom;
    lines += '\t';
    append_integer(lines, block.start + 1);
    (((lines += "\t.\t") += placed.base) += '\t') += kNonRef;
    lines += "\t.\t.\tEND=";
    append_integer(lines, block.end);
    lines += "\tGT:DP:GQ:MIN_DP:PL\t";
    lines += is_known ? '0' : '.';
    if (placed.ploidy > 1) lines += is_known ? "/0" : "/.";
    lines += ':';
    // Half to even, as Python rounds.
    const double mean = static_cast<double>(block.depth) / static_cast<double>(block.end - block.start);
    append_integer(lines, static_cast<int64_t>(std::nearbyint(mean)));
    lines += ':';
    append_integer(lines, block.quality);
    lines += ':';
    append_integer(lines, block.least_depth);
    lines += ":0,";
    if (placed.ploidy > 1) {
        append_integer(lines, block.one);
        lines += ',';
    }
    append_integer(lines, block.both);
    lines += '\n';
}

}  // namespace

void SiteCounts::add(const std::vector<Site>& more) {
    for (const Site& site : more) {
        if (site.variant.pos < 0) continue;
        ++sites;
        limited += site.left_out > 0;
        if (site.unfit < kManyUnfit) continue;
        if (unfit++ == 0) first_unfit = site.variant.chrom + ":" + std::to_string(site.variant.pos + 1);
    }
}

const std::vector<InfoField>& info_fields() {
    static const std::vector<InfoField> all = [] {
        std::vector<InfoField> fields{
            {"NOFIT", 3, "Share of the reads over the site that fit no haplotype, where it is 0.2 or more",
             kShareUnfit},
            {"QD", 2, "QUAL divided by the depth of the samples with the variant", kQualityByDepth}};
        int number = 0;
        for (const SiteAnnotation& one : site_annotations())
            fields.push_back({one.id, one.decimals, one.description, number++});
        std::sort(fields.begin(), fields.end(), [](const InfoField& a, const InfoField& b) { return a.id < b.id; });
        return fields;
    }();
    return all;
}

// The filters of artefacts.
constexpr const char* kArtefactFilters[] = {"", "StrandBias", "LateCycle", "ReadEnd"};

RecordFormat::RecordFormat(const RecordOptions& options) : min_quality_(options.min_quality), gvcf_(options.gvcf) {
    limit("LowQD", "QD", -1, options.min_qd);
    limit("StrandBias", "FS", 1, options.max_fs);
    limit("StrandBias", "SOR", 1, options.max_sor);
    limit("LowMQ", "MQ", -1, options.min_mq);
}

void RecordFormat::limit(const char* filter, const char* id, double sign, const std::optional<double>& limit) {
    if (!limit) return;
    const auto& fields = info_fields();
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const InfoField& one) { return one.id == id; });
    limits_.push_back({filter, static_cast<size_t>(field - fields.begin()), sign, sign * *limit});
}

void RecordFormat::append(const Site& site, std::string& lines) const {
    const Variant& variant = site.variant;
    const bool has_phase = std::any_of(site.samples.begin(), site.samples.end(),
                                       [](const SampleGenotype& sample) { return !sample.phased.empty(); });
    const std::vector<double> values = field_values(site);
    (lines += variant.chrom) += '\t';
    append_integer(lines, variant.pos + 1);
    ((((lines += '\t') += variant.id.empty() ? "." : variant.id) += '\t') += variant.ref) += '\t';
    for (size_t i = 0; i < variant.alts.size(); ++i) (lines += i > 0 ? "," : "") += variant.alts[i];
    if (gvcf_) (lines += variant.alts.empty() ? "" : ",") += kNonRef;
    lines += '\t';
    append_real(lines, "%.*f", 2, site.quality);
    lines += '\t';
    append_filter(site, values, lines);
    lines += '\t';
    append_info(site, values, lines);
    lines += is_mixture(site) ? "\tGT:AD:DP:AF:CIAF" : "\tGT:AD:DP:GQ:PL";
    lines += has_phase ? ":PS:SB" : ":SB";
    for (const SampleGenotype& sample : site.samples) append_sample(sample, has_phase, lines += '\t');
    if (site.samples.empty()) lines += '\t';
    lines += '\n';
}

void RecordFormat::append_filter(const Site& site, const std::vector<double>& values, std::string& lines) const {
    const size_t begin = lines.size();
    if (!is_sure(site)) lines += "LowQual";
    const char* before = kArtefactFilters[static_cast<int>(site.variant.artefact)];
    if (lines.size() > begin && *before != 0) lines += ';';
    lines += before;
    for (const Limit& one : limits_) {
        // What is not known, NaN, passes.
        if (!(one.sign * values[one.field] > one.limit) || std::string_view(before) == one.filter) continue;
        if (lines.size() > begin) lines += ';';
        lines += before = one.filter;
    }
    if (lines.size() == begin) lines += "PASS";
}

// Whether QUAL suffices for a variant, and the lowest GQ where no genotype has one of the site.
bool RecordFormat::is_sure(const Site& site) const {
    if (is_mixture(site)) return site.quality >= min_quality_;
    bool is_called = false, has_alternative = false;
    int lowest = kMaxGq;
    for (const SampleGenotype& sample : site.samples) {
        if (!sample.is_called) continue;
        lowest = is_called ? std::min(lowest, sample.quality) : sample.quality;
        is_called = true;
        for (const int allele : sample.alleles)
            has_alternative |= allele > 0 && site.variant.alts[static_cast<size_t>(allele) - 1] != kSpanned;
    }
    if (is_called && !has_alternative) return lowest >= std::min<double>(min_quality_, kMaxGq);
    return site.quality >= min_quality_;
}

// AC, AF and AN: how often genotypes have each alternative allele.
void RecordFormat::append_copies(const Site& site, std::string& lines) const {
    std::vector<int64_t> copies(1 + site.variant.alts.size() + (gvcf_ ? 1 : 0), 0);
    int64_t all = 0;
    for (const SampleGenotype& sample : site.samples) {
        all += static_cast<int64_t>(sample.alleles.size());
        for (const int allele : sample.alleles) ++copies[static_cast<size_t>(allele)];
    }
    copies.erase(copies.begin());
    lines += "AC=";
    append_list(lines, copies);
    lines += ";AF=";
    for (size_t i = 0; i < copies.size(); ++i) {
        if (i > 0) lines += ',';
        if (all == 0) lines += '.';
        else append_real(lines, "%.*g", 6, static_cast<double>(copies[i]) / static_cast<double>(all));
    }
    lines += ";AN=";
    append_integer(lines, all);
}

// What is not known is left out.
void RecordFormat::append_info(const Site& site, const std::vector<double>& values, std::string& lines) const {
    if (is_mixture(site)) append_mean_fractions(site, lines);
    else append_copies(site, lines);
    int64_t depth = 0;
    for (const SampleGenotype& sample : site.samples) depth += sample.depth;
    lines += ";DP=";
    append_integer(lines, depth);
    for (size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) continue;
        ((lines += ';') += info_fields()[i].id) += '=';
        append_real(lines, "%.*f", info_fields()[i].decimals, values[i]);
    }
    if (!gvcf_ || site.mapqs.reads == 0) return;
    append_integer(lines += ";RAW_MQandDP=", site.mapqs.sum);
    append_integer(lines += ',', site.mapqs.reads);
}

void RecordFormat::append_likelihoods(const SampleGenotype& sample, std::string& lines) const {
    const std::vector<int64_t>& likelihoods = gvcf_ ? sample.with_others : sample.likelihoods;
    if (sample.is_called) append_integer(lines, sample.quality);
    else lines += '.';
    lines += ':';
    if (sample.is_called && !likelihoods.empty()) append_list(lines, likelihoods);
    else lines += '.';
}

void RecordFormat::append_sample(const SampleGenotype& sample, bool has_phase, std::string& lines) const {
    if (sample.ploidy == 0 && sample.fractions.empty()) {  // Without a chromosome, its reads are of other places.
        lines += has_phase ? ".:.:.:.:.:.:." : ".:.:.:.:.:.";
        return;
    }
    append_genotype(sample, lines);
    lines += ':';
    append_list(lines, sample.depths);
    lines += gvcf_ ? ",0:" : ":";
    append_integer(lines, sample.depth);
    lines += ':';
    if (sample.fractions.empty()) append_likelihoods(sample, lines);
    else append_fractions(sample.fractions, lines);
    if (has_phase) {
        lines += ':';
        if (sample.phase_set) append_integer(lines, *sample.phase_set + 1);
        else lines += '.';
    }
    lines += ':';
    append_list(lines, sample.strands);
}

void RecordLines::append(const PlacedBlock& placed) {
    std::optional<PlacedBlock>& open = last || !text.empty() ? last : first;
    if (!open) {
        open = placed;
        return;
    }
    if (!continues(*open, placed)) {
        close_last();
        last = placed;
        return;
    }
    ReferenceBlock& ours = open->block;
    const ReferenceBlock& more = placed.block;
    ours.end = more.end;
    ours.depth += more.depth;
    ours.quality = std::min(ours.quality, more.quality);
    ours.least_depth = std::min(ours.least_depth, more.least_depth);
    ours.one = std::min(ours.one, more.one);
    ours.both = std::min(ours.both, more.both);
}

void RecordLines::append(const Site& site, const RecordFormat& format) {
    close_last();
    format.append(site, text);
}

void RecordLines::append(const RecordLines& next) {
    if (next.first) append(*next.first);
    if (!next.text.empty()) {
        close_last();
        text += next.text;
    }
    if (next.last) append(*next.last);
    haplotypes += next.haplotypes;
}

void RecordLines::close_last() {
    if (last) append_block(*last, text);
    last.reset();
}

std::string RecordLines::take() {
    std::string lines;
    if (text.empty() && !last) return lines;
    if (first) append_block(*first, lines);
    lines += text;
    text.clear();
    first = std::exchange(last, std::nullopt);
    return lines;
}

std::string RecordLines::take_all() {
    std::string lines = take();
    if (first) append_block(*first, lines);
    first.reset();
    return lines;
}

}  // namespace pairhmm
