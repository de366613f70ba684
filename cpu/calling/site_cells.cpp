#include "calling/site_cells.hpp"

namespace pairhmm {

namespace {

constexpr uint16_t kReverseFlag = 16;
// Bases at either end of a read that make a place of their own.
constexpr int64_t kEnd = 6;
// Phred qualities at which classes begin, after the first.
constexpr int kClassBegins[] = {20, 27, 33};

}  // namespace

int cycle_bin(int64_t cycle, int64_t aligned) {
    if (cycle < kEnd) return 0;
    if (aligned - cycle <= kEnd) return kCycleBins - 1;
    return static_cast<int>(1 + (cycle - kEnd) * (kCycleBins - 2) / std::max<int64_t>(1, aligned - 2 * kEnd));
}

CellCounter::CellCounter(int min_base_quality) {
    for (int quality = 0; quality < 256; ++quality) {
        const auto above = std::upper_bound(std::begin(kClassBegins), std::end(kClassBegins), quality);
        class_of_[quality] =
            quality < min_base_quality ? int8_t{-1} : static_cast<int8_t>(above - std::begin(kClassBegins));
    }
}

void CellCounter::take(const Reads& reads, int64_t read) {
    const auto [first, last] = unclipped_bases(reads, read);
    const bool is_reverse = reads.flag != nullptr && (reads.flag[read] & kReverseFlag) != 0;
    if (last - first != aligned_ || strand_ != int{is_reverse}) {
        aligned_ = last - first;
        strand_ = is_reverse;
        bin_.resize(static_cast<size_t>(aligned_));
        for (int64_t i = 0; i < aligned_; ++i) {
            const int bin = cycle_bin(is_reverse ? aligned_ - 1 - i : i, aligned_);
            bin_[static_cast<size_t>(i)] = static_cast<uint8_t>(cell_of(strand_, bin, 0));
        }
    }
    first_ = first;
    base_ = reads.base + reads.base_offset[read];
    quality_ = reads.quality + reads.base_offset[read];
}

}  // namespace pairhmm
