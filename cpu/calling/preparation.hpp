// Reads that are cut to their regions, as the pair-HMM takes them: bases with prepared qualities for GATK's model, or
// rows of letter probabilities for the profile model. docs/model.md has the rules; the oracle of GATK's model is
// pairhmm/models/gatk.py.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/indel_quality.hpp"

namespace pairhmm {

// Codes of a read's letters, and Phred qualities: a base call is one of so many (`calls` in pairhmm/models/profile.py).
constexpr int kReadCodes = 15, kPhreds = 128;

// How reads are prepared: `GatkOptions` in pairhmm/models/gatk.py.
struct QualityOptions {
    bool cap_by_mapping_quality = true;
    int threshold = -1;  // base qualities below it become `lowest`; -1: none of them
    uint8_t lowest = 0;  // usable quality, of bases and of a read's own indels
    // Of reads that have none of their own.
    uint8_t insertion = 0, deletion = 0, gap = 0;
    int most_copies = 1, longest_unit = 1;  // of repeats (calling/repeats.hpp)
    std::vector<uint8_t> most_by_copies;    // [most_copies + 1] highest indel quality (PCR model); empty: no limit
    // In place of those, by the kind of the repeat at a base: [longest_unit * most_copies], or empty.
    std::vector<uint8_t> insertion_by_kind, deletion_by_kind, gap_by_kind;
};

// Parameters of the profile model: `ProfileModel` in pairhmm/models/profile.py.
struct ProfileParameters {
    std::vector<double> calls;        // [kReadCodes * kPhreds][4] letter probabilities of each base call
    std::vector<double> match;        // [4][5] emission of each read letter beside A C G T N
    std::vector<double> insertion;    // [4] emission of each inserted letter
    std::vector<double> transitions;  // [7] mm im dm mi ii md dd, or [most_copies][7]
};

// The pair-HMM that reads are prepared for.
struct ReadModel {
    QualityOptions options;
    ProfileParameters profile;  // its `calls` are empty: GATK's model
    std::vector<double> error;  // [256] 10^(-Q/10)
    double start_match = 0, start_deletion = 1;

    bool is_profile() const { return !profile.calls.empty(); }
};

// The bases of cut reads, end to end.
struct CutBases {
    int64_t reads;
    const int64_t* offset;         // [reads + 1]
    const uint8_t* base;           // codes below kReadCodes
    const uint8_t* quality;        // below kPhreds
    const uint8_t* mapq;           // [reads]
    const uint8_t* indel_quality;  // [2][bases] own qualities of insertions and deletions; null: no read has any

    int64_t bases() const { return offset[reads]; }
};

// What profiles of joined reads are made of (calling/joining.hpp).
struct ProfileColumns {
    int64_t profiles;
    const int64_t* offset;         // [profiles + 1] first column of each
    const int64_t* source_offset;  // [columns + 1]
    const int64_t* source;         // cut bases in each column

    int64_t columns() const { return offset[profiles]; }
};

// Rows of letter probabilities: `Profiles` in pairhmm/models/batch.py.
struct ProfileRows {
    std::vector<double> probabilities;  // [rows][4]
    std::vector<double> transitions;    // [7] or [rows][7]
    bool are_distinct = false;          // `kinds` has the row of each base; otherwise each base has a row of its own
    std::vector<uint16_t> kinds;
};

struct PreparedReads {
    std::vector<int64_t> read_offset;
    // GATK's model.
    std::vector<uint8_t> base, base_quality, insertion_quality, deletion_quality, gap_quality;
    ProfileRows profiles;
    // Bases of all cut reads, those whose quality was lowered to `lowest`, and reads with indel qualities of their own.
    int64_t bases = 0, lowered = 0, tagged = 0;
};

// columns: null where each read is scored by itself. They are for the profile model.
PreparedReads prepare_reads(const ReadModel& model, const CutBases& cut, const ProfileColumns* columns);

// Base qualities, at most the mapping quality of each read; those below the threshold become `lowest`.
//
// prepared: [bases].
void prepare_base_qualities(const QualityOptions& options, const CutBases& cut, uint8_t* prepared);

// Gives rows the transitions of the repeats at them. Distinct rows stay distinct rows, unless there are too many for a
// kind.
//
// offset: [reads + 1] first base of each read; by_copies: [most_copies][7].
void add_repeats(int64_t reads, const int64_t* offset, const double* by_copies, int most_copies, int longest_unit,
                 ProfileRows& rows);

// Row parameters (kRowSize of forward/batch.hpp) of each row of letter probabilities.
std::vector<double> row_parameters(const ProfileParameters& model, const ProfileRows& rows);

}  // namespace pairhmm
