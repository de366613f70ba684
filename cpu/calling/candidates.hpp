// Walking alignments: candidate variants from CIGARs and mismatches, and reads cut to regions.
//
// Reads are flat arrays, in order of start; positions are 0-based on one contig, intervals half-open. Letters are codes
// (calling/letters.hpp), qualities Phred, CIGAR operations packed as in BAM: length << 4 | operation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "calling/artefact.hpp"
#include "calling/intervals.hpp"
#include "calling/letters.hpp"

namespace pairhmm {

// A text of some that stand end to end.
inline std::string_view text_part(const char* text, const int64_t* end, int64_t i) {
    const int64_t begin = i ? end[i - 1] : 0;
    return {text + begin, static_cast<size_t>(end[i] - begin)};
}

struct Reads {
    int64_t count;
    const int64_t* start;         // [count] first aligned reference base
    const int32_t* sample;        // [count]
    const int64_t* base_offset;   // [count + 1]
    const uint8_t* base;          // letters; codes above kCodeOfN are ambiguous, too, and count as N
    const uint8_t* quality;       // Phred, as long as base
    const int64_t* cigar_offset;  // [count + 1]
    const uint32_t* cigar;
    const uint16_t* flag = nullptr;   // [count] SAM flags; null where nothing asks for strands
    const char* molecules = nullptr;  // end to end, empty where one is not known; null where they were not asked for
    const int64_t* molecule_end = nullptr;

    // The molecule that a read is a copy of; empty where that is not known.
    std::string_view molecule(int64_t read) const {
        return molecules == nullptr ? std::string_view() : text_part(molecules, molecule_end, read);
    }
    // Whether a base says nothing of the sample: the reader has cut off the end of a read (formats/read_ends.hpp).
    bool is_cut_off(int64_t at) const { return quality[at] == 0 && base[at] == kCodeOfN; }
};

// One behind the last reference base of a read.
int64_t read_end(const Reads& reads, int64_t read);

// Reference letters of [start, start + length).
struct ReferenceWindow {
    int64_t start;
    int64_t length;
    const uint8_t* letter;
    uint8_t at(int64_t position) const {
        const int64_t i = position - start;
        return i < 0 || i >= length ? kCodeOfN : letter[i];
    }
};

// Windows of one contig in order, which do not touch.
struct ReferenceWindows {
    std::vector<ReferenceWindow> windows;
    // The last one that begins at or before the position, or the first.
    const ReferenceWindow& of(int64_t position) const;
    uint8_t at(int64_t position) const { return of(position).at(position); }
};

struct ErrorRates;

struct CandidateThresholds {
    int min_base_quality;
    int min_snv_count;
    int min_indel_count;
    double min_snv_fraction;
    double min_indel_fraction;
    // In place of shares of the reads, alleles of a mixture have to be more than errors of these rates.
    std::shared_ptr<const ErrorRates> errors = nullptr;
};

// An SNV replaces ref_length = 1 base at `position` by alt; an indel stands behind its anchor base at `position`: it
// deletes ref_length bases after the anchor, or inserts alt there.
struct Candidate {
    int64_t position;
    int32_t ref_length;
    bool indel;
    std::string alt;  // letters 0..3 as bytes
    // Candidates before this position belong to its region: reads spell them together. It makes no other candidate of
    // it.
    int64_t joined_until = 0;
    Artefact artefact = Artefact::kNone;  // that explains its reads better than an allele, of a mixture

    // By position; SNVs before indels.
    bool operator<(const Candidate& other) const { return key() < other.key(); }
    bool operator==(const Candidate& other) const { return key() == other.key(); }

private:
    std::tuple<int64_t, bool, int32_t, const std::string&> key() const { return {position, indel, ref_length, alt}; }
};

// One indel of an alignment, shifted left as far as the reference and the alignment's start allow.
struct Indel {
    int64_t anchor;
    int32_t deleted;
    std::string inserted;
};

// The intervals of the reference that reads are compared with, in order. They leave out a read's gaps that are longer
// than kLongGap, but for the last kGapContext bases: memory grows with the aligned bases, not with gaps.
std::vector<std::pair<int64_t, int64_t>> covered(const Reads& reads);

// By how many bases a gap before `position` can be shifted left, at most `most`. last_of(shift): its last letter, once
// it is shifted.
template <class Reference, class LastOf>  // ReferenceWindow, or ReferenceWindows
int64_t gap_shift(const Reference& reference, int64_t position, int64_t most, const LastOf& last_of) {
    int64_t shift = 0;
    for (; shift < most; ++shift) {
        const uint8_t before = reference.at(position - 1 - shift);
        if (before >= kCodeOfN || before != last_of(shift)) break;
    }
    return shift;
}

// An insertion or deletion shifted left through the repeat that it stands in, to `first` at most.
template <class Reference>
Indel leftmost(Indel indel, int64_t first, const Reference& reference) {
    const auto length = static_cast<int64_t>(indel.inserted.size());
    const int64_t last = indel.anchor + indel.deleted;
    const int64_t shift = gap_shift(reference, indel.anchor + 1, indel.anchor - first, [&](int64_t shifted) {
        return length ? uint8_t(indel.inserted[length - 1 - shifted % length]) : reference.at(last - shifted);
    });
    indel.anchor -= shift;
    // The inserted bases turn through the repeat: so many move from the end to the front.
    if (length) std::rotate(indel.inserted.begin(), indel.inserted.end() - shift % length, indel.inserted.end());
    return indel;
}

// The indels of one read that have aligned bases on both sides.
void read_indels(const Reads& reads, int64_t read, const ReferenceWindows& reference, std::vector<Indel>& indels);

class MixtureCounts;

// How far before a read an insertion or deletion may be that its clip tells.
constexpr int64_t kReachBefore = 200;

// Counts alleles along one contig. Reads are added in order of start. A position is settled once no later read can
// reach it: its counts are judged, and forgotten. What is found therefore does not depend on how reads are cut into
// blocks, and memory grows only with the aligned bases of reads that reach beyond what is settled.
class CandidateScanner {
public:
    CandidateScanner(int samples, CandidateThresholds thresholds);
    CandidateScanner(const CandidateScanner&);
    CandidateScanner(CandidateScanner&&) noexcept;
    ~CandidateScanner();

    // Counts the reads over some intervals: elsewhere, counts are less than what reads show.
    //
    // Throws std::invalid_argument for a read that starts before 0, before the last `take`, or far before the one
    // added last.
    void add(const Reads& reads, const ReferenceWindows& reference, const Intervals& intervals);
    // Counts an insertion or deletion that the clip of a read tells, at most kReachBefore bases before the read. It
    // comes before the reads of its block are added.
    void count(const Indel& indel, int sample);
    // Candidates before `frontier`, in order; every read to come starts there or later.
    std::vector<Candidate> take(int64_t frontier);
    // Short insertions and deletions of a mixture that are no candidates, since they are errors: those before the last
    // `take`, which were not taken before.
    std::vector<Candidate> take_errors() { return std::exchange(errors_, {}); }
    // Forget everything: the next read is on another contig.
    void reset();

private:
    using IndelKey = std::tuple<int64_t, int32_t, std::string>;
    using Indels = std::map<IndelKey, std::vector<uint32_t>>;
    using Letters = std::array<uint32_t, 4>;

    // Counts at consecutive positions. Depths and letters stand apart, since few bases differ from the reference.
    struct Page {
        std::vector<uint32_t> depth;         // [samples][positions]
        std::vector<Letters> alternatives;   // [samples][positions]
        std::vector<bool> is_worth_judging;  // [positions] some sample has enough reads of an alternative
    };
    // A deletion that is longer than a page, of one read.
    struct LongDeletion {
        int64_t start, end;
        int sample;
    };

    void add_read(const Reads& reads, int64_t read, const ReferenceWindows& reference);
    void count_aligned(int64_t position, int64_t length, const uint8_t* base, const uint8_t* quality, int sample,
                       const ReferenceWindow& reference);
    void count_deleted(int64_t position, int64_t length, int sample);
    void settle(int64_t frontier);
    void settle_site(int64_t position, const Page& page);
    void settle_indels(int64_t before, Indels::iterator& next);
    std::optional<Artefact> shown_indel(const IndelKey& indel, uint32_t count, int sample) const;
    Page& page_of(int64_t position);
    void count_alternatives(int64_t position, int64_t length, const uint8_t* base, const uint8_t* quality, int sample,
                            const ReferenceWindow& reference, Page& page) const;
    uint32_t depth(int64_t position, int sample) const;
    uint32_t long_deletions(int64_t position, int sample) const;

    int samples_;
    CandidateThresholds thresholds_;
    int64_t origin_ = 0;             // all positions before it are settled
    std::map<int64_t, Page> pages_;  // those that reads are aligned to, by number
    std::vector<LongDeletion> long_deletions_;
    Indels indels_;                       // counts by sample
    std::vector<MixtureCounts> mixture_;  // one of a mixture, else none
    std::vector<Candidate> ready_, errors_;
    std::vector<Indel> scratch_;
};

// The part of a read aligned to [start, end): query [first, last). Soft clips are kept as far as they would reach were
// they aligned without gaps, less `slack` bases, so that they still fit on a haplotype shorter than the reference. Ends
// that are cut off are left out.
void cut_read(const Reads& reads, int64_t read, int64_t start, int64_t end, int64_t slack, int64_t& first,
              int64_t& last);

// The place in a read of the base that it aligns to a reference position, or -1.
int64_t query_at(const Reads& reads, int64_t read, int64_t position);

// The bases of a read between its soft clips: query [first, second).
std::pair<int64_t, int64_t> unclipped_bases(const Reads& reads, int64_t read);

// The bases of a read's soft clips on the left and on the right, without ends that are cut off.
std::pair<int64_t, int64_t> kept_clips(const Reads& reads, int64_t read);

// The reference bases [first, second) that a read is aligned to, without ends that are cut off.
std::pair<int64_t, int64_t> kept_extent(const Reads& reads, int64_t read);

// The letter that a read aligns to a reference position, 0..4, or -1.
int letter_at(const Reads& reads, int64_t read, int64_t position);

// Bases between a reference position and the nearer end of a read, soft clips counted. In a deletion of the read, those
// from the base before it. -1 where the alignment does not reach the position.
int64_t bases_from_end(const Reads& reads, int64_t read, int64_t position);

}  // namespace pairhmm
