#include "calling/tandem_tracts.hpp"

#include <algorithm>

#include "calling/letters.hpp"

namespace pairhmm {

namespace {

// Bases that are looked at behind those in which repeats begin: more than the shortest repeat of any unit.
constexpr int64_t kBehind = 1 << 10;
// Bases of a repeat that is longer still, at once.
constexpr int64_t kOfLong = 1 << 18;

std::string codes_of(const std::string& chrom, int64_t start, int64_t end, ReferenceBases& reference) {
    std::string bases = reference.fetch(chrom, start, end);
    std::transform(bases.begin(), bases.end(), bases.begin(), code_of);
    return bases;
}

// The first base from `at` on that differs from the one a unit before.
size_t repeat_end(const std::string& codes, size_t at, size_t unit) {
    while (at < codes.size() && codes[at] == codes[at - unit]) ++at;
    return at;
}

// The end of a repeat that goes up to a known position, or on.
int64_t end_from(const std::string& chrom, int64_t known, size_t unit, ReferenceBases& reference) {
    for (;; known += kOfLong) {
        const auto size = static_cast<int64_t>(unit);
        const std::string codes = codes_of(chrom, known - size, known + kOfLong, reference);
        const auto end = static_cast<int64_t>(repeat_end(codes, unit, unit));
        if (end < size + kOfLong) return known + end - size;
    }
}

// Whether a unit is itself copies of a shorter one.
bool is_of_shorter(const std::string& codes, size_t start, size_t unit) {
    for (size_t other = 1; other < unit; ++other)
        if (unit % other == 0 &&
            std::equal(codes.begin() + start + other, codes.begin() + start + unit, codes.begin() + start))
            return true;
    return false;
}

// The repeats of a unit: those whose starts in `codes` are below `limit`.
void add_tracts(const std::string& codes, size_t begin, size_t limit, size_t unit, size_t least,
                std::vector<Tract>& tracts) {
    for (size_t start = 0, end; start < limit && start + unit < codes.size(); start = end - unit + 1) {
        end = repeat_end(codes, start + unit, unit);
        if (start < begin || codes[start] >= kCodeOfN || (end - start) / unit < std::max<size_t>(2, least)) continue;
        if (!is_of_shorter(codes, start, unit))
            tracts.push_back({static_cast<int64_t>(start), static_cast<int64_t>(end), static_cast<int>(unit)});
    }
}

}  // namespace

std::vector<Tract> find_tracts(const std::string& chrom, int64_t begin, int64_t end,
                               const std::vector<int>& least_copies, ReferenceBases& reference) {
    // The base before tells whether a repeat has begun earlier.
    const int64_t first = std::max<int64_t>(0, begin - 1);
    const std::string codes = codes_of(chrom, first, end + kBehind, reference);
    std::vector<Tract> tracts;
    for (size_t unit = 1; unit <= least_copies.size(); ++unit)
        add_tracts(codes, begin - first, end - first, unit, least_copies[unit - 1], tracts);
    std::stable_sort(tracts.begin(), tracts.end(),
                     [](const Tract& one, const Tract& other) { return one.start < other.start; });
    for (Tract& tract : tracts) {
        const bool is_whole = tract.end < static_cast<int64_t>(codes.size());
        tract.start += first;
        tract.end += first;
        if (!is_whole) tract.end = end_from(chrom, tract.end, static_cast<size_t>(tract.unit), reference);
    }
    return tracts;
}

}  // namespace pairhmm
