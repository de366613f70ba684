// Compares a pattern with a sample, eight columns an operation; columns in the sample's long runs of N are passed over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "calling/letters.hpp"

namespace pairhmm {

struct Columns {
    int64_t mismatches, informative;
};

inline int count_high_bits(uint64_t bits) { return static_cast<int>((bits >> 7) * 0x0101010101010101 >> 56); }

// Adds the columns of [0, length); stops where there are more than max_mismatches, and returns false.
inline bool compare_columns(const uint8_t* letters, const uint8_t* pattern, int64_t length, int64_t max_mismatches,
                            Columns& columns) {
    constexpr uint64_t kHighBits = 0x8080808080808080, kLowSeven = 0x7f7f7f7f7f7f7f7f, kBeyondAny = 0x7171717171717171;
    for (int64_t at = 0; at < length; at += 8) {
        // Behind the end: N on both sides.
        uint64_t letter = 0x0f0f0f0f0f0f0f0f, other = letter;
        const size_t size = static_cast<size_t>(std::min<int64_t>(8, length - at));
        if (size == 8) {
            std::memcpy(&letter, letters + at, 8);
            std::memcpy(&other, pattern + at, 8);
        } else {
            std::memcpy(&letter, letters + at, size);
            std::memcpy(&other, pattern + at, size);
        }
        const uint64_t differs = ~((letter & other) + kLowSeven) & kHighBits;
        const uint64_t is_any = ((letter + kBeyondAny) | (other + kBeyondAny)) & kHighBits;
        columns.informative += 8 - count_high_bits(is_any);
        if (differs != 0) {
            columns.mismatches += count_high_bits(differs);
            if (columns.mismatches > max_mismatches) return false;
        }
    }
    return true;
}

// The sample's runs of at least kShortest Ns, which every pattern matches: assemblies have them by the million.
class RunsOfN {
public:
    struct Run {
        int64_t begin, end;
    };

    RunsOfN(const uint8_t* letters, int64_t bases) : letters_(letters), bases_(bases) {
        // A run of this length has a letter at one of these places.
        for (int64_t at = kShortest - 1; at < bases; at += kShortest) {
            if (letters[at] != kAny) continue;
            int64_t begin = at, end = at + 1;
            while (begin > 0 && letters[begin - 1] == kAny) --begin;
            while (end < bases && letters[end] == kAny) ++end;
            if (end - begin < kShortest) continue;
            runs_.push_back({begin, end});
            at = end / kShortest * kShortest - 1;
        }
    }

    // Whether [begin, end) lies in one run.
    bool cover(int64_t begin, int64_t end) const {
        const auto run = first_beyond(begin);
        return run != runs_.end() && run->begin <= begin && end <= run->end;
    }

    // The run that a position lies in, or an empty one.
    Run around(int64_t position) const {
        const auto run = first_beyond(position);
        return run == runs_.end() || run->begin > position ? Run{0, 0} : *run;
    }

    // Whether the letters right beside a run differ from a pattern that lies at `start` and reaches out of the run: the
    // quick answer for most of the many places in a run.
    bool differ_beside(Run run, int64_t start, const uint8_t* pattern, int64_t length, int64_t max_mismatches) const {
        constexpr int64_t kLooked = 8;
        Columns columns{0, 0};
        const int64_t behind = std::min({kLooked, start + length - run.end, bases_ - run.end});
        if (behind > 0 &&
            !compare_columns(letters_ + run.end, pattern + (run.end - start), behind, max_mismatches, columns))
            return true;
        const int64_t before = std::min({kLooked, run.begin - start, run.begin}), from = run.begin - before;
        return before > 0 &&
               !compare_columns(letters_ + from, pattern + (from - start), before, max_mismatches, columns);
    }

    // A pattern of this length that lies at `start`: its columns, or false where more than max_mismatches differ.
    bool compare(int64_t start, const uint8_t* pattern, int64_t length, int64_t max_mismatches,
                 Columns& columns) const {
        columns = {0, 0};
        const int64_t end = start + length;
        int64_t at = start;
        for (auto run = first_beyond(start); at < end; ++run) {
            const bool beyond = run == runs_.end() || run->begin >= end;
            const int64_t until = beyond ? end : run->begin;
            if (at < until &&
                !compare_columns(letters_ + at, pattern + (at - start), until - at, max_mismatches, columns))
                return false;
            if (beyond) break;
            at = run->end;
        }
        return true;
    }

private:
    static constexpr int64_t kShortest = 64;

    // The first run that ends behind a position.
    std::vector<Run>::const_iterator first_beyond(int64_t position) const {
        return std::upper_bound(runs_.begin(), runs_.end(), position,
                                [](int64_t value, const Run& run) { return value < run.end; });
    }

    const uint8_t* letters_;
    int64_t bases_;
    std::vector<Run> runs_;
};

}  // namespace pairhmm
