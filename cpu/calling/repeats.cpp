//
// The letters of a read stand in bits, 64 positions a word, so that one operation compares 64 letters with those a unit
// later. That takes a third of the time of a loop over letters.
#include "calling/repeats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

namespace pairhmm {

namespace {

// Repeats that flanks reach past: the longest unit, and the fewest letters that equal those a unit later.
constexpr int64_t kLongestFlankUnit = 30, kLeastCopied = 8;
// Letters behind a repeat that tell where it ends.
constexpr int64_t kRepeatAnchor = 10;
// Copies that are counted where long repeats are told apart.
constexpr int kMostCounted = 255;

// The index of the lowest bit of a word that is not zero, and the number of bits at either end that are set.
int lowest_bit(uint64_t word) { return __builtin_ctzll(word); }
int low_ones(uint64_t word) { return ~word == 0 ? 64 : __builtin_ctzll(~word); }
int high_ones(uint64_t word) { return ~word == 0 ? 64 : __builtin_clzll(~word); }

// A set of positions, as bits. A word more than is needed stands behind them, so that shifts need no test. Words is a
// vector, or an array, which takes half the time.
template <class Words>
class PositionBits {
public:
    void clear(int64_t positions) {
        if constexpr (std::is_same_v<Words, std::vector<uint64_t>>) words_.assign(positions / 64 + 2, 0);
        else words_.fill(0);
    }
    size_t words() const { return words_.size() - 1; }
    uint64_t& operator[](size_t word) { return words_[word]; }
    uint64_t operator[](size_t word) const { return words_[word]; }
    bool has(int64_t position) const { return words_[static_cast<size_t>(position) / 64] >> (position & 63) & 1; }

    // The word of the positions from 64 word + shift on; 0 < shift < 64.
    uint64_t ahead(size_t word, int shift) const { return words_[word] >> shift | words_[word + 1] << (64 - shift); }

    // How many positions in a row are in the set, from one on, or back from one.
    int64_t run_from(int64_t position) const {
        int64_t at = position;
        for (;;) {
            const int left = static_cast<int>(64 - (at & 63));
            const int ones = low_ones(words_[static_cast<size_t>(at) / 64] >> (at & 63));
            at += std::min(ones, left);
            if (ones < left) return at - position;
        }
    }
    int64_t run_back(int64_t position) const {
        int64_t at = position;
        while (at >= 0) {
            const int left = static_cast<int>(at & 63) + 1;
            const int ones = high_ones(words_[static_cast<size_t>(at) / 64] << (64 - left));
            at -= std::min(ones, left);
            if (ones < left) break;
        }
        return position - at;
    }

private:
    Words words_;
};

// Lowers the qualities of one read after the other.
template <class Words>
class IndelCapper {
public:
    // table: [most + 1] highest quality by number of copies; `stride` values behind it, that of the next unit, which is
    // the same one where `stride` is 0.
    IndelCapper(const uint8_t* table, int stride, int most, int longest_unit)
        : table_(table), stride_(stride), most_(most), longest_unit_(longest_unit) {}

    // base: [length] codes below 8; insertion, deletion: [length].
    void cap(const uint8_t* base, int64_t length, uint8_t* insertion, uint8_t* deletion) {
        if (length < 2) return;
        split_letters(base, length);
        // One copy, where nothing repeats.
        caps_.assign(static_cast<size_t>(length), table_[std::min(most_, 1)]);
        compare(1, length);
        claim_runs();
        single_ = equal_;
        for (int unit = 2; unit <= longest_unit_ && unit < length; ++unit) {
            compare(unit, length);
            find_repeats(unit);
            claim(unit);
        }
        // Behind a gap that no repeat follows, letters may repeat the one before them.
        for (size_t word = 0; word < claimed_.words(); ++word)
            for (uint64_t left = single_[word] & ~claimed_.ahead(word, 1); left != 0; left &= left - 1) {
                const int64_t gap = static_cast<int64_t>(64 * word) + lowest_bit(left);
                set(gap, 1, 1 + single_.run_back(gap));
            }
        for (int64_t i = 0; i + 1 < length; ++i) {
            insertion[i] = std::min(insertion[i], caps_[static_cast<size_t>(i)]);
            deletion[i] = std::min(deletion[i], caps_[static_cast<size_t>(i)]);
        }
    }

private:
    static constexpr int kPlanes = 3;

    void split_letters(const uint8_t* base, int64_t length) {
        for (auto& plane : planes_) plane.clear(length);
        for (int64_t i = 0; i < length; i += 8) {
            uint64_t letters = 0;
            std::memcpy(&letters, base + i, static_cast<size_t>(std::min<int64_t>(8, length - i)));
            // The product brings the lowest bits of eight bytes into its highest byte, in their order.
            for (int plane = 0; plane < kPlanes; ++plane)
                planes_[plane][static_cast<size_t>(i) / 64] |=
                    ((letters >> plane & 0x0101010101010101) * 0x0102040810204080 >> 56) << (i & 63);
        }
    }

    // equal_: where a letter equals the one a unit later.
    void compare(int unit, int64_t length) {
        equal_.clear(length);
        const int64_t pairs = length - unit;
        for (size_t word = 0; word < equal_.words(); ++word) {
            uint64_t differs = 0;
            for (const auto& plane : planes_) differs |= plane[word] ^ plane.ahead(word, unit);
            const int64_t left = pairs - static_cast<int64_t>(64 * word);
            if (left > 0) equal_[word] = left >= 64 ? ~differs : ~differs & ((uint64_t{1} << left) - 1);
        }
    }

    // begins_: where as many letters in a row as a unit has equal those a unit later.
    void find_repeats(int unit) {
        begins_ = equal_;
        for (int known = 1; known < unit;) {
            const int step = std::min(known, unit - known);
            for (size_t word = 0; word < begins_.words(); ++word) begins_[word] &= begins_.ahead(word, step);
            known += step;
        }
    }

    // Caps the gaps before the letters of runs, which are repeats of a unit of one letter.
    void claim_runs() {
        claimed_ = equal_;
        for (size_t word = 0; word < equal_.words(); ++word) {
            // Where a run begins: the letter before it differs.
            const uint64_t before = word > 0 ? equal_[word - 1] >> 63 : 0;
            for (uint64_t left = equal_[word] & ~(equal_[word] << 1 | before); left != 0; left &= left - 1) {
                const int64_t begin = static_cast<int64_t>(64 * word) + lowest_bit(left);
                const int64_t copies = 1 + equal_.run_from(begin);
                for (int64_t gap = std::max<int64_t>(0, begin - 1); gap + 2 < begin + copies; ++gap)
                    set(gap, 1, copies);
            }
        }
    }

    // Caps the gaps before the repeats of a unit, but for those of shorter units.
    void claim(int unit) {
        for (size_t word = 0; word < begins_.words(); ++word) {
            const uint64_t found = begins_[word] & ~claimed_[word];
            claimed_[word] |= found;
            for (uint64_t left = found; left != 0; left &= left - 1) {
                const int64_t begin = static_cast<int64_t>(64 * word) + lowest_bit(left);
                if (begin == 0) continue;
                const int64_t behind = std::min<int64_t>(equal_.run_back(begin - 1), int64_t(most_) * unit);
                set(begin - 1, unit, 1 + equal_.run_from(begin) / unit + behind / unit);
            }
        }
    }

    void set(int64_t gap, int unit, int64_t copies) {
        caps_[static_cast<size_t>(gap)] = table_[(unit - 1) * stride_ + std::min<int64_t>(most_, copies)];
    }

    const uint8_t* table_;
    int stride_, most_, longest_unit_;
    PositionBits<Words> planes_[kPlanes], equal_, single_, begins_, claimed_;
    std::vector<uint8_t> caps_;
};

void cap_reads(int64_t reads, const int64_t* offset, const uint8_t* base, const uint8_t* table, int stride, int most,
               int longest_unit, uint8_t* insertion, uint8_t* deletion) {
    // Short reads are most. The last word of an array stays empty.
    IndelCapper<std::array<uint64_t, 3>> short_capper(table, stride, most, longest_unit);
    IndelCapper<std::array<uint64_t, 5>> middle_capper(table, stride, most, longest_unit);
    IndelCapper<std::vector<uint64_t>> long_capper(table, stride, most, longest_unit);
    for (int64_t read = 0; read < reads; ++read) {
        const int64_t first = offset[read], length = offset[read + 1] - first;
        const auto cap = [&](auto& capper) { capper.cap(base + first, length, insertion + first, deletion + first); };
        if (length < 128) cap(short_capper);
        else if (length < 256) cap(middle_capper);
        else cap(long_capper);
    }
}

}  // namespace

int64_t behind_repeats(std::string_view letters, int64_t place) {
    const auto size = static_cast<int64_t>(letters.size());
    int64_t behind = place;
    for (int64_t moved = -1; moved != behind && behind < size;) {
        moved = behind;
        for (int64_t unit = 1; unit <= kLongestFlankUnit; ++unit) {
            const auto is_copy = [&](int64_t i) {
                return i >= 0 && i + unit < size && letters[i] == letters[i + unit];
            };
            // A repeat that begins before the place, and ends there or near to it, has a copied letter here.
            for (int64_t i = std::max<int64_t>(0, moved - kRepeatAnchor - unit); i < moved; ++i) {
                if (!is_copy(i)) continue;
                int64_t first = i, last = i + 1;
                while (is_copy(first - 1)) --first;
                while (is_copy(last)) ++last;
                if (last - first >= std::max(unit, kLeastCopied))
                    behind = std::max(behind, last + unit + kRepeatAnchor);
                i = last;
            }
        }
    }
    return std::min(behind, std::max(place, size));
}

void cap_indel_qualities(int64_t reads, const int64_t* offset, const uint8_t* base, const uint8_t* table, int most,
                         int longest_unit, uint8_t* insertion, uint8_t* deletion) {
    cap_reads(reads, offset, base, table, 0, most, longest_unit, insertion, deletion);
}

int gap_places(int unit, int copies) { return unit == 1 ? copies : std::max(1, (copies - 2) * unit + 1); }

void classify_repeats(int64_t reads, const int64_t* offset, const uint8_t* base, int most, int steps, int longest_unit,
                      uint8_t* kind) {
    const int counted = steps == 0 ? most : kMostCounted, stride = counted + 1;
    std::vector<uint8_t> table(static_cast<size_t>(longest_unit * stride));
    for (int unit = 1; unit <= longest_unit; ++unit) {
        for (int copies = 0; copies <= counted; ++copies) {
            const double times = double(gap_places(unit, copies)) / gap_places(unit, most);
            const int step =
                copies <= most ? 0 : std::min(steps, static_cast<int>(std::lround(10 * std::log10(times))));
            table[static_cast<size_t>((unit - 1) * stride + copies)] =
                static_cast<uint8_t>((unit - 1) * (most + steps) + std::clamp(copies, 1, most) - 1 + step);
        }
    }
    const int64_t bases = offset[reads];
    std::fill(kind, kind + bases, uint8_t{255});
    cap_reads(reads, offset, base, table.data(), stride, counted, longest_unit, kind, kind);
    std::replace(kind, kind + bases, uint8_t{255}, uint8_t{0});
}

}  // namespace pairhmm
