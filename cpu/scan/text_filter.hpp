// Windows of samples in all references, bit by bit: for windows whose many Ns leave no seed to look up.
//
// It is the filter of scan/level.cpp with the sides changed: the references are laid out as planes of bits, once, and
// the window is the pattern. A window takes some microseconds for each 100 kb.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "calling/letters.hpp"
#include "scan/level.hpp"

namespace pairhmm {

constexpr int64_t kFilterColumns = 24;      // columns of a filter; what it leaves is compared whole
constexpr int64_t kColumnsPerMismatch = 8;  // more columns for each mismatch that is allowed

inline FilterColumn filter_column(uint8_t letter, int64_t column) {
    FilterColumn filter{0, {0, 0, 0}};
    for (int base = 0; base < 4; ++base) {
        if ((letter >> base & 1) == 0) continue;
        const int64_t plane = base * kShifts + column % kShifts;
        filter.offset[filter.planes++] = static_cast<int32_t>(plane * kPlaneBytes + column / kShifts);
    }
    return filter;
}

class TextFilter {
public:
    // Keeps a pointer to the letters. Their planes are made when the first window is searched for.
    TextFilter(const ScanLevel& level, const uint8_t* letters, int64_t count)
        : level_(level), letters_(letters), count_(count) {}

    // take(place) for every place where the window may lie: where few enough of its most telling columns differ.
    template <class Take>
    void each(const uint8_t* window, int64_t length, int64_t max_mismatches, const Take& take) const {
        std::call_once(once_, [this] { make_planes(); });
        const auto columns = telling_columns(window, length, max_mismatches);
        struct Telling {
            const Take& take;
            int64_t first;
        };
        const auto tell = [](void* context, uint32_t, int position) {
            const auto& telling = *static_cast<Telling*>(context);
            telling.take(telling.first + position);
        };
        for (int64_t first = 0; first < count_; first += kTile) {
            Telling telling{take, first};
            const int positions = static_cast<int>(std::min<int64_t>(kTile, count_ - first));
            level_.filter(*planes_[static_cast<size_t>(first / kTile)], positions, columns.data(),
                          static_cast<int64_t>(columns.size()), std::min<int64_t>(max_mismatches, kMostCounted), 0,
                          {tell, &telling});
        }
    }

private:
    // Columns of few bases first. Where the filter can't count the mismatches, none: every place passes.
    static std::vector<FilterColumn> telling_columns(const uint8_t* window, int64_t length, int64_t max_mismatches) {
        std::vector<FilterColumn> columns;
        if (max_mismatches > kMostCounted) return columns;
        const auto most = static_cast<size_t>(kFilterColumns + kColumnsPerMismatch * max_mismatches);
        for (int bases = 1; bases < 4; ++bases)
            for (int64_t c = 0; c < std::min<int64_t>(length, kReach) && columns.size() < most; ++c)
                if (bases_of(window[c]) == bases) columns.push_back(filter_column(window[c], c));
        return columns;
    }

    void make_planes() const {
        const auto tile = std::make_unique<TileLetters>();
        for (int64_t first = 0; first < count_; first += kTile) {
            const int64_t there = std::min<int64_t>(sizeof tile->letter, count_ - first);
            std::memcpy(tile->letter, letters_ + first, static_cast<size_t>(there));
            std::memset(tile->letter + there, kAny, sizeof tile->letter - static_cast<size_t>(there));
            tile->count = static_cast<int>(std::min<int64_t>(kTile, there));
            planes_.push_back(std::make_unique<BitPlanes>());
            level_.make_planes(*tile, *planes_.back());
        }
    }

    const ScanLevel& level_;
    const uint8_t* letters_;
    int64_t count_;
    mutable std::once_flag once_;
    mutable std::vector<std::unique_ptr<BitPlanes>> planes_;
};

}  // namespace pairhmm
