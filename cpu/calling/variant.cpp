#include "calling/variant.hpp"

#include <algorithm>
#include <utility>

namespace pairhmm {

namespace {

// Aligners may clip reads where more bases than this change.
constexpr size_t kMostAligned = 3;

// How far a trimmed insertion or deletion at `at` in `bases` can be shifted left and right.
std::pair<int64_t, int64_t> shifts(int64_t at, const TrimmedAllele& allele, std::string_view bases) {
    const std::string_view unit = allele.ref.empty() ? allele.alt : allele.ref;
    const int64_t size = static_cast<int64_t>(unit.size()), behind = at + static_cast<int64_t>(allele.ref.size());
    int64_t left = 0, right = 0;
    if (at < 0 || at > static_cast<int64_t>(bases.size())) return {left, right};
    while (left < at && left < kMaxShift && bases[at - 1 - left] == unit[size - 1 - left % size]) ++left;
    while (behind + right < static_cast<int64_t>(bases.size()) && right < kMaxShift &&
           bases[behind + right] == unit[right % size])
        ++right;
    return {left, right};
}

}  // namespace

bool is_snv(const Variant& variant) {
    return variant.ref.size() == 1 &&
           std::all_of(variant.alts.begin(), variant.alts.end(), [](const auto& alt) { return alt.size() == 1; });
}

bool has_gap(const Variant& variant) {
    return std::any_of(variant.alts.begin(), variant.alts.end(),
                       [&](const std::string& alt) { return alt.size() != variant.ref.size(); });
}

bool has_deletion(const Variant& variant) {
    return std::any_of(variant.alts.begin(), variant.alts.end(),
                       [&](const std::string& alt) { return alt.size() < variant.ref.size(); });
}

TrimmedAllele trim_allele(std::string_view ref, std::string_view alt) {
    size_t shortest = std::min(ref.size(), alt.size()), tail = 0, head = 0;
    while (tail + 1 < shortest && ref[ref.size() - 1 - tail] == alt[alt.size() - 1 - tail]) ++tail;
    ref.remove_suffix(tail);
    alt.remove_suffix(tail);
    shortest -= tail;
    while (head < shortest && ref[head] == alt[head]) ++head;
    return {static_cast<int64_t>(head), ref.substr(head), alt.substr(head)};
}

void shift_left(std::string_view reference, int64_t& start, std::string& before, std::string& after) {
    std::string& unit = before.empty() ? after : before;
    if (unit.empty() || !(before.empty() || after.empty()) || start > static_cast<int64_t>(reference.size())) return;
    const int64_t size = static_cast<int64_t>(unit.size());
    int64_t shift = 0;
    while (start - shift > 1 && reference[start - shift - 1] == unit[size - 1 - shift % size]) ++shift;
    start -= shift;
    std::rotate(unit.begin(), unit.end() - shift % size, unit.end());
}

Extent variant_extent(const Variant& variant, ReferenceBases& reference) {
    Extent extent{variant.pos, variant.end()};
    if (is_snv(variant)) return extent;
    const int64_t offset = std::max<int64_t>(0, variant.pos - kMaxShift);
    const std::string bases = reference.fetch(variant.chrom, offset, variant.end() + kMaxShift);
    for (const std::string& alt : variant.alts) {
        const TrimmedAllele allele = trim_allele(variant.ref, alt);
        const int64_t first = variant.pos + allele.head;
        if (allele.ref.empty() == allele.alt.empty()) {
            if (std::max(allele.ref.size(), allele.alt.size()) <= kMostAligned) continue;
            extent.start = std::min(extent.start, std::max<int64_t>(0, first - 1));
            extent.end = std::max(extent.end, first + static_cast<int64_t>(allele.ref.size()) + 1);
            continue;
        }
        const auto [left, right] = shifts(first - offset, allele, bases);
        extent.start = std::min(extent.start, first - left);
        // One base more: a read that ends inside the repeat does not show its length.
        extent.end = std::max(extent.end, first + static_cast<int64_t>(allele.ref.size()) + right + 1);
    }
    return extent;
}

Extent surely_deleted(const Variant& variant, const Extent& extent) {
    int64_t deleted = 0;
    for (const std::string& alt : variant.alts) {
        const TrimmedAllele allele = trim_allele(variant.ref, alt);
        if (allele.alt.empty()) deleted = std::max(deleted, static_cast<int64_t>(allele.ref.size()));
    }
    const Extent sure{extent.end - 1 - deleted, extent.start + 1 + deleted};
    return deleted > 0 && sure.start < sure.end ? sure : Extent{extent.start, extent.start};
}

}  // namespace pairhmm
