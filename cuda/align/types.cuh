// Types of the kernels that align, and what they all read.

typedef unsigned int uint32;
typedef unsigned long long uint64;

#define FULL 0xffffffffu

// A pair: its rows' first letter and its columns', and how many letters.
struct Pair {
    uint32 row_letter, rows, column_letter, columns;
};

// As many letters as a word has, from the letter `first` + `at` on, of a sequence of `count` that begins at `first`.
// Where the sequence has none, they are others'.
template <int kBits>
__device__ __forceinline__ uint32 letters_at(const uint32* words, uint32 first, int at, uint32 count) {
    constexpr int kLetters = 32 / kBits, kShift = kBits == 2 ? 4 : 3;
    const int from = int(first) + at, word = from >> kShift, last = int(first + count - 1) >> kShift;
    const uint32 low = words[min(max(word, 0), last)], high = words[min(max(word + 1, 0), last)];
    return __funnelshift_r(low, high, (from & (kLetters - 1)) * kBits);
}
