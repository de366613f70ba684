#include "calling/repeat_changes.hpp"

#include <algorithm>

namespace pairhmm {

namespace {

// Longer units have few copies in a read. A shorter repeat seldom changes its length, and no read spans a longer one.
constexpr int64_t kLongestUnit = 6, kLeastRepeat = 6, kLongestRepeat = 500;
// Two SNVs in fewer copies may well be two.
constexpr int64_t kLeastCopies = 3;

struct TandemRepeat {
    int64_t start, end, unit;
};

// The bases around [first, first + unit) that repeat a unit.
TandemRepeat repeat_of(const ReferenceWindow& reference, int64_t first, int64_t unit) {
    const auto is_copied = [&](int64_t at) {
        const uint8_t letter = reference.at(at);
        return letter < kCodeOfN && letter == reference.at(at + unit);
    };
    TandemRepeat repeat{first, first + unit, unit};
    while (first - repeat.start < kLongestRepeat && is_copied(repeat.start - 1)) --repeat.start;
    while (repeat.end - first < kLongestRepeat && is_copied(repeat.end - unit)) ++repeat.end;
    return repeat;
}

// The tandem repeat, of the shortest unit, that a base stands in or behind; no unit where there is none.
TandemRepeat repeat_at(const ReferenceWindow& reference, int64_t position) {
    for (int64_t unit = 1; unit <= kLongestUnit; ++unit) {
        for (const int64_t first : {position, position - unit}) {
            const TandemRepeat repeat = repeat_of(reference, first, unit);
            const int64_t length = repeat.end - repeat.start;
            if (length >= std::max(2 * unit, kLeastRepeat) && length < kLongestRepeat) return repeat;
        }
    }
    return {0, 0, 0};
}

// The allele that gives a repeat some bases more (or less, below 0), as whole copies.
Indel copies_of(const ReferenceWindow& reference, const TandemRepeat& repeat, int64_t change) {
    Indel allele{repeat.start - 1, static_cast<int32_t>(std::max<int64_t>(0, -change)), {}};
    for (int64_t i = 0; i < change; ++i)
        allele.inserted += static_cast<char>(reference.at(repeat.start + i % repeat.unit));
    return allele;
}

// Whether at least half of an indel's inserted letters go on with a repeat.
bool goes_on(const ReferenceWindow& reference, const TandemRepeat& repeat, const Indel& indel) {
    const auto length = static_cast<int64_t>(indel.inserted.size());
    int64_t others = 0;
    for (int64_t i = 0; i < length; ++i) {
        const int64_t place = indel.anchor + 1 - repeat.start + i;
        others += uint8_t(indel.inserted[i]) != reference.at(repeat.start + place % repeat.unit);
    }
    return 2 * others <= length;
}

bool is_same(const Indel& one, const Indel& other) {
    return one.anchor == other.anchor && one.deleted == other.deleted && one.inserted == other.inserted;
}

}  // namespace

void add_repeat_changes(const ReferenceWindows& windows, int64_t start, int64_t end, std::vector<Indel>& indels) {
    const size_t count = indels.size();
    for (size_t first = 0, next; first < count; first = next) {
        next = first + 1;
        const ReferenceWindow& reference = windows.of(indels[first].anchor);
        const TandemRepeat repeat = repeat_at(reference, indels[first].anchor + 1);
        if (repeat.unit == 0 || repeat.start <= start || repeat.end >= end) continue;
        if (!goes_on(reference, repeat, indels[first])) continue;
        const auto change_of = [](const Indel& one) { return static_cast<int64_t>(one.inserted.size()) - one.deleted; };
        int64_t change = change_of(indels[first]);
        for (; next < count && indels[next].anchor < repeat.end; ++next) change += change_of(indels[next]);
        if (change == 0 || change % repeat.unit != 0 || -change >= repeat.end - repeat.start) continue;
        Indel allele = copies_of(reference, repeat, change);
        if (next > first + 1 || !is_same(allele, indels[first])) indels.push_back(std::move(allele));
    }
}

std::optional<Indel> whole_copies(const ReferenceWindow& reference, int64_t start, int64_t end, const Indel& indel) {
    const TandemRepeat repeat = repeat_at(reference, indel.anchor + 1);
    if (repeat.unit == 0 || repeat.start <= start || repeat.end >= end) return {};
    const int64_t change = static_cast<int64_t>(indel.inserted.size()) - indel.deleted;
    if (change % repeat.unit != 0 || -change >= repeat.end - repeat.start) return {};
    if (!goes_on(reference, repeat, indel)) return {};
    return copies_of(reference, repeat, change);
}

std::vector<Indel> changes_between(const ReferenceWindow& reference, int64_t first, int64_t last) {
    const int64_t change = last - first;
    const TandemRepeat repeat = repeat_of(reference, first, change);
    const int64_t length = repeat.end - repeat.start;
    if (repeat.end <= last || length < kLeastCopies * change || length >= kLongestRepeat) return {};
    // A repeat that reaches out of the window begins elsewhere.
    if (repeat.start <= reference.start) return {};
    return {copies_of(reference, repeat, change), copies_of(reference, repeat, -change)};
}

}  // namespace pairhmm
