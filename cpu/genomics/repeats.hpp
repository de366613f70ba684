// GATK's PCR indel model for many reads: a fast version of `indel_quality_caps` in pairhmm/models/gatk.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pairhmm {

// Lowers insertion and deletion qualities inside tandem repeats, read by read.
//
// The unit of the repeat at a gap is the shortest one, of at most `longest_unit` bases, that follows the gap twice;
// without such a unit it is one base. Its copies on both sides of the gap are counted: k letters in a row that equal
// the letters one unit later make k / unit more copies. Copies ahead are found for all positions in one pass from the
// read's end. Copies behind are counted where they are needed, since they are seldom many.
//
// offset: [reads + 1]; base, insertion, deletion: [bases]; table: [most + 1] highest quality by number of copies.
inline void cap_indel_qualities(int64_t reads, const int64_t* offset, const uint8_t* base, const uint8_t* table,
                                int most, int longest_unit, uint8_t* insertion, uint8_t* deletion) {
    std::vector<int32_t> unit, copies;  // of the repeat that begins at each position
    for (int64_t read = 0; read < reads; ++read) {
        const uint8_t* b = base + offset[read];
        const int64_t length = offset[read + 1] - offset[read];
        unit.assign(length, 1);
        copies.assign(length, 1);
        // The longest units first, so that the shortest one that repeats stands at the end.
        for (int size = longest_unit; size >= 1; --size) {
            int32_t run = 0;
            for (int64_t i = length - size - 1; i >= 0; --i) {
                run = b[i] == b[i + size] ? run + 1 : 0;
                if (run >= size) {
                    unit[i] = size;
                    copies[i] = 1 + run / size;
                }
            }
        }
        for (int64_t i = 0; i + 1 < length; ++i) {
            const int32_t size = unit[i + 1];
            int64_t first = i;
            while (first >= 0 && i - first < int64_t(most) * size && b[first] == b[first + size]) --first;
            const uint8_t cap = table[std::min<int64_t>(most, copies[i + 1] + (i - first) / size)];
            insertion[offset[read] + i] = std::min(insertion[offset[read] + i], cap);
            deletion[offset[read] + i] = std::min(deletion[offset[read] + i], cap);
        }
    }
}

}  // namespace pairhmm
