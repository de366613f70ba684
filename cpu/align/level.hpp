// What an instruction set provides to alignment; align/level.cpp makes it over a vector width.
//
// A level's file is compiled with flags of its own, so only plain arrays and function pointers cross here.
#pragma once

#include <atomic>
#include <cstdint>

namespace pairhmm {

struct SequencePair {
    const uint8_t *query, *target;  // codes A C G T N as 0 to 4
    int32_t query_length, target_length;
};

// Where an alignment lies, and its CIGAR as BAM has it: length << 4 | operation.
struct Alignment {
    int32_t score, target_start, target_end;
    int64_t operations;
    const uint32_t* cigar;
};

// Takes the alignment of pair `index` of a call. Its CIGAR is there until the call returns.
struct AlignmentSink {
    void (*take)(void* context, int index, const Alignment& alignment);
    void* context;
};

enum AlignOperation : uint32_t { kMatched = 0, kInserted = 1, kDeleted = 2, kClipped = 4 };

// Which ends cost nothing, and what becomes of ends of the query that an alignment leaves out.
enum class Ends { kGlobal, kSemiGlobal, kSoftclip, kIndel, kLeadingIndel, kIgnore };

// A gap of k bases scores gap_open + (k - 1) * gap_extend.
struct AlignScoring {
    int32_t match, mismatch, gap_open, gap_extend;
    Ends ends;

    bool is_linear() const { return gap_open == gap_extend; }
    bool is_edit() const { return is_linear() && match == 0 && mismatch == -1 && gap_open == -1; }
    // Whether ties are GATK's.
    bool is_gatk() const { return ends != Ends::kGlobal && ends != Ends::kSemiGlobal; }
};

// Pairs of a call, none of them with an empty sequence.
struct EditCall {
    const SequencePair* pair;  // [count], at most word_lanes
    int count;
    bool semi_global;
    int64_t most;                   // distances above this one may stay unknown; below 0, none may
    int32_t* distance;              // [count] -1 where unknown
    const AlignmentSink* sink;      // of the alignments, or null
    const std::atomic<bool>* stop;  // looked at now and then: nothing is known of the pairs that it ends
};

// Pairs of a call, none of them with an empty sequence.
struct CostCall {
    const SequencePair* pair;  // [count]
    int count;
    AlignScoring scoring;
    bool* is_known;                 // [count] whether the width of the arithmetic holds the score
    int32_t* score;                 // [count] where known
    const AlignmentSink* sink;      // of the alignments, or null
    const std::atomic<bool>* stop;  // looked at now and then: nothing is known of the pairs that it ends
};

struct AlignLevel {
    int vector_bytes;
    // Edit distances of at most vector_bytes / 8 pairs.
    void (*edit)(const EditCall& call);
    // Pairs side by side: at most as many as a vector has costs of 8, 16 or 32 bits.
    void (*side_by_side8)(const CostCall& call);
    void (*side_by_side16)(const CostCall& call);
    void (*side_by_side32)(const CostCall& call);
    // Pairs one after the other, of any length: the memory for an alignment is bounded.
    void (*single16)(const CostCall& call);
    void (*single32)(const CostCall& call);
    // Frees large arrays that a thread's calls have kept for its next ones. Threads that end free all.
    void (*free_rooms)();
};

const AlignLevel* align_level_x86_64_v2();
const AlignLevel* align_level_avx2();
const AlignLevel* align_level_avx512();
const AlignLevel* align_level_neon();
const AlignLevel* align_level_wasm();

}  // namespace pairhmm
