// GATK's PCR indel model for many reads: a fast version of `indel_quality_caps` in pairhmm/models/gatk.py.
#pragma once

#include <cstdint>
#include <string_view>

namespace pairhmm {

// Lowers insertion and deletion qualities inside tandem repeats, read by read.
//
// The unit of the repeat at a gap is the shortest one, of at most `longest_unit` bases, that follows the gap twice;
// without such a unit it is one base. Its copies on both sides of the gap are counted: k letters in a row that equal
// the letters one unit later make k / unit more copies.
//
// offset: [reads + 1]; base, insertion, deletion: [bases], the letters codes below 8; table: [most + 1] highest quality
// by number of copies.
void cap_indel_qualities(int64_t reads, const int64_t* offset, const uint8_t* base, const uint8_t* table, int most,
                         int longest_unit, uint8_t* insertion, uint8_t* deletion);

// Bases of a repeat of so many copies at which a gap may open that changes it by a unit.
int gap_places(int unit, int copies);

// Which repeat, counted in the same way, each base has behind it: (unit - 1) * (most + steps) + copies - 1, up to
// `most` copies. Each step beyond these has 1 dB more places of a gap, up to 255 copies. A read's last base has 0, as
// one without a repeat has. longest_unit * (most + steps) is at most 255.
//
// kind: [bases].
void classify_repeats(int64_t reads, const int64_t* offset, const uint8_t* base, int most, int steps, int longest_unit,
                      uint8_t* kind);

// The first place at `place` or behind it, of some letters, that has 10 letters between it and every tandem
// repeat before it. A repeat has two copies or more, of up to 30 letters, and at least 8 letters that equal the ones a
// unit later.
int64_t behind_repeats(std::string_view letters, int64_t place);

}  // namespace pairhmm
