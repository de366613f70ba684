#include "calling/scored_region.hpp"

#include <algorithm>

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

// Uses the reads of a region that fit no haplotype where they are many.
void use_many(ScoredRegion& used, const ScoredRegion& region, double many) {
    if (!any(region.set_aside)) return;
    used.set_aside = few_set_aside(region, many);
    used.unfit = region.set_aside;
}

}  // namespace

ScoredRegion without_unlisted(const ScoredRegion& region) {
    std::vector<size_t> candidates, haplotypes;
    for (size_t i = 0; i < region.region.variants.size(); ++i)
        if (!is_nuisance(region.region.variants[i])) candidates.push_back(i);
    ScoredRegion listed = region;
    if (candidates.size() == region.region.variants.size()) return listed;
    for (size_t i = 0; i < region.haplotypes.size(); ++i)
        if (!region.haplotypes[i].is_nuisance) haplotypes.push_back(i);
    listed.region.variants = at(region.region.variants, candidates);
    listed.region.extents = at(region.region.extents, candidates);
    listed.haplotypes = at(region.haplotypes, haplotypes);
    for (Haplotype& haplotype : listed.haplotypes) haplotype.alleles = at(haplotype.alleles, candidates);
    listed.from_end = columns(region.from_end, region.region.variants.size(), candidates);
    listed.log10 = columns(region.log10, region.haplotypes.size(), haplotypes);
    listed.precision = columns(region.precision, region.haplotypes.size(), haplotypes);
    return listed;
}

ScoredRegion on_listed_alleles(const ScoredRegion& region) {
    ScoredRegion listed = without_unlisted(region);
    use_many(listed, region, kManySetAside);
    return listed;
}

ScoredRegion with_many_unfit(const ScoredRegion& region) {
    ScoredRegion used = region;
    use_many(used, region, kManyOfDiscovered);
    return used;
}

}  // namespace pairhmm
