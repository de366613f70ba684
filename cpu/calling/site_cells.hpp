// The reads over positions, by strand, place in the read and quality.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "calling/candidates.hpp"

namespace pairhmm {

// Cells of a position: strand, place in the read, class of quality. The first classes are those of single reads, the
// last two those of copies of a molecule that agree (calling/molecule_bases.hpp): some, and many.
constexpr int kStrands = 2, kCycleBins = 8, kQualityClasses = 6, kCopiesClass = 4;
constexpr int kCells = kStrands * kCycleBins * kQualityClasses;
// The reads over a position: how many of each cell have each letter.
struct SiteCells {
    std::array<std::array<uint32_t, kCells>, 4> count{};
};

inline int cell_of(int strand, int bin, int quality_class) {
    return (strand * kCycleBins + bin) * kQualityClasses + quality_class;
}

// The place of a base in a read of so many aligned bases, by its cycle.
int cycle_bin(int64_t cycle, int64_t aligned);

// Sites that are counted together.
constexpr int64_t kSitesOfPage = 1 << 10;

// Counts bases of reads.
class CellCounter {
public:
    explicit CellCounter(int min_base_quality);

    // The next bases are those of this read.
    void take(const Reads& reads, int64_t read);
    // Counts query [first, first + length) of the read, whose first base belongs to `sites`.
    void count(int64_t first, int64_t length, SiteCells* sites) const {
        each(first, length,
             [=](int64_t i, uint8_t letter, int, int cell) { ++sites[i].count[letter][static_cast<size_t>(cell)]; });
    }
    // Calls visit(i, letter, quality, cell) for each base query first + i of them that counts.
    template <class Visit>
    void each(int64_t first, int64_t length, const Visit& visit) const {
        const uint8_t* bin = bin_.data() + (first - first_);
        for (int64_t i = 0; i < length; ++i) {
            const uint8_t letter = base_[first + i];
            const int quality_class = class_of_[quality_[first + i]];
            if (letter < kCodeOfN && quality_class >= 0) visit(i, letter, quality_[first + i], bin[i] + quality_class);
        }
    }
    // The cell of a base between the clips, of the first class of quality.
    int cell(int64_t query) const {
        return bin_[static_cast<size_t>(std::clamp<int64_t>(query - first_, 0, aligned_ - 1))];
    }

private:
    std::array<int8_t, 256> class_of_{};  // -1: not counted
    std::vector<uint8_t> bin_;            // of each base between the clips
    int64_t aligned_ = -1, first_ = 0;
    int strand_ = 0;
    const uint8_t* base_ = nullptr;
    const uint8_t* quality_ = nullptr;
};

}  // namespace pairhmm
