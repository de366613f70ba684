#include "calling/scored_region.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "calling/haplotype_alignment.hpp"
#include "calling/letters.hpp"

namespace pairhmm {

namespace {

// The elements at some places.
template <class Value>
std::vector<Value> at(const std::vector<Value>& values, const std::vector<size_t>& places) {
    std::vector<Value> kept;
    for (const size_t place : places) kept.push_back(values[place]);
    return kept;
}

// Some columns of a table with so many.
template <class Value>
std::vector<Value> columns(const std::vector<Value>& table, size_t width, const std::vector<size_t>& kept) {
    std::vector<Value> fewer;
    for (size_t row = 0; row < table.size(); row += width)
        for (const size_t column : kept) fewer.push_back(table[row + column]);
    return fewer;
}

bool is_nuisance(const Variant& variant) { return variant.role == Role::kNuisance; }

bool any(const std::vector<uint8_t>& flags) { return std::find(flags.begin(), flags.end(), 1) != flags.end(); }

// The reads set aside, except those over sites at all of which they are this share of a sample's reads, or more.
std::vector<uint8_t> few_set_aside(const ScoredRegion& region, double many) {
    const int64_t reads = region.reads();
    std::vector<uint8_t> are_few(static_cast<size_t>(reads), 0), are_many(are_few);
    const int32_t samples = reads ? 1 + *std::max_element(region.sample.begin(), region.sample.end()) : 0;
    for (size_t site = 0; site < region.region.variants.size(); ++site) {
        if (is_nuisance(region.region.variants[site])) continue;
        const Extent& extent = region.region.extents[site];
        std::vector<int64_t> covering(static_cast<size_t>(samples)), aside(covering);
        for (int64_t read = 0; read < reads; ++read) {
            if (!region.is_over(read, extent)) continue;
            ++covering[region.sample[read]];
            aside[region.sample[read]] += region.set_aside[read];
        }
        for (int64_t read = 0; read < reads; ++read) {
            if (!region.is_over(read, extent)) continue;
            const int32_t sample = region.sample[read];
            const bool is_share = static_cast<double>(aside[sample]) >= many * static_cast<double>(covering[sample]);
            (is_share ? are_many : are_few)[read] = 1;
        }
    }
    std::vector<uint8_t> few = region.set_aside;
    for (size_t read = 0; read < few.size(); ++read) few[read] &= are_few[read] || !are_many[read];
    return few;
}

// Bases from an insertion or deletion to those that an aligner may have placed in another way together with it.
constexpr int64_t kNear = 10;

// Whether an unlisted allele leaves another length of the repeat, or other bases, than those of a listed site.
bool replaces(const Variant& unlisted, const Extent& its, int16_t allele, const Variant& listed, const Extent& own) {
    if (has_gap(unlisted)) return its.start < own.end + kNear && own.start < its.end + kNear;
    if (has_gap(listed)) return false;
    const TrimmedAllele trimmed = trim_allele(unlisted.ref, unlisted.alts[static_cast<size_t>(allele) - 1]);
    const int64_t start = unlisted.pos + trimmed.head, end = start + static_cast<int64_t>(trimmed.ref.size());
    return start < listed.end() && listed.pos < end;
}

// The allele of a haplotype at a listed site. A listed one stays, unless the length of its own repeat is changed again.
int16_t allele_at(const Region& region, const Haplotype& haplotype, size_t site) {
    const Variant& listed = region.variants[site];
    const int16_t own = haplotype.alleles[site];
    for (size_t i = 0; i < region.variants.size(); ++i) {
        const Variant& other = region.variants[i];
        if (!is_nuisance(other) || haplotype.alleles[i] <= 0) continue;
        if (own != 0 && !(has_gap(listed) && other.pos == listed.pos)) continue;
        if (replaces(other, region.extents[i], haplotype.alleles[i], listed, region.extents[site]))
            return kUnlistedAllele;
    }
    return own;
}

// The letters of a sequence as codes.
class Coded {
public:
    explicit Coded(const std::string& sequence) : codes_(sequence.size()) {
        std::transform(sequence.begin(), sequence.end(), codes_.begin(), code_of);
    }
    Stretch letters() const { return {codes_.data(), static_cast<int64_t>(codes_.size())}; }

private:
    std::vector<uint8_t> codes_;
};

// The allele of a listed site that a sequence has whole, though unlisted alleles spell it: in the best alignment to the
// reference with one allele of the site alone. An alternative allele has to lie on a shortest way from the reference to
// the sequence: an SNV that only moves the end of a gap does not.
int16_t spelled_allele(const ScoredRegion& region, const std::string& sequence, size_t site) {
    const Extent& extent = region.region.extents[site];
    const Coded own(sequence), reference(region.haplotypes.front().sequence);
    const int32_t whole_way = align_haplotype(own.letters(), reference.letters()).score;
    int16_t found = kUnlistedAllele;
    int32_t best = std::numeric_limits<int32_t>::min();
    for (const Haplotype& other : region.haplotypes) {
        const auto changes =
            std::count_if(other.alleles.begin(), other.alleles.end(), [](int16_t a) { return a != 0; });
        const int16_t allele = other.alleles[site];
        if (changes != (allele != 0)) continue;
        const Coded theirs(other.sequence);
        const HaplotypeAlignment alignment = align_haplotype(own.letters(), theirs.letters());
        const int32_t first_part = align_haplotype(theirs.letters(), reference.letters()).score;
        if (alignment.score <= best || alignment.score + first_part - score_of_itself(theirs.letters()) < whole_way)
            continue;
        const int64_t first = extent.start - region.region.haplotype_start;
        const int64_t grown = theirs.letters().length - reference.letters().length;
        if (!has_intact(alignment, own.letters(), theirs.letters(), first, first + extent.end - extent.start + grown))
            continue;
        found = allele;
        best = alignment.score;
    }
    return found;
}

// The extent of each candidate with those of unlisted deletions over it.
std::vector<Extent> extents_with_unlisted(const Region& region) {
    std::vector<Extent> extents = region.extents;
    for (Extent& own : extents) {
        const auto [start, end] = own;
        for (size_t i = 0; i < region.variants.size(); ++i) {
            if (!is_nuisance(region.variants[i])) continue;
            const auto [first, last] = surely_deleted(region.variants[i], region.extents[i]);
            if (first <= start && end <= last) own = span_of(own, region.extents[i]);
        }
    }
    return extents;
}

std::vector<size_t> listed_candidates(const Region& region) {
    std::vector<size_t> listed;
    for (size_t i = 0; i < region.variants.size(); ++i)
        if (!is_nuisance(region.variants[i])) listed.push_back(i);
    return listed;
}

// The region with the alleles of some candidates alone.
void keep_candidates(const std::vector<size_t>& kept, ScoredRegion& region) {
    region.from_end = columns(region.from_end, region.region.variants.size(), kept);
    region.region.variants = at(region.region.variants, kept);
    region.region.extents = at(region.region.extents, kept);
    for (Haplotype& haplotype : region.haplotypes) haplotype.alleles = at(haplotype.alleles, kept);
}

// Uses the reads of a region that fit no haplotype where they are many.
void use_many(ScoredRegion& used, const ScoredRegion& region, double many) {
    if (!any(region.set_aside)) return;
    std::vector<uint8_t> few = few_set_aside(region, many);
    used.unfit = std::exchange(used.set_aside, std::move(few));
}

}  // namespace

void number_fragments(ScoredRegion& region) {
    std::unordered_map<std::string_view, int64_t> seen;
    seen.reserve(region.name_end.size());
    region.fragment.clear();
    for (int64_t read = 0; read < region.reads(); ++read)
        region.fragment.push_back(seen.try_emplace(region.name(read), read).first->second);
}

void add_reads(ScoredRegion& region, ScoredRegion&& part) {
    const auto add = [](auto& values, const auto& more) { values.insert(values.end(), more.begin(), more.end()); };
    const auto before = static_cast<int64_t>(region.names.size());
    region.names += part.names;
    for (const int64_t end : part.name_end) region.name_end.push_back(before + end);
    add(region.sample, part.sample);
    add(region.flag, part.flag);
    add(region.mapq, part.mapq);
    add(region.start, part.start);
    add(region.end, part.end);
    add(region.length, part.length);
    add(region.from_end, part.from_end);
    add(region.log10, part.log10);
    add(region.precision, part.precision);
    add(region.set_aside, part.set_aside);
}

void turn_back(ScoredRegion& scored, int64_t length) {
    Region& region = scored.region;
    region.circle = length;
    for (int64_t* position : {&region.core_start, &region.core_end, &region.start, &region.end, &region.haplotype_start,
                              &region.haplotype_end})
        *position -= length;
    for (Variant& variant : region.variants) variant.pos -= length;
    for (Extent& extent : region.extents) extent = {extent.start - length, extent.end - length};
    for (std::vector<int64_t>* positions : {&scored.start, &scored.end})
        for (int64_t& position : *positions) position -= length;
    if (!scored.neighbours) return;
    for (Neighbour& neighbour : scored.neighbours->snvs) neighbour.position -= length;
    for (LoneMismatch& mismatch : scored.neighbours->lone) mismatch.position -= length;
    for (PlacedRead& read : scored.neighbours->reads) read.position -= length, read.end -= length;
}

ScoredRegion without_unlisted(const ScoredRegion& region) {
    const std::vector<size_t> candidates = listed_candidates(region.region);
    ScoredRegion listed = region;
    if (candidates.size() == region.region.variants.size()) return listed;
    std::vector<size_t> haplotypes;
    for (size_t i = 0; i < region.haplotypes.size(); ++i)
        if (!region.haplotypes[i].is_nuisance) haplotypes.push_back(i);
    listed.haplotypes = at(region.haplotypes, haplotypes);
    listed.log10 = columns(region.log10, region.haplotypes.size(), haplotypes);
    listed.precision = columns(region.precision, region.haplotypes.size(), haplotypes);
    keep_candidates(candidates, listed);
    return listed;
}

ScoredRegion on_listed_alleles(const ScoredRegion& region) {
    const std::vector<size_t> candidates = listed_candidates(region.region);
    ScoredRegion listed = region;
    for (Haplotype& haplotype : listed.haplotypes) {
        std::vector<int16_t> alleles = haplotype.alleles;
        for (const size_t site : candidates) {
            alleles[site] = allele_at(region.region, haplotype, site);
            if (alleles[site] == kUnlistedAllele) alleles[site] = spelled_allele(region, haplotype.sequence, site);
        }
        haplotype.alleles = std::move(alleles);
    }
    listed.with_unlisted = at(extents_with_unlisted(region.region), candidates);
    keep_candidates(candidates, listed);
    use_many(listed, region, kManySetAside);
    return listed;
}

ScoredRegion with_many_unfit(ScoredRegion region) {
    use_many(region, region, kManyOfDiscovered);
    return region;
}

}  // namespace pairhmm
