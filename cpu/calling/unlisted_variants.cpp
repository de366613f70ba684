#include "calling/unlisted_variants.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace pairhmm {

namespace {

// Brings the candidates of a region into order of position, nuisances last.
void sort_variants(Region& region) {
    std::vector<size_t> order(region.variants.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t left, size_t right) {
        const auto key = [&](size_t i) {
            return std::pair(region.variants[i].pos, region.variants[i].role == Role::kNuisance);
        };
        return key(left) < key(right);
    });
    std::vector<Variant> variants;
    std::vector<Extent> extents;
    for (const size_t i : order) {
        variants.push_back(std::move(region.variants[i]));
        extents.push_back(region.extents[i]);
    }
    region.variants = std::move(variants);
    region.extents = std::move(extents);
}

bool is_within(const Extent& extent, const Region& region) {
    return region.start < extent.start && extent.end < region.end;
}

}  // namespace

void UnlistedVariants::scan(const std::string& chrom, const Reads& reads,
                            const std::vector<std::pair<int64_t, int64_t>>& places) {
    if (!shown_.empty() && shown_.front().chrom != chrom) shown_.clear();
    std::vector<Variant> found = finder_.scan(chrom, reads, &places);
    std::move(found.begin(), found.end(), std::back_inserter(shown_));
}

void UnlistedVariants::finish() {
    std::vector<Variant> found = finder_.finish();
    std::move(found.begin(), found.end(), std::back_inserter(shown_));
}

void UnlistedVariants::forget(int64_t position) { shown_.erase(shown_.begin(), from(position)); }

void UnlistedVariants::add_to(Region& region, const RegionBuilder& builder) {
    const auto is_listed = [&](const Variant& one) {
        return std::any_of(region.variants.begin(), region.variants.end(), [&](const Variant& other) {
            return other.pos == one.pos && other.ref == one.ref && other.alts == one.alts;
        });
    };
    // Most variants that reads show are listed ones. The others alone need an extent.
    std::vector<std::pair<const Variant*, Extent>> unlisted;
    const auto find = [&](int64_t first, int64_t last) {
        unlisted.clear();
        for (auto shown = from(first); shown != shown_.end() && shown->pos < last; ++shown)
            if (shown->chrom == region.chrom && !is_listed(*shown))
                unlisted.emplace_back(&*shown, variant_extent(*shown, reference_));
    };
    // An extent begins at its record's position or before it.
    const Extent core{region.core_start, region.core_end}, before{region.start, region.end};
    find(std::min(region.start, core.start - kMostDeleted), region.end);
    for (const auto& [shown, extent] : unlisted)
        if (static_cast<int64_t>(shown->ref.size()) <= 1 + kMostDeleted &&
            overlap(surely_deleted(*shown, extent), core) && !is_within(extent, region))
            builder.widen(region, extent);
    if (region.start < before.start || region.end > before.end) find(region.start, region.end);
    unlisted.erase(std::remove_if(unlisted.begin(), unlisted.end(),
                                  [&](const auto& one) { return !is_within(one.second, region); }),
                   unlisted.end());
    if (unlisted.empty()) return;
    const std::set<Change> listed = changes(region.variants);
    for (const auto& [shown, extent] : unlisted) {
        Variant nuisance = *shown;
        nuisance.role = Role::kNuisance;
        nuisance.alts.clear();
        for (const std::string& alt : shown->alts)
            if (!listed.count(change(*shown, alt))) nuisance.alts.push_back(alt);
        if (nuisance.alts.empty()) continue;
        region.variants.push_back(std::move(nuisance));
        region.extents.push_back(extent);
    }
    sort_variants(region);
}

std::deque<Variant>::iterator UnlistedVariants::from(int64_t position) {
    return std::lower_bound(shown_.begin(), shown_.end(), position,
                            [](const Variant& variant, int64_t at) { return variant.pos < at; });
}

UnlistedVariants::Change UnlistedVariants::change(const Variant& variant, const std::string& alt) {
    const TrimmedAllele allele = trim_allele(variant.ref, alt);
    std::string before(allele.ref), after(allele.alt);
    int64_t start = variant.pos + allele.head;
    if (before.empty() || after.empty()) {
        const int64_t offset = std::max<int64_t>(0, start - 2 * kMaxShift);
        const std::string bases = reference_.fetch(variant.chrom, offset, start + static_cast<int64_t>(before.size()));
        start -= offset;
        shift_left(bases, start, before, after);
        start += offset;
    }
    return {start, std::move(before), std::move(after)};
}

std::set<UnlistedVariants::Change> UnlistedVariants::changes(const std::vector<Variant>& variants) {
    std::set<Change> all;
    for (const Variant& variant : variants)
        for (const std::string& alt : variant.alts) all.insert(change(variant, alt));
    return all;
}

}  // namespace pairhmm
