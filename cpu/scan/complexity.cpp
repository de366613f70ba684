#include "scan/complexity.hpp"

#include <stddef.h>

#include <array>

#include "calling/letters.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kWord = 3, kWords = 64;

// Counts the words of a window, and the pairs of equal ones.
class WordPairs {
public:
    void add(int word) {
        if (word >= 0) equal_ += count_[static_cast<size_t>(word)]++;
    }

    void remove(int word) {
        if (word >= 0) equal_ -= --count_[static_cast<size_t>(word)];
    }

    int64_t equal() const { return equal_; }

private:
    std::array<int64_t, kWords> count_{};
    int64_t equal_ = 0;
};

// 0 to 63, or -1 where a letter is not one base.
int word_at(const uint8_t* letters) {
    int word = 0;
    for (int64_t i = 0; i < kWord; ++i) {
        if (bases_of(letters[i]) != 1) return -1;
        word = word << 2 | __builtin_ctz(letters[i]);
    }
    return word;
}

}  // namespace

std::vector<MaskedSpan> low_complexity(const uint8_t* letters, const int64_t* offset, int64_t count, int64_t length) {
    const int64_t words = length - kWord + 1, most = kMostEqual * (words * (words - 1) / 2);
    std::vector<MaskedSpan> found;
    for (int64_t s = 0; s < count; ++s) {
        WordPairs pairs;
        for (int64_t at = offset[s]; at + kWord <= offset[s + 1]; ++at) {
            pairs.add(word_at(letters + at));
            const int64_t tile = at - words + 1;
            if (tile < offset[s]) continue;
            if (100 * pairs.equal() > most) {
                if (found.empty() || found.back().end != tile || tile == offset[s]) found.push_back({tile, tile});
                ++found.back().end;
            }
            pairs.remove(word_at(letters + tile));
        }
    }
    return found;
}

}  // namespace pairhmm
