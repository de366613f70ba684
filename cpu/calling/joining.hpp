// Reads of one molecule put together along their alignments: which bases stand in the same column of a profile.
//
// A column is a reference base that reads are aligned to, or one base of an insertion behind it. Two reads agree if
// they have the same columns wherever both have any: the same deletions, and insertions of the same place and length.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "calling/candidates.hpp"

namespace pairhmm {

// Reads as they are cut, region after region, and what tells their molecules.
struct CutReads {
    int64_t count;
    const int64_t* read;   // [count] index into Reads
    const int64_t* first;  // [count] the query slice [first, last) that is left
    const int64_t* last;   // [count]
    int64_t regions;
    const int64_t* region_read;        // [regions + 1] first read of each; reads of different regions stay apart
    const std::string_view* name;      // [count]
    const std::string_view* molecule;  // [count] empty: not known; null: it was not asked for
    const int32_t* sample;             // [count]
    const uint16_t* flag;              // [count] SAM flags
};

// Profiles, in the order of the first read of each.
struct JoinedReads {
    std::vector<int64_t> member_offset{0}, member;  // cut reads of each profile
    std::vector<int64_t> column_offset{0};          // columns of each profile
    std::vector<int64_t> source_offset{0}, source;  // bases of each column
    std::vector<uint8_t> ends;                      // bit e: some read is from end e of its molecule
    std::vector<int64_t> fragment;                  // a number that the profiles of one molecule in a region share
    std::vector<int64_t> copies;                    // reads, two or more, that were joined as copies of each other
    // Reads of a family, and mates, that stay apart because indels differ, or because they do not overlap.
    int64_t differing_copies = 0, distant_copies = 0, differing_mates = 0, distant_mates = 0;
};

// Puts reads together: the families first, then, with `join_mates`, those of a molecule's different ends. A read (or
// family) joins the first one of its molecule that it overlaps and agrees with.
//
// Reads of one molecule and sample are a fragment, and those of them on one strand a family. Where the molecule is not
// known, the name makes a fragment, and each read is a family of its own.
//
// Soft-clipped bases, and insertions at either end of an alignment, have no columns of the reference. They are kept at
// the ends of the profile, where they are counted from the alignment's end, and left out inside it.
JoinedReads join_reads(const Reads& reads, const CutReads& cut, bool join_mates);

// The product of the rows of each column, normalised; 1/4 each where it is 0.
//
// source_offset: [columns + 1]; source: bases; probability: [rows][4]; kind: the row of each base; joined:
// [columns][4].
void join_rows(int64_t columns, const int64_t* source_offset, const int64_t* source, const double* probability,
               const uint16_t* kind, double* joined);

// The same as distinct rows: the rows that were given, and behind them those of joined columns, each once. The row of
// each column is written to joined_kind. Empty if there are more rows than a kind has values.
//
// joined_kind: [columns].
std::vector<double> join_kinds(int64_t columns, const int64_t* source_offset, const int64_t* source, int64_t rows,
                               const double* probability, const uint16_t* kind, uint16_t* joined_kind);

}  // namespace pairhmm
