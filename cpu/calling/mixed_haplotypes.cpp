#include "calling/mixed_haplotypes.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace pairhmm {

namespace {

// Haplotypes with less are not looked at.
constexpr double kLeastFraction = 1e-4;

// The alleles of the haplotypes at a site; none where they are not those of the sample.
std::vector<int> alleles_at(const MixedSite& site, const std::vector<MixedHaplotype>& present) {
    std::vector<int> alleles;
    for (const MixedHaplotype& one : present) alleles.push_back(static_cast<int>((*site.allele_of)[one.number]));
    const std::set<int> had(alleles.begin(), alleles.end());
    const std::set<int> called(site.sample->alleles.begin(), site.sample->alleles.end());
    return had == called ? alleles : std::vector<int>();
}

// Makes haplotypes with alleles that are artefacts the same as the one without these.
void join_artefacts(const ScoredRegion& region, std::vector<size_t>& same_as) {
    const std::vector<Variant>& variants = region.region.variants;
    std::map<std::vector<int16_t>, size_t> number;
    for (size_t h = 0; h < same_as.size(); ++h) number.emplace(region.haplotypes[h].alleles, same_as[h]);
    for (size_t h = 0; h < same_as.size(); ++h) {
        std::vector<int16_t> alleles = region.haplotypes[h].alleles;
        for (size_t i = 0; i < alleles.size(); ++i)
            if (variants[i].artefact != Artefact::kNone) alleles[i] = 0;
        const auto without = number.find(alleles);
        if (same_as[h] == h && without != number.end()) same_as[h] = without->second;
    }
}

// The reads of a sample that fit each of some haplotypes better than all others of them.
std::vector<int64_t> reads_of(const ScoredRegion& region, int32_t sample, const std::vector<MixedHaplotype>& present) {
    std::vector<int64_t> reads(present.size(), 0);
    for (int64_t read = 0; read < region.reads(); ++read) {
        if (region.sample[read] != sample || region.set_aside[read]) continue;
        const double* scores = region.log10.data() + read * static_cast<int64_t>(region.haplotypes.size());
        size_t best = 0;
        double most = kLowest, next = kLowest;
        for (size_t i = 0; i < present.size(); ++i) {
            const double score = scores[present[i].number];
            next = std::max(next, std::min(most, score));
            if (score > most) most = score, best = i;
        }
        reads[best] += most - next > kInformative;
    }
    return reads;
}

std::string variants_of(const Region& region, const Haplotype& haplotype) {
    std::string text;
    for (size_t i = 0; i < region.variants.size(); ++i) {
        const Variant& variant = region.variants[i];
        if (haplotype.alleles[i] <= 0) continue;
        if (!text.empty()) text += ',';
        text += std::to_string(region.on_contig(variant.pos) + 1) + ':' + variant.ref + '>' +
                variant.alts[static_cast<size_t>(haplotype.alleles[i]) - 1];
    }
    return text.empty() ? "." : text;
}

void append_real(std::string& line, const char* format, double value) {
    char digits[64];
    const int size = std::snprintf(digits, sizeof digits, format, value);
    // The locale may have a comma for the point.
    std::replace(digits, digits + size, ',', '.');
    (line += '\t').append(digits, static_cast<size_t>(size));
}

}  // namespace

std::vector<double> fragment_lengths(const ScoredRegion& region, int32_t sample) {
    Extent whole{region.region.core_start, region.region.core_end};
    for (const Extent& one : region.with_unlisted) whole = span_of(whole, one);
    double reads = 0, bases = 0;
    for (int64_t read = 0; read < region.reads(); ++read) {
        if (region.sample[read] != sample || region.set_aside[read]) continue;
        ++reads;
        bases += static_cast<double>(region.length[read] + whole.end - whole.start);
    }
    std::vector<double> lengths;
    if (reads == 0) return lengths;
    const auto reference = static_cast<double>(region.haplotypes.front().sequence.size());
    for (const Haplotype& haplotype : region.haplotypes)
        lengths.push_back(std::max(1.0, bases / reads + static_cast<double>(haplotype.sequence.size()) - reference));
    return lengths;
}

std::vector<MixedHaplotype> present_haplotypes(const Mixture& mixture, const ScoredRegion& region) {
    std::vector<MixedHaplotype> present;
    std::vector<size_t> same_as = mixture.same_as();
    join_artefacts(region, same_as);
    for (size_t h = 0; h < same_as.size(); ++h) {
        std::vector<uint8_t> is_it;
        double weight = 0;
        for (size_t other = 0; other < same_as.size(); ++other) {
            is_it.push_back(same_as[other] == h);
            weight += is_it[other] ? mixture.weights()[other] : 0;
        }
        if (weight < kLeastFraction) continue;
        const MixedShare share = mixture.share(is_it);
        const double quality = share.low < 1 ? mixture_quality({share.ratio}) : kMaxQual;
        if (quality >= kLeastQuality) present.push_back({h, share, quality});
    }
    std::stable_sort(present.begin(), present.end(), [](const MixedHaplotype& one, const MixedHaplotype& other) {
        return one.share.fraction > other.share.fraction;
    });
    return present;
}

void link_alleles(const std::vector<MixedSite>& sites, const std::vector<MixedHaplotype>& present) {
    std::vector<const MixedSite*> linked;
    for (const MixedSite& site : sites)
        if (!alleles_at(site, present).empty()) linked.push_back(&site);
    if (linked.size() < 2) return;
    for (const MixedSite* site : linked) {
        site->sample->phased = alleles_at(*site, present);
        site->sample->phase_set = linked.front()->position;
    }
}

std::string mixture_lines(const ScoredRegion& scored, int32_t sample, const std::string& name,
                          const std::vector<MixedHaplotype>& present) {
    const Region& region = scored.region;
    const Extent place = region.within_contig(region.core_start, region.core_end);
    const std::string start = std::to_string(place.start), end = std::to_string(place.end);
    const auto before = static_cast<size_t>(region.core_start - region.haplotype_start);
    const auto behind = static_cast<size_t>(region.haplotype_end - region.core_end);
    const std::vector<int64_t> reads = reads_of(scored, sample, present);
    std::string lines;
    for (size_t i = 0; i < present.size(); ++i) {
        const auto& [number, share, quality] = present[i];
        const Haplotype& haplotype = scored.haplotypes[number];
        const std::string own = haplotype.name.empty()
                                    ? region.place(region.core_start, region.core_end) + '/' + std::to_string(number)
                                    : haplotype.name;
        const std::string sequence = haplotype.sequence.substr(before, haplotype.sequence.size() - before - behind);
        for (const std::string& text : {name, region.chrom, start, end, own, sequence}) (lines += text) += '\t';
        lines += variants_of(region, haplotype);
        for (const double value : {share.fraction, share.low, share.high}) append_real(lines, "%.4g", value);
        append_real(lines, "%.2f", quality);
        ((lines += '\t') += std::to_string(reads[i])) += '\n';
    }
    return lines;
}

}  // namespace pairhmm
