// Types of the kernels that align, and what they all read.

typedef unsigned int uint32;

#define FULL 0xffffffffu

// A pair: the first word of its rows' letters and of its columns', and how many letters.
struct Pair {
    uint32 row_word, rows, column_word, columns;
};
