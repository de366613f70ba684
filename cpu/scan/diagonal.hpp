// Samples beside references, 64 columns an operation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "calling/letters.hpp"

namespace pairhmm {

// Four planes of bits: whether each letter may be A, C, G, T.
class LetterPlanes {
public:
    void set(const uint8_t* letters, int64_t count) {
        const auto words = static_cast<size_t>(count / 64 + 2);  // bits_from reads one word more
        for (auto& plane : plane_) plane.assign(words, 0);
        for (int64_t i = 0; i < count; i += 8) {
            uint64_t eight = 0;
            std::memcpy(&eight, letters + i, static_cast<size_t>(std::min<int64_t>(8, count - i)));
            for (int base = 0; base < 4; ++base)
                plane_[base][static_cast<size_t>(i / 64)] |= gathered(eight >> base) << (i % 64);
        }
    }

    uint64_t bits_from(int base, int64_t position) const {
        const uint64_t* word = plane_[base].data() + position / 64;
        const int shift = static_cast<int>(position % 64);
        return word[0] >> shift | word[1] << 1 << (63 - shift);
    }

private:
    // Bit 0 of each of eight bytes, the first one lowest.
    static uint64_t gathered(uint64_t bytes) { return (bytes & 0x0101010101010101) * 0x0102040810204080 >> 56; }

    std::array<std::vector<uint64_t>, 4> plane_;
};

// The columns of a piece of a diagonal: those that differ, and those where neither side is N.
class DiagonalColumns {
public:
    void compare(const LetterPlanes& sample, int64_t sample_at, const LetterPlanes& text, int64_t text_at,
                 int64_t length) {
        differing_.clear();
        uninformative_.clear();
        length_ = length;
        for (int64_t from = 0; from < length; from += 64) {
            uint64_t common = 0, any_here = ~uint64_t{0}, any_there = any_here;
            for (int base = 0; base < 4; ++base) {
                const uint64_t here = sample.bits_from(base, sample_at + from);
                const uint64_t there = text.bits_from(base, text_at + from);
                common |= here & there;
                any_here &= here;
                any_there &= there;
            }
            const int64_t left = length - from;
            const uint64_t inside = left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
            list(~common & inside, from, differing_);
            list((any_here | any_there) & inside, from, uninformative_);
        }
    }

    // take(begin, end) for the places of windows of `size` columns of which at most max_mismatches differ.
    template <class Take>
    void each_matching(int64_t size, int64_t max_mismatches, const Take& take) const {
        const auto count = static_cast<int64_t>(differing_.size());
        int64_t taken = 0;
        for (int64_t first = 0; first <= count; ++first) {
            const int64_t beyond = first + max_mismatches;
            const int64_t limit = beyond < count ? differing_[static_cast<size_t>(beyond)] : length_;
            const int64_t begin = std::max(taken, first == 0 ? 0 : differing_[static_cast<size_t>(first) - 1] + 1);
            const int64_t end = limit - size + 1;
            if (begin < end) {
                take(begin, end);
                taken = end;
            }
            if (beyond >= count) break;
        }
    }

    bool is_informative() const { return uninformative_.empty(); }

    // How many of `size` columns are informative.
    int64_t informative(int64_t begin, int64_t size) const {
        const auto from = std::lower_bound(uninformative_.begin(), uninformative_.end(), begin);
        return size - (std::lower_bound(from, uninformative_.end(), begin + size) - from);
    }

private:
    static void list(uint64_t bits, int64_t from, std::vector<int64_t>& columns) {
        for (; bits != 0; bits &= bits - 1) columns.push_back(from + __builtin_ctzll(bits));
    }

    std::vector<int64_t> differing_, uninformative_;
    int64_t length_ = 0;
};

}  // namespace pairhmm
