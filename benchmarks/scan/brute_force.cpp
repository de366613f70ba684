// Every pattern at every position, column by column, until one differs: what the scan's speed is compared with.
//
//     c++ -O3 -march=native -shared -fPIC brute_force.cpp -o brute_force.so
#include <cstdint>

// Matches of the patterns (sets of bases, end to end; offset[count + 1]) in letters[length].
extern "C" int64_t count_matches(const uint8_t* letters, int64_t length, const uint8_t* patterns, const int64_t* offset,
                                 int64_t count) {
    int64_t matches = 0;
    for (int64_t p = 0; p < count; ++p) {
        const uint8_t* pattern = patterns + offset[p];
        const int64_t columns = offset[p + 1] - offset[p];
        for (int64_t start = 0; start + columns <= length; ++start) {
            int64_t column = 0;
            while (column < columns && (letters[start + column] & pattern[column]) != 0) ++column;
            matches += column == columns;
        }
    }
    return matches;
}
