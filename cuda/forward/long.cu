// Pairs of any length and any score: the read is cut into strips of 32 K rows, which follow each other through the
// haplotype.
//
// Method: a pair is two halves that do not wait for each other. Unless it is short, the haplotype is cut in its middle;
// the left half takes the forward's columns from the first one on, the right half the backward's (backward.cuh) from
// the last one on, and join.cu adds up what crosses between them (crossings.cuh). An item is one strip of a half, and a
// warp takes the next item when it has finished one. The row between two strips (the border) lies in memory, where each
// strip reads it and overwrites it in place. Every word of it carries the number of the strip that wrote it, so that a
// strip can see whether the columns that it loaded are there already. There are no flags and no fences, and a strip may
// follow the one above as closely as memory allows. Items are taken in order, left and right strips in turn: the strip
// above is always finished or at work, and no warp waits for one that cannot run. Each lane has an exponent
// (scaling.cuh). REAL is float, or double for rows whose gaps are too rare for float's range.
//
// Ladder, one pair of 100,000 x 100,000 bases on an NVIDIA H200 (benchmarks/forward-gpu.md has the steps between):
//
//     what                                                                          milliseconds
//     published design, a launch for each anti-diagonal (benchmarks/README.md)             1,602
//     strips that signal by flags with release and acquire                                   23.4
//     words that carry their writer's number, loaded ahead into registers that stay          14.1
//     two halves                                                                             11.5
//     a step's column in one store; strips of 384 rows; last columns as fast as others        8.1
//
// The last two are the kernel alone: from host arrays to the score it takes 8.8. A loop of 1, 2 or 4 steps instead of 8
// is 2, 1.4 and 1.25 times as slow.
//
// Limits: a single pair is bound by the time of a strip's step (0.11 us with one warp a scheduler, 0.16 with two), and
// takes n / 2 + about 49 steps for each strip above the last one (docs/cuda.md). What comes from memory is loaded six
// steps ahead. Gaps whose continuation is rarer than about Phred 93 are beyond double's range too: the CPU scores such
// pairs, announced.

typedef unsigned long long uint64;

struct __align__(16) Words {
    uint64 first, second;
};

#ifdef PAIRHMM_EMULATED
__device__ __forceinline__ Words load_shared(const uint64* from) { return {from[0], from[1]}; }
__device__ __forceinline__ void store_shared(uint64* to, Words words) {
    to[0] = words.first;
    to[1] = words.second;
}
#else
// Each of the two words is loaded and stored whole or not at all, past the caches that other multiprocessors do not
// see.
__device__ __forceinline__ Words load_shared(const uint64* from) {
    Words words;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(words.first), "=l"(words.second) : "l"(from));
    return words;
}
__device__ __forceinline__ void store_shared(uint64* to, Words words) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(words.first), "l"(words.second));
}
#endif

// Signatures of the words of a column: the number of the strip that wrote it, which is unique among those at work, and
// half of the exponent of its values.
struct Signatures {
    uint32 first, second;
};

constexpr uint32 kWriter = 0xffff;

__device__ __forceinline__ Signatures signatures(uint32 writer, int exponent) {
    return {(writer & kWriter) | uint32(exponent) << 16, (writer & kWriter) | (uint32(exponent) & ~kWriter)};
}

__device__ __forceinline__ uint64 word_of(uint32 bits, uint32 signature) { return uint64(signature) << 32 | bits; }
__device__ __forceinline__ Words words_of(float s, float i, Signatures by) {
    return {word_of(__float_as_int(s), by.first), word_of(__float_as_int(i), by.second)};
}
__device__ __forceinline__ Words words_of(double value, Signatures by) {
    return {word_of(__double2hiint(value), by.first), word_of(__double2loint(value), by.second)};
}

// A column of a border as it was found in memory: S and I of the strip below, and their exponent.
constexpr int kPairs = sizeof(real) / 4;  // of words
constexpr int kBorderWords = 2 * kPairs;
static_assert(kBorderWords * sizeof(uint64) == BORDER_BYTES, "room");

struct Found {
    Words words[kPairs];

    __device__ __forceinline__ int exponent() const {
        return int(uint32(words[0].second >> 32) & ~kWriter | uint32(words[0].first >> 48));
    }
    __device__ __forceinline__ bool is_by(uint32 writer) const {
        uint32 difference = 0;
#pragma unroll
        for (int k = 0; k < kPairs; ++k) {
            difference |= (uint32(words[k].first >> 32) ^ writer) | (uint32(words[k].second >> 32) ^ writer);
        }
        return (difference & kWriter) == 0;
    }
};

__device__ __forceinline__ float s_of(const Found& found, float) { return __int_as_float(int(found.words[0].first)); }
__device__ __forceinline__ float i_of(const Found& found, float) { return __int_as_float(int(found.words[0].second)); }
__device__ __forceinline__ double double_of(Words words) {
    return __hiloint2double(int(words.first), int(words.second));
}
__device__ __forceinline__ double s_of(const Found& found, double) { return double_of(found.words[0]); }
__device__ __forceinline__ double i_of(const Found& found, double) { return double_of(found.words[kPairs - 1]); }

// What no strip wrote: its exponent is 0, and so is the writer's number.
__device__ __forceinline__ Found found_as(float s, float i) { return {words_of(s, i, {0, 0})}; }
__device__ __forceinline__ Found found_as(double s, double i) {
    Found found;
    found.words[0] = words_of(s, {0, 0});
    found.words[kPairs - 1] = words_of(i, {0, 0});
    return found;
}

__device__ __forceinline__ Found look_up(const uint64* border, int column) {
    Found found;
#pragma unroll
    for (int k = 0; k < kPairs; ++k) found.words[k] = load_shared(border + column * kBorderWords + 2 * k);
    return found;
}

__device__ __forceinline__ void put(uint64* column, float s, float i, Signatures by) {
    store_shared(column, words_of(s, i, by));
}
__device__ __forceinline__ void put(uint64* column, double s, double i, Signatures by) {
    store_shared(column, words_of(s, by));
    store_shared(column + 2, words_of(i, by));
}

constexpr int kBlock = kRescaleSteps;  // columns that enter at once, and between two rescalings
static_assert(kBlock == 8, "a block's letters are two words");
constexpr int kStepsBehind = 2;  // steps of a block that are left when the next block's columns are taken
static_assert(kBlock == BLOCK_COLUMNS && kBlock + kStepsBehind <= K, "an exponent reaches as far as K steps go");

constexpr int kLookAt = 0;  // step of a block at which the next block's columns are looked up

// Shared memory behind the emissions: S and I of a block's columns as they enter lane 0 (lane u brings those of column
// u), for two blocks, which take turns; and nothing for the other lanes.
struct __align__(2 * sizeof(real)) Passed {
    real s, i;
};
static_assert(kEmissionBytes + (2 * 32 + kBlock) * sizeof(Passed) == SHARED_BYTES, "shared memory");
__device__ __forceinline__ Passed* entering_of_block(int t) {
    return reinterpret_cast<Passed*>(reinterpret_cast<uint8*>(shared) + kEmissionBytes) + t / kBlock % 2 * 32;
}
__device__ __forceinline__ Passed* nothing_enters() { return entering_of_block(0) + 2 * 32; }

__device__ __forceinline__ int warp_max(int value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(FULL, value);
#else
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_xor_sync(FULL, value, step);
        value = other > value ? other : value;
    }
    return value;
#endif
}

// A block's letters for one lane, four a word.
struct Letters {
    uint32 four[kBlock / 4];
};

// The words that hold a block's letters, in the order of its columns: they need not begin with one.
struct Window {
    uint32 word[kBlock / 4 + 1];
};

// A word of letters in the order of their columns.
__device__ __forceinline__ uint32 letters_at(const uint32* word, int way) {
    return __byte_perm(__ldg(word), 0, way > 0 ? 0x3210 : 0x0123);
}

__device__ __forceinline__ Letters letters_of(const Window& window, uint32 shift) {
    Letters letters;
#pragma unroll
    for (int w = 0; w < kBlock / 4; ++w) {
        letters.four[w] = __funnelshift_r(window.word[w], window.word[w + 1], shift);
    }
    return letters;
}

// Replace the letters of a block from column `left` on by kNoLetter.
__device__ __forceinline__ void end_letters(Letters& letters, int left) {
#pragma unroll
    for (int u = 0; u < kBlock; ++u) {
        uint32& four = letters.four[u / 4];
        if (u >= left) four = (four & ~(0xffu << u % 4 * 8)) | kNoLetter << u % 4 * 8;
    }
}

// A half of a pair as its strips take it: the left one from the haplotype's first letter and the read's first row on,
// the right one from both ends.
struct Half {
    bool is_right;
    const uint8* letters;  // of column 0, which stands before the half's first letter: states are zero there
    int way;               // to the next column's letter: 1 or -1
    int columns;           // with column 0
    uint64* border;
    real first_s, s, i;  // what enters the first row: S of the column behind column 0, S of the others, and I
};

// One strip of a half: its border above is read and becomes its border below. `number` is the strip's in its half. When
// a lane has had all columns, it leaves its part of `crossing`.
__device__ __forceinline__ void run_strip(const Rows& rows, const Strip& strip, const Half& half, uint32 number,
                                          Crossing& crossing) {
    const int l = threadIdx.x, columns = half.columns, way = half.way, u = l % kBlock;
    const bool is_first = number == 0;
    States state;
    clear(state);
    int exponent = -kTop;
    real keep = 0;
    const Passed* enters = nothing_enters();
    if (l < kBlock) nothing_enters()[l] = {0, 0};
    const auto own_letters = reinterpret_cast<size_t>(half.letters - way * l);
    const uint32 shift = uint32(way > 0 ? own_letters & 3 : 3 - (own_letters & 3)) * 8;
    const uint32* word = reinterpret_cast<const uint32*>(own_letters & ~size_t(3));
    Window window;
#pragma unroll
    for (int w = 0; w <= kBlock / 4; ++w) window.word[w] = letters_at(word + way * w, way);
    // The block from column t on, as it was found in memory.
    const auto look = [&](int t) { return look_up(half.border, min(t + u, columns - 1)); };
    Found coming = is_first ? found_as(u == 0 ? half.first_s : half.s, half.i) : look(0);
    // For this block: what enters, its exponent, and the exponent that states are scaled to.
    real s_enters, i_enters;
    int entering_exponent, next_exponent;
    const auto take = [&](int t) {
        while (!__all_sync(FULL, coming.is_by(number))) coming = look(t);
        const bool enters_any = t + u < columns;
        s_enters = enters_any ? s_of(coming, real(0)) : real(0);
        i_enters = enters_any ? i_of(coming, real(0)) : real(0);
        entering_exponent = coming.exponent();
        const real top = larger(s_enters, i_enters);
        const int highest = top > 0 ? entering_exponent + exponent_of(top) : kNothing;
        next_exponent = fitting_exponent<kBlock + kStepsBehind>(state, exponent, warp_max(highest), strip.fall);
    };
    real next_keep;  // what brings values from the lane above to the next exponent
    const auto bring = [&](int t) {
        const int above = __shfl_up_sync(FULL, next_exponent, 1);
        next_keep = l == 0 ? real(0) : power_of_two(above - next_exponent);
        const int fit = entering_exponent - __shfl_sync(FULL, next_exponent, 0);
        entering_of_block(t)[l] = {scaled(s_enters, fit), scaled(i_enters, fit)};
    };
    uint64* leaves = half.border - 31 * kBorderWords;  // the column of lane 31
    Signatures by;
    const auto step = [&](int v, uint32 letter) {
        const Passed in = enters[v];
        const real s = multiply_add(__shfl_up_sync(FULL, state.s_below, 1), keep, in.s);
        const real i = multiply_add(__shfl_up_sync(FULL, state.i_below, 1), keep, in.i);
        advance(rows, state, letter, s, i);
        if (l == 31) put(leaves + v * kBorderWords, state.s_below, state.i_below, by);
    };
    take(0);
    bring(0);
    if (is_first) coming = found_as(half.s, half.i);
    for (int t = 0; t < columns + 32; t += kBlock, leaves += kBlock * kBorderWords) {
        scale(state, exponent - next_exponent);
        exponent = next_exponent;
        keep = next_keep;
        by = signatures(number + 1, exponent);
        enters = l == 0 ? entering_of_block(t) : nothing_enters();
        Letters letters = letters_of(window, shift);
        word += way * (kBlock / 4);
        window.word[0] = window.word[kBlock / 4];
#pragma unroll
        for (int w = 1; w <= kBlock / 4; ++w) window.word[w] = letters_at(word + way * w, way);
        __syncwarp();
        // The next block is taken before this one ends, so that its last steps hide the wait. The exponent need not fit
        // to the last bit.
        if (t + kBlock <= columns) {
#pragma unroll
            for (int v = 0; v < kBlock; ++v) {
                if (v == kLookAt && !is_first) coming = look(t + kBlock);
                if (v == kBlock - kStepsBehind) take(t + kBlock);
                if (v == kBlock - kStepsBehind + 1) bring(t + kBlock);
                step(v, letters.four[v / 4] >> v % 4 * 8 & 0xff);
            }
        } else {
            // Written out, too: the strip below waits for the last columns.
            end_letters(letters, columns + l - t);
#pragma unroll
            for (int v = 0; v < kBlock; ++v) {
                if (v == kLookAt && !is_first && t + kBlock < columns) coming = look(t + kBlock);
                if (v == kBlock - kStepsBehind) take(t + kBlock);
                if (v == kBlock - kStepsBehind + 1) bring(t + kBlock);
                if (t + v - l == columns) save_states(crossing, state, exponent);
                step(v, letters.four[v / 4] >> v % 4 * 8 & 0xff);
            }
        }
    }
    finish_crossing(crossing, rows, half.is_right, half.letters[way * columns]);
}

// item_pair: the pair of each item; pair_item: a pair's first item. pair_column: where a pair's borders begin; those of
// the right half follow those of the left one. next_item and borders (kBorderWords a column): zero at first. crossings:
// an item each, for join.cu.
extern "C" __global__ void __launch_bounds__(32, 8)
    forward_long(const uint8* __restrict__ buffer, const Tables* __restrict__ tables, uint32 items,
                 const uint32* __restrict__ item_pair, const uint32* __restrict__ pair_item,
                 const uint32* __restrict__ pair_read, const uint32* __restrict__ pair_haplotype,
                 const int64* __restrict__ pair_column, uint32* next_item, uint64* borders, Crossing* crossings) {
    const Header& header = *reinterpret_cast<const Header*>(buffer);
    for (;;) {
        uint32 item = 0;
        if (threadIdx.x == 0) item = atomicAdd(next_item, 1u);
        item = __shfl_sync(FULL, item, 0);
        if (item >= items) return;
        const uint32 pair = item_pair[item], read = pair_read[pair], haplotype = pair_haplotype[pair];
        const uint32 position = words(buffer, header.read_offset)[read];
        const int length = int(words(buffer, header.read_offset)[read + 1] - position);
        const uint32* offset = words(buffer, header.haplotype_offset) + haplotype;
        const Cut cut = cut_of(buffer, header, haplotype);
        const uint32 number = (item - pair_item[pair]) / cut.halves;
        const int row = int(number) * (32 * K);
        const uint8* letters = buffer + header.letters;
        Crossing& crossing = crossings[item];
        Half half;
        half.is_right = (item - pair_item[pair]) % cut.halves;
        half.border =
            borders + (pair_column[pair] + (half.is_right ? cut.right_border : cut.left_border)) * kBorderWords;
        Rows rows;
        Strip strip;
        double entering = 0;
        if (half.is_right) {
            strip = load_strip(RowsUp{buffer, header, *tables, position, length, length - 1 - row}, length - row,
                               length, rows);
            half.letters = letters + offset[1];
            half.way = -1;
            half.columns = cut.right_columns;
            half.first_s = half.s = half.i = 1;
        } else {
            strip = load_strip(buffer, header, *tables, position + row, length - row, length, rows);
            half.letters = letters + offset[0] - 1;
            half.way = 1;
            half.columns = cut.left_columns;
            half.s = __shfl_sync(FULL, strip.entry, 0) / real(cut.letters);
            half.first_s = real(header.start_match) + half.s * real(header.start_deletion);
            half.i = 0;
            entering = half.s;
        }
        run_strip(rows, strip, half, number, crossing);
        if (threadIdx.x == 31) {
            const double kept = half.is_right ? 0.0 : strip.log_kept;
            crossing.log_kept = strip.folds && strip.scales ? kept : double(not_a_number());
            crossing.entering = entering;
        }
    }
}
