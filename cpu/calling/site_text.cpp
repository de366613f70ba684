#include "calling/site_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pairhmm {

namespace {

constexpr size_t kMostGenotypes = 6;
constexpr double kLowestLog = -300;

double power(double log10) { return std::pow(10.0, std::max(log10, kLowestLog)); }

std::string genotype_of(const std::vector<int>& alleles) {
    std::string text;
    for (const int allele : alleles) text += (text.empty() ? "" : "/") + std::to_string(allele);
    return text;
}

size_t best_of(const std::vector<double>& prior, const std::vector<double>& likelihood) {
    size_t best = 0;
    for (size_t i = 1; i < prior.size(); ++i)
        if (prior[i] + likelihood[i] > prior[best] + likelihood[best]) best = i;
    return best;
}

const char* words_of(const std::string& source) {
    if (source == "strand_errors") return "errors of one strand";
    return source == "foreign" ? "reads of a copy elsewhere" : "reads of another person";
}

// Two decimals, where 0 has no sign.
std::string two_decimals(double value) { return told("%.2f", std::abs(value) < 0.005 ? 0.0 : value); }

std::vector<std::string> parts(const std::string& text, char separator) {
    std::vector<std::string> fields(1);
    for (const char letter : text) {
        if (letter == separator) fields.emplace_back();
        else fields.back() += letter;
    }
    return fields;
}

void add_genotypes(const std::string& name, const WeighedGenotypes& weighed, Lines& lines) {
    const std::vector<ToldGenotype> genotypes = told_genotypes(weighed);
    for (size_t i = 0; i < std::min(genotypes.size(), kMostGenotypes); ++i) {
        const ToldGenotype& one = genotypes[i];
        lines.push_back(name + ": " + one.genotype + ": log10 likelihood " + two_decimals(one.likelihood) +
                        ", log10 prior " + two_decimals(one.prior) + ", posterior " + told("%.3g", one.posterior) +
                        ", other sources " + told("%.1f%%", 100 * one.other_sources));
    }
    if (genotypes.size() > kMostGenotypes)
        lines.push_back(name + ": " + std::to_string(genotypes.size() - kMostGenotypes) +
                        " more genotypes, less likely");
    for (const auto& [source, genotype] : best_without(weighed))
        lines.push_back(name + ": without " + words_of(source) + ", " + genotype + " is the best");
}

}  // namespace

std::vector<ToldGenotype> told_genotypes(const WeighedGenotypes& weighed) {
    std::vector<ToldGenotype> genotypes;
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (size_t i = 0; i < weighed.prior.size(); ++i) top = std::max(top, weighed.prior[i] + weighed.likelihood[i]);
    for (size_t i = 0; i < weighed.prior.size(); ++i) sum += power(weighed.prior[i] + weighed.likelihood[i] - top);
    for (size_t i = 0; i < weighed.alleles.size(); ++i) {
        const double prior = weighed.prior[i], likelihood = weighed.likelihood[i];
        const double alone = power(std::min(weighed.alone[i] - likelihood, 0.0));
        genotypes.push_back({genotype_of(weighed.alleles[i]), prior, likelihood,
                             power(prior + likelihood - (top + std::log10(sum))), 1 - alone});
    }
    std::stable_sort(genotypes.begin(), genotypes.end(), [](const ToldGenotype& one, const ToldGenotype& other) {
        return one.posterior > other.posterior;
    });
    return genotypes;
}

std::vector<std::pair<std::string, std::string>> best_without(const WeighedGenotypes& weighed) {
    std::vector<std::pair<std::string, std::string>> found;
    if (weighed.alleles.empty()) return found;
    const size_t best = best_of(weighed.prior, weighed.likelihood);
    const std::pair<const char*, const std::vector<double>*> sources[] = {
        {"strand_errors", &weighed.without_strand_errors},
        {"foreign", &weighed.without_foreign},
        {"contamination", &weighed.without_contamination}};
    for (const auto& [source, likelihood] : sources) {
        const size_t other = best_of(weighed.prior, *likelihood);
        if (other != best) found.emplace_back(source, genotype_of(weighed.alleles[other]));
    }
    return found;
}

AltAllele leftmost(AltAllele allele, const std::string& chrom, ReferenceBases& reference) {
    const TrimmedAllele trimmed = trim_allele(allele.ref, allele.alt);
    if (allele.alt == kSpannedAllele || (!trimmed.ref.empty() && !trimmed.alt.empty())) return allele;
    std::string before(trimmed.ref), after(trimmed.alt);
    const int64_t start = allele.position + trimmed.head, begin = std::max<int64_t>(0, start - kMaxShift);
    const std::string bases = reference.fetch(chrom, begin, start + static_cast<int64_t>(before.size()));
    int64_t at = start - begin;
    shift_left(bases, at, before, after);
    const std::string anchor = bases.substr(static_cast<size_t>(at) - 1, 1);
    return {begin + at - 1, anchor + before, anchor + after};
}

Lines site_text(const WeighedSite& weighed, const std::vector<AltAllele>& alleles, const Lines& samples,
                const RecordFormat& format, bool is_asked) {
    const Site& site = weighed.site;
    std::string record;
    format.append(site, record);
    record.pop_back();
    const std::vector<std::string> fields = parts(record, '\t');
    const bool has_record = is_asked && !weighed.is_left_out;
    std::string names;
    for (const AltAllele& one : alleles) names += (names.empty() ? "" : ", ") + told(one);
    Lines lines{names + ": " +
                (has_record ? "QUAL " + told("%.1f", site.quality) + ", filter " + fields[6] : "no record")};
    for (size_t i = 0; i < samples.size(); ++i) {
        const std::string genotype = parts(fields[9 + i], ':')[0];
        std::string depths;
        for (const int64_t depth : site.samples[i].depths)
            depths += (depths.empty() ? "" : ", ") + std::to_string(depth);
        lines.push_back(samples[i] + ": genotype " + genotype + ", GQ " + std::to_string(site.samples[i].quality) +
                        ", DP " + std::to_string(site.samples[i].depth) + ", AD " + depths);
        add_genotypes(samples[i], weighed.samples[i], lines);
    }
    if (has_record) lines.push_back("record " + record);
    return lines;
}

}  // namespace pairhmm
