// GATK's PCR indel model for many reads: see pairhmm/models/gatk.py, whose `indel_quality_caps` it repeats natively.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pairhmm {

// Lowers insertion and deletion qualities inside tandem repeats, read by read.
//
// The repeat at a gap has the shortest unit of at most `longest_unit` bases that follows the gap twice (else one base);
// its copies on both sides are counted. A run of k letters that equal the letters one unit on is k / unit further copies.
//
// offset: [reads + 1]; base, insertion, deletion: [bases]; table: [most + 1] highest quality by number of copies.
inline void cap_indel_qualities(int64_t reads, const int64_t* offset, const uint8_t* base, const uint8_t* table,
                                int most, int longest_unit, uint8_t* insertion, uint8_t* deletion) {
    std::vector<int32_t> ahead, behind;
    for (int64_t read = 0; read < reads; ++read) {
        const uint8_t* b = base + offset[read];
        const int64_t length = offset[read + 1] - offset[read];
        ahead.assign(length * longest_unit, 0);
        behind.assign(length * longest_unit, 0);
        for (int unit = 1; unit <= longest_unit; ++unit) {
            int32_t* run = ahead.data() + (unit - 1) * length;
            int32_t count = 0;
            for (int64_t i = length - unit - 1; i >= 0; --i) run[i] = count = b[i] == b[i + unit] ? count + 1 : 0;
            run = behind.data() + (unit - 1) * length;
            count = 0;
            for (int64_t i = 0; i + unit < length; ++i) run[i] = count = b[i] == b[i + unit] ? count + 1 : 0;
        }
        for (int64_t i = 0; i + 1 < length; ++i) {
            int unit = 1, copies = 1;
            for (int size = 1; size <= longest_unit; ++size) {
                const int32_t run = ahead[(size - 1) * length + i + 1];
                if (run >= size) {
                    unit = size;
                    copies = 1 + run / size;
                    break;
                }
            }
            copies = std::min(most, copies + behind[(unit - 1) * length + i] / unit);
            uint8_t* qualities[2] = {insertion + offset[read], deletion + offset[read]};
            for (uint8_t* quality : qualities) quality[i] = std::min(quality[i], table[copies]);
        }
    }
}

}  // namespace pairhmm
