#include "packing/pair_tasks.hpp"

#include <algorithm>
#include <atomic>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pairhmm {
namespace {

constexpr int64_t kPairsEach = 1 << 11;  // pairs that a thread takes at once

// Whether any of the bits [first, end) is set.
bool is_any_set(const uint32_t* bits, int64_t first, int64_t end) {
    for (int64_t at = first; at < end;) {
        const int64_t word_end = std::min(end, (at / 32 + 1) * 32);
        const uint64_t mask = (uint64_t{1} << (word_end - at)) - 1;
        if (bits[at / 32] >> at % 32 & mask) return true;
        at = word_end;
    }
    return false;
}

constexpr int64_t kLettersOfRound = 64;    // letters
constexpr int64_t kLettersEach = 1 << 18;  // letters that a thread takes at once

// Packs 64 letters to four words; returns their bits of N, whose code alone has its third bit.
#if defined(__SSE2__)
uint64_t pack_round(const uint8_t* codes, uint32_t* words) {
    const __m128i two_bits = _mm_set1_epi8(3), nibble = _mm_set1_epi16(0x0f), byte = _mm_set1_epi16(0xff);
    __m128i pairs[4];
    uint64_t unknown = 0;
    for (int i = 0; i < 4; ++i) {
        const __m128i letters = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes) + i);
        unknown |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(_mm_slli_epi16(letters, 5))))
                   << 16 * i;
        const __m128i bases = _mm_and_si128(letters, two_bits);
        pairs[i] = _mm_and_si128(_mm_or_si128(bases, _mm_srli_epi16(bases, 6)), nibble);
    }
    __m128i fours[2];
    for (int i = 0; i < 2; ++i) {
        const __m128i nibbles = _mm_packus_epi16(pairs[2 * i], pairs[2 * i + 1]);
        fours[i] = _mm_and_si128(_mm_or_si128(nibbles, _mm_srli_epi16(nibbles, 4)), byte);
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words), _mm_packus_epi16(fours[0], fours[1]));
    return unknown;
}
#else
uint64_t pack_round(const uint8_t* codes, uint32_t* words) {
    uint64_t unknown = 0;
    for (int w = 0; w < 4; ++w) {
        uint32_t word = 0;
        for (int i = 0; i < 16; ++i) {
            word |= static_cast<uint32_t>(codes[16 * w + i] & 3) << 2 * i;
            unknown |= static_cast<uint64_t>(codes[16 * w + i] >> 2 & 1) << (16 * w + i);
        }
        words[w] = word;
    }
    return unknown;
}
#endif

}  // namespace

PairTasks::PairTasks(int64_t pairs, const PackedSequences& queries, const PackedSequences& targets,
                     const PairClasses& classes, ThreadPool& pool)
    : pairs_(pairs), queries_(queries), targets_(targets), classes_(classes) {
    for (size_t c = 0; c + 1 < classes_.rows.size(); ++c) {
        class_of_rows_.resize(static_cast<size_t>(classes_.rows[c]) + 1, static_cast<uint8_t>(c));
    }
    shares_.resize(static_cast<size_t>((pairs + kPairsEach - 1) / kPairsEach));
    const int64_t shares = static_cast<int64_t>(shares_.size());
    pool.run(shares, 1, pool.size(), [&](int64_t share, int64_t) { look_at(share); });
    int64_t tasks = 0;
    for (size_t c = 0; c < classes_.rows.size(); ++c) {
        first_task_.push_back(tasks), first_slot_.push_back(slots_);
        const int64_t size = classes_.pairs_of_task[c];
        for (const Share& share : shares_) {
            const int64_t of_share = (share.counts[c] + size - 1) / size;
            tasks += of_share, slots_ += of_share * size;
        }
    }
    first_task_.push_back(tasks), first_slot_.push_back(slots_);
    longest_rows_.resize(classes_.rows.size()), longest_columns_.resize(classes_.rows.size());
    for (const Share& share : shares_) {
        for (size_t c = 0; c < classes_.rows.size(); ++c) {
            longest_rows_[c] = std::max(longest_rows_[c], share.longest_rows[c]);
            longest_columns_[c] = std::max(longest_columns_[c], share.longest_columns[c]);
        }
    }
}

bool PairTasks::has_unknown(const PackedSequences& of, int64_t i) const {
    if (!of.unknown) return false;
    const int64_t* offset = of.offset + of.index[i];
    return is_any_set(of.unknown, offset[0] - of.base, offset[1] - of.base);
}

DevicePair PairTasks::pair(int64_t i) const {
    const int64_t *query = queries_.offset + queries_.index[i], *target = targets_.offset + targets_.index[i];
    const auto query_letter = static_cast<uint32_t>(query[0] - queries_.base),
               target_letter = static_cast<uint32_t>(target[0] - targets_.base),
               query_letters = static_cast<uint32_t>(query[1] - query[0]),
               target_letters = static_cast<uint32_t>(target[1] - target[0]);
    const bool swapped = classes_.rows_are == PairClasses::kTarget ||
                         (classes_.rows_are == PairClasses::kShorter && target_letters < query_letters);
    if (swapped) return {target_letter, target_letters, query_letter, query_letters};
    return {query_letter, query_letters, target_letter, target_letters};
}

void PairTasks::look_at(int64_t number) {
    Share& share = shares_[static_cast<size_t>(number)];
    const auto& heights = classes_.rows;
    share.counts.resize(heights.size());
    share.longest_rows.resize(heights.size()), share.longest_columns.resize(heights.size());
    const int64_t first = number * kPairsEach, end = std::min(first + kPairsEach, pairs_);
    share.keys.reserve(static_cast<size_t>(end - first));
    for (int64_t i = first; i < end; ++i) {
        const DevicePair one = pair(i);
        const int64_t shorter = std::min(one.rows, one.columns);
        if (shorter == 0 || classes_.per_letter * shorter + classes_.per_row * one.rows > classes_.most ||
            has_unknown(queries_, i) || has_unknown(targets_, i)) {
            share.left.push_back(static_cast<int32_t>(i));
            continue;
        }
        const uint64_t c = one.rows < class_of_rows_.size() ? class_of_rows_[one.rows] : heights.size() - 1;
        ++share.counts[c];
        share.longest_rows[c] = std::max<int64_t>(share.longest_rows[c], one.rows);
        share.longest_columns[c] = std::max<int64_t>(share.longest_columns[c], one.columns);
        const uint64_t columns = std::min<uint64_t>(one.columns, 0xffffffff);
        share.keys.push_back(c << 56 | (0xffffffff - columns) << 16 | static_cast<uint64_t>(i - first));
    }
    if (!std::is_sorted(share.keys.begin(), share.keys.end())) std::sort(share.keys.begin(), share.keys.end());
}

std::vector<int32_t> PairTasks::left() const {
    std::vector<int32_t> all;
    for (const Share& share : shares_) all.insert(all.end(), share.left.begin(), share.left.end());
    return all;
}

void PairTasks::write(DevicePair* pairs, uint32_t* index, ThreadPool& pool) const {
    // Where each share's pairs of a class begin.
    const size_t count = classes_.rows.size();
    std::vector<int64_t> begin(shares_.size() * count);
    int64_t slot = 0;
    for (size_t c = 0; c < count; ++c) {
        const int64_t size = classes_.pairs_of_task[c];
        for (size_t s = 0; s < shares_.size(); ++s) {
            begin[s * count + c] = slot;
            slot += (shares_[s].counts[c] + size - 1) / size * size;
        }
    }
    pool.run(static_cast<int64_t>(shares_.size()), 1, pool.size(), [&](int64_t number, int64_t) {
        const auto s = static_cast<size_t>(number);
        const Share& share = shares_[s];
        size_t key = 0;
        for (size_t c = 0; c < count; ++c) {
            int64_t at = begin[s * count + c];
            for (int64_t k = 0; k < share.counts[c]; ++k, ++key, ++at) {
                const int64_t i = number * kPairsEach + static_cast<int64_t>(share.keys[key] & 0xffff);
                pairs[at] = pair(i);
                index[at] = static_cast<uint32_t>(i);
            }
            for (; share.counts[c] > 0 && (at - begin[s * count + c]) % classes_.pairs_of_task[c]; ++at) {
                pairs[at] = pairs[at - 1];
                index[at] = ~uint32_t{0};
            }
        }
    });
}

bool pack_two_bits(const uint8_t* codes, int64_t count, uint32_t* words, uint32_t* unknown, ThreadPool& pool) {
    // Most sequences have no N: its bits are written in a second pass, so that the first one has less to write.
    std::atomic<bool> is_any{false};
    pool.run(count, kLettersEach, pool.size(), [&](int64_t first, int64_t end) {
        uint64_t any = 0;
        for (; end - first >= kLettersOfRound; first += kLettersOfRound)
            any |= pack_round(codes + first, words + first / 16);
        if (first < end) {
            uint8_t last[kLettersOfRound] = {};
            uint32_t last_words[kLettersOfRound / 16];
            std::copy(codes + first, codes + end, last);
            any |= pack_round(last, last_words);
            std::copy(last_words, last_words + (end - first + 15) / 16, words + first / 16);
        }
        if (any) is_any = true;
    });
    if (!is_any) return false;
    pool.run((count + 31) / 32, kLettersEach / 32, pool.size(), [&](int64_t first, int64_t end) {
        for (int64_t w = first; w < end; ++w) {
            uint32_t bits = 0;
            const int64_t letters = std::min<int64_t>(32, count - 32 * w);
            for (int64_t i = 0; i < letters; ++i) bits |= static_cast<uint32_t>(codes[32 * w + i] >> 2 & 1) << i;
            unknown[w] = bits;
        }
    });
    return true;
}

void pack_four_bits(const uint8_t* codes, int64_t count, uint32_t* words, ThreadPool& pool) {
    pool.run((count + 7) / 8, kLettersEach / 8, pool.size(), [&](int64_t first, int64_t end) {
        for (int64_t w = first; w < end; ++w) {
            uint32_t word = 0;
            const int64_t letters = std::min<int64_t>(8, count - 8 * w);
            for (int64_t i = 0; i < letters; ++i) word |= static_cast<uint32_t>(codes[8 * w + i]) << 4 * i;
            words[w] = word;
        }
    });
}

}  // namespace pairhmm
