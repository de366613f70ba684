#include "scan/index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "calling/letters.hpp"
#include "scan/packed.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kMostEntries = 1 << 25;  // of an index of longer windows, about: four bytes each
constexpr int64_t kAmbiguous = 4;          // a window may have this many times the codes of one of plain bases
constexpr int64_t kWindowsEach = 64;       // windows of a pattern that are looked at for each anchor it needs
constexpr int kCounted = 8;                // bases that a window is counted by

size_t power_of_five(int exponent) { return exponent == 0 ? 1 : 5 * power_of_five(exponent - 1); }

// Nanoseconds of a look-up and of a listed anchor (measured): the bitmap of longer windows is out of the near cache,
// but they are listed less often. The signatures' own Ns say how many to expect in samples.
int window_bases(const Patterns& patterns, int64_t anchors) {
    constexpr double kNearLookUp = 1.3, kFarLookUp = 2.6, kListed = 12;
    const int64_t letters = patterns.offset[patterns.count];
    const auto ns = static_cast<double>(std::count(patterns.letters, patterns.letters + letters, kAny));
    const double n_ratio = letters == 0 ? 0 : ns / static_cast<double>(letters), matching = 0.25 + 0.75 * n_ratio;
    const double listed = kListed * static_cast<double>(anchors);
    const double few = kNearLookUp + listed * std::pow(matching, kFewBases);
    const double many = kFarLookUp + listed * std::pow(matching, kManyBases);
    return few <= many || anchors << kManyBases > kMostEntries ? kFewBases : kManyBases;
}

struct Window {
    int64_t offset;
    int64_t ambiguity;  // sequences of bases that it stands for
    uint32_t counted;   // two bits a base of its first letters
    uint64_t cost;      // how often samples may show it, in no unit
};

Window window_at(const uint8_t* letters, int64_t offset) {
    Window window{offset, 1, 0, 0};
    for (int i = 0; i < kCounted; ++i) window.counted = window.counted << 2 | two_bits(letters[offset + i]);
    return window;
}

// How many codes a window has, or 0 where they are too many; sets how many sequences of bases it stands for.
int64_t codes_of(const uint8_t* letters, int bases, int64_t& ambiguity) {
    const int64_t most = kAmbiguous << bases;
    int64_t codes = 1;
    ambiguity = 1;
    for (int i = 0; i < bases; ++i) {
        const int choices = bases_of(letters[i]);
        codes *= choices + 1;
        ambiguity *= choices;
        if (codes > most) return 0;
    }
    return codes;
}

// The usable windows of a pattern, thinned out evenly where they are many.
void find_windows(const uint8_t* letters, int64_t length, int bases, int64_t most, std::vector<Window>& windows) {
    windows.clear();
    const int64_t places = length - bases + 1;
    const int64_t step = std::max<int64_t>(1, places / (4 * most));
    for (int64_t offset = 0; offset < places; offset += step) {
        int64_t ambiguity;
        if (codes_of(letters + offset, bases, ambiguity) == 0) continue;
        windows.push_back(window_at(letters, offset));
        windows.back().ambiguity = ambiguity;
    }
    const int64_t thin = static_cast<int64_t>(windows.size()) / most;
    if (thin < 2) return;
    size_t kept = 0;
    for (size_t i = 0; i < windows.size(); i += static_cast<size_t>(thin)) windows[kept++] = windows[i];
    windows.resize(kept);
}

// Up to `each` windows that do not overlap, from the front of the list; false where there are fewer.
bool take_apart(const std::vector<Window>& windows, int bases, int64_t each, std::vector<int64_t>& taken) {
    taken.clear();
    for (const auto& window : windows) {
        const bool apart = std::all_of(taken.begin(), taken.end(), [&](int64_t offset) {
            return window.offset >= offset + bases || offset >= window.offset + bases;
        });
        if (apart) taken.push_back(window.offset);
        if (static_cast<int64_t>(taken.size()) == each) return true;
    }
    return false;
}

// The sum of each choice of one number a column: all codes of a window.
void list_codes(const uint8_t* letters, int bases, std::vector<uint32_t>& codes) {
    codes.assign(1, 0);
    for (int i = 0; i < bases; ++i) {
        const size_t before = codes.size();
        const int choices = bases_of(letters[i]);
        codes.resize(before * static_cast<size_t>(choices + 1));
        // The last choice is N. It overwrites the codes that the others are made from.
        size_t to = before;
        for (uint32_t base = 0; base < 4; ++base) {
            if ((letters[i] >> base & 1) == 0) continue;
            for (size_t j = 0; j < before; ++j) codes[to + j] = 5 * codes[j] + base;
            to += before;
        }
        for (size_t j = 0; j < before; ++j) codes[j] = 5 * codes[j] + 4;
    }
}

}  // namespace

AnchorIndex::AnchorIndex(const Patterns& patterns, int64_t max_mismatches)
    : bases_(window_bases(patterns, patterns.count * (max_mismatches + 1))) {
    choose_anchors(patterns, max_mismatches + 1);
    enter(patterns);
}

void AnchorIndex::choose_anchors(const Patterns& patterns, int64_t each) {
    // What is common among the signatures is common in samples too, as runs of one base are.
    std::vector<uint32_t> common(size_t{1} << (2 * kCounted), 0);
    std::vector<Window> windows;
    for (int64_t p = 0; p < patterns.count; ++p) {
        find_windows(patterns.begin(p), patterns.length(p), bases_, kWindowsEach * each, windows);
        for (const auto& window : windows) ++common[window.counted];
    }
    std::vector<int64_t> taken;
    first_anchor_.assign(1, 0);
    for (int64_t p = 0; p < patterns.count; ++p) {
        find_windows(patterns.begin(p), patterns.length(p), bases_, kWindowsEach * each, windows);
        for (auto& window : windows) window.cost = static_cast<uint64_t>(window.ambiguity) * common[window.counted];
        std::stable_sort(windows.begin(), windows.end(),
                         [](const Window& a, const Window& b) { return a.cost < b.cost; });
        bool enough = take_apart(windows, bases_, each, taken);
        if (!enough && each > 1) {
            // The cheapest windows overlap. Taken from left to right, as many as possible fit.
            find_windows(patterns.begin(p), patterns.length(p), bases_, patterns.length(p), windows);
            enough = take_apart(windows, bases_, each, taken);
        }
        if (enough) {
            for (const int64_t offset : taken) anchors_.push_back({p, offset});
        }
        first_anchor_.push_back(static_cast<int64_t>(anchors_.size()));
    }
}

void AnchorIndex::enter(const Patterns& patterns) {
    std::vector<uint32_t> codes;
    const auto list_codes_of = [&](const Anchor& anchor) {
        list_codes(patterns.begin(anchor.pattern) + anchor.offset, bases_, codes);
    };
    // Counts stand one code further on: filling moves each start to its end, which is the start of the next code.
    const size_t all = power_of_five(bases_);
    first_.assign(all + 2, 0);
    for (const auto& anchor : anchors_) {
        list_codes_of(anchor);
        for (const uint32_t code : codes) ++first_[code + 2];
    }
    known_.assign(all / 64 + 1, 0);
    for (size_t code = 0; code < all; ++code) known_[code / 64] |= uint64_t{first_[code + 2] != 0} << (code % 64);
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    anchor_.resize(first_.back());
    for (size_t a = 0; a < anchors_.size(); ++a) {
        list_codes_of(anchors_[a]);
        for (const uint32_t code : codes) anchor_[first_[code + 1]++] = static_cast<uint32_t>(a);
    }
    first_.pop_back();

    extension_.resize(anchors_.size() * (kExtension / 8));
    for (size_t a = 0; a < anchors_.size(); ++a) {
        std::array<uint8_t, kExtension> behind;
        behind.fill(kAny);
        const int64_t from = anchors_[a].offset + bases_;
        const int64_t length = std::min<int64_t>(kExtension, patterns.length(anchors_[a].pattern) - from);
        std::copy_n(patterns.begin(anchors_[a].pattern) + from, length, behind.begin());
        std::memcpy(&extension_[a * (kExtension / 8)], behind.data(), kExtension);
    }
}

IndexTables AnchorIndex::tables() && {
    const auto anchors = static_cast<int64_t>(anchors_.size());
    return {bases_, anchors, std::move(anchors_), std::move(known_), std::move(first_), std::move(anchor_)};
}

IndexView AnchorIndex::view() const {
    return {bases_, known_.data(), first_.data(), anchor_.data(), extension_.data()};
}

}  // namespace pairhmm
