// One alignment in a 32-bit word: for scores that halves cannot hold, and for sequences with N.

constexpr int kAlignments = 1;  // of a word
constexpr int kBits = 4;        // of a letter

__device__ __forceinline__ uint32 largest(uint32 a, uint32 b, uint32 c) { return __vimax3_u32(a, b, c); }
__device__ __forceinline__ uint32 larger(uint32 a, uint32 b) { return max(a, b); }
__device__ __forceinline__ uint32 both(uint32 value) { return value; }
__device__ __forceinline__ uint32 part(uint32 word, int) { return word; }
__device__ __forceinline__ uint32 joined(const uint32* values) { return values[0]; }

struct Column {
    uint32 letter;
};

struct Row {
    uint32 letter, match, mismatch;
};

constexpr int kBlock = 8;
struct Letters {
    uint32 word;
};

__device__ __forceinline__ Letters interleaved(const uint32* words) { return {words[0]}; }

__device__ __forceinline__ uint32 next_letters(Letters& letters) {
    const uint32 letter = letters.word & 15;
    letters.word >>= 4;
    return letter;
}

struct Table {
    uint32 match, mismatch;
};

__device__ __forceinline__ void fill(Table& table, uint32 match, uint32 mismatch) {
    table.match = match, table.mismatch = mismatch;
}

__device__ __forceinline__ Row row_of(const Table& table, const uint32* letter, const bool* is_row) {
    return is_row[0] ? Row{letter[0], table.match, table.mismatch} : Row{~0u, 0, 0};
}

__device__ __forceinline__ uint32 score(const Column& column, const Row& row) {
    return column.letter == row.letter ? row.match : row.mismatch;
}

__device__ __forceinline__ Column column_of(const Table&, uint32 letter) { return {letter}; }
__device__ __forceinline__ Column cut(Column column, const bool*) { return column; }
