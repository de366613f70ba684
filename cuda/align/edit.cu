// Edit distances by bit vectors (Myers 1999, in Hyyro's form for global distance).
//
// Method: a thread owns a pair, whose rows are bits of W words. P and M have a bit where the distance rises and falls
// from one row to the next; a column takes about 10 operations a word, 32 rows. The distance is the number of columns,
// plus P's bits and less M's after the last one; so rows that are only there to fill the last word change nothing.
//
// On an NVIDIA H200, in GCUPS: 38,300 at 256 x 256 (W = 8), 35,400 at 150 x 150 (W = 5, where the last word has 22
// rows), 32,500 at 1,000 x 1,000 (W = 32).

constexpr int kLetters = 16;  // of a word

// The even bits of a word, side by side.
__device__ __forceinline__ uint32 even_bits(uint32 word) {
    word &= 0x55555555;
    word = (word | word >> 1) & 0x33333333;
    word = (word | word >> 2) & 0x0f0f0f0f;
    word = (word | word >> 4) & 0x00ff00ff;
    return (word | word >> 8) & 0xffff;
}

// scores: by `pair_index`, whose ~0 is written nowhere; a distance is the score's negative.
extern "C" __global__ void __launch_bounds__(128)
    align_edit(const Pair* __restrict__ pairs, const uint32* __restrict__ pair_index, const uint32* __restrict__ words,
               int* __restrict__ scores, uint32 count) {
    const uint32 slot = blockIdx.x * blockDim.x + threadIdx.x;
    if (slot >= count) return;
    const Pair pair = pairs[slot];
    uint32 plus[W], minus[W], low[W], high[W];
#pragma unroll
    for (int w = 0; w < W; ++w) {
        const uint32 first = letters_at<2>(words, pair.row_letter, 32 * w, pair.rows),
                     second = letters_at<2>(words, pair.row_letter, 32 * w + 16, pair.rows);
        plus[w] = ~0u, minus[w] = 0;
        low[w] = even_bits(first) | even_bits(second) << 16;
        high[w] = even_bits(first >> 1) | even_bits(second >> 1) << 16;
    }
    const auto take = [&](uint32 letter) {
        const uint32 low_bit = 0u - (letter & 1), high_bit = 0u - (letter >> 1 & 1);
        uint32 rises = 1, falls = 0;
#pragma unroll
        for (int w = 0; w < W; ++w) {
            uint32 equal = ~((low[w] ^ low_bit) | (high[w] ^ high_bit));
            const uint32 vertical = equal | minus[w];
            equal |= falls;
            const uint32 horizontal = (((equal & plus[w]) + plus[w]) ^ plus[w]) | equal;
            const uint32 up = minus[w] | ~(horizontal | plus[w]), down = plus[w] & horizontal;
            const uint32 up_below = up << 1 | rises, down_below = down << 1 | falls;
            rises = up >> 31, falls = down >> 31;
            plus[w] = down_below | ~(vertical | up_below);
            minus[w] = up_below & vertical;
        }
    };
    const int columns = pair.columns, whole = columns / kLetters * kLetters;
    for (int at = 0; at < whole; at += kLetters) {
        uint32 word = letters_at<2>(words, pair.column_letter, at, columns);
#pragma unroll
        for (int u = 0; u < kLetters; ++u) {
            take(word);
            word >>= 2;
        }
    }
    if (whole < columns) {
        uint32 word = letters_at<2>(words, pair.column_letter, whole, columns);
#pragma unroll 1
        for (int u = whole; u < columns; ++u) {
            take(word);
            word >>= 2;
        }
    }
    int distance = columns;
#pragma unroll
    for (int w = 0; w < W; ++w) {
        const int more = int(pair.rows) - 32 * w;
        const uint32 is_row = more >= 32 ? ~0u : more > 0 ? (1u << more) - 1 : 0;
        distance += __popc(plus[w] & is_row) - __popc(minus[w] & is_row);
    }
    const uint32 index = pair_index[slot];
    if (index != ~0u) scores[index] = -distance;
}
