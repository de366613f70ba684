// Types of the kernel that warps signals.

typedef unsigned int uint32;
typedef unsigned long long uint64;

#define FULL 0xffffffffu

// A pair: where its rows' levels and its columns' begin, how many there are, and where its result goes (~0: nowhere).
// `least` is the lowest level of both.
struct Pair {
    uint32 row_at, rows, column_at, columns, index;
    int least;
};
