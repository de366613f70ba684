// Two alignments in the halves of a 32-bit word: sums, maxima, and the scores of two columns by one instruction.
//
// All values are at least 0 and at most 65,535 in either half, so that a plain 32-bit sum serves both. With compute
// capability 9.0 the maxima are DPX instructions (VIMNMX3.U16x2); the compiler emulates them elsewhere.

constexpr int kAlignments = 2;  // of a word
constexpr int kBits = 2;        // of a letter

__device__ __forceinline__ uint32 largest(uint32 a, uint32 b, uint32 c) { return __vimax3_u16x2(a, b, c); }
__device__ __forceinline__ uint32 larger(uint32 a, uint32 b) { return __vmaxu2(a, b); }
__device__ __forceinline__ uint32 both(uint32 value) { return value | value << 16; }
__device__ __forceinline__ uint32 part(uint32 word, int which) { return which ? word >> 16 : word & 0xffff; }
__device__ __forceinline__ uint32 joined(const uint32* values) { return values[0] | values[1] << 16; }

// Bytes of (low, high) by four nibbles. One of 8 and more selects the sign of a byte. __byte_perm would mask them.
__device__ __forceinline__ uint32 permuted(uint32 low, uint32 high, uint32 selector) {
#ifdef PAIRHMM_EMULATED
    return emulated_prmt(low, high, selector);
#else
    uint32 result;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(selector));
    return result;
#endif
}

// A column's scores against A C G T: a byte each, below 128, of either alignment.
struct Column {
    uint32 of[2];
};

// The columns' scores, by the letters of both alignments.
struct Table {
    uint2 of[16];
};

// A row selects its letter's byte for either half, and that byte's sign, which is 0, above it.
struct Row {
    uint32 selector;
};
constexpr uint32 kNoRow = 0xcc88;  // scores 0 in all columns

__device__ __forceinline__ Row row_of(const Table&, const uint32* letter, const bool* is_row) {
    const uint32 low = is_row[0] ? 0x80 + 0x11 * letter[0] : 0x88, high = is_row[1] ? 0xc4 + 0x11 * letter[1] : 0xcc;
    return {low | high << 8};
}

__device__ __forceinline__ uint32 score(const Column& column, const Row& row) {
    return permuted(column.of[0], column.of[1], row.selector);
}

// The letters of a block of 16 columns, as numbers of both alignments' letters: 4 bits each, even columns and odd ones.
constexpr int kBlock = 16;
struct Letters {
    uint32 even, odd;
};

__device__ __forceinline__ Letters interleaved(const uint32* words) {
    return {(words[0] & 0x33333333) | (words[1] & 0x33333333) << 2,
            (words[0] >> 2 & 0x33333333) | (words[1] & 0xcccccccc)};
}

__device__ __forceinline__ uint32 next_letters(Letters& letters) {
    const uint32 number = letters.even & 15, rest = letters.even >> 4;
    letters.even = letters.odd;
    letters.odd = rest;
    return number;
}

__device__ __forceinline__ void fill(Table& table, uint32 match, uint32 mismatch) {
    const uint32 differs = mismatch * 0x01010101, more = match - mismatch, i = threadIdx.x;
    if (i < 16) table.of[i] = make_uint2(differs + (more << 8 * (i & 3)), differs + (more << 8 * (i >> 2)));
}

__device__ __forceinline__ Column column_of(const Table& table, uint32 number) {
    const uint2 found = table.of[number];
    return {{found.x, found.y}};
}

// Without what is past the end of either alignment's columns.
__device__ __forceinline__ Column cut(Column column, const bool* is_column) {
    return {{is_column[0] ? column.of[0] : 0, is_column[1] ? column.of[1] : 0}};
}
