// Alignments of a BAM file as flat arrays: the records of whole buffers are filtered and unpacked, with no object for
// each. Coordinates are 0-based half-open.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "calling/indel_quality.hpp"
#include "formats/bam_record.hpp"
#include "formats/primers.hpp"
#include "formats/sample_block.hpp"

namespace pairhmm {

// The number of a sample whose reads are left out.
constexpr int32_t kUnwanted = -2;

// What a file and a run say about its reads.
struct AlignmentRules {
    std::vector<int32_t> rank;           // of each contig of the file among those that are read; -1 for others
    std::vector<int64_t> length;         // of each contig of the file
    std::vector<uint8_t> is_circle;      // [contigs] or empty: 1 where alignments may pass the end
    std::vector<ContigPrimers> primers;  // [contigs] or empty
    uint32_t excluded_flags = 0;
    int min_mapq = 0;
    int default_quality = -1;                                  // of reads without qualities; -1: they are an error
    int highest_quality = 255;                                 // of a base
    std::unordered_map<std::string, int32_t> sample_of_group;  // kUnwanted: its reads are left out
    int32_t default_sample = -1;  // of reads without a read group; -1: they are looked at one by one
    std::string tag;              // kept of each read: MI, MC or none
    bool indel_tags = false;      // qualities are kept of reads that have BI or BD
    bool trims_ends = false;      // ends that say nothing of the sample become N of quality 0
    int64_t jump = 0;             // bases to the next wanted interval from which on the reader jumps there
};

struct ContigIntervals {
    std::vector<int32_t> contig;  // ranks; or none where all are on one contig
    std::vector<int64_t> start, end;
};

// The reads that an index was asked for: those that overlap [start, end) of a contig and start behind `seen`.
struct AlignmentWindow {
    int32_t contig = -1;  // number in the file; -1: the whole file
    int64_t start = 0, end = 0, seen = std::numeric_limits<int64_t>::min();
    ContigIntervals parts;  // where there is more than one, reads overlap one of these
};

// Why alignments are left out: by their flags (in the order of messages), and otherwise.
enum LeftOut {
    kUnmapped,
    kSecondary,
    kQcFail,
    kDuplicate,
    kSupplementary,
    kOtherFlag,
    kLowMapq,
    kNowhere,
    kElsewhere,
    kEmpty,
    kOutside,
    kOtherSample,
    kReasons
};

// Why a read is left out, by those of its flags that are excluded: its mapping quality without one.
LeftOut reason_of(uint32_t flags);

// Bases that a CIGAR takes up.
struct CigarLengths {
    int64_t query = 0, reference = 0;
};

// What a read says of its indel qualities: a character for each base, in the order of its bases. Null: without that
// tag.
struct IndelTags {
    const uint8_t *insertion = nullptr, *deletion = nullptr;
    bool are_wrong = false;  // they are not a quality for each base
};

// Reads of one contig, in order of start.
struct AlignmentBlock {
    int32_t contig = -1;          // rank
    std::vector<int32_t> sample;  // -1: its read group is to be looked at
    std::vector<uint16_t> flag;
    Bytes mapq;
    std::vector<int64_t> start, end, base_offset{0}, cigar_offset{0}, name_end, tag_end;
    Bytes bases, quals, insertion, deletion;  // the last two, indel qualities, where any read has them
    std::vector<uint32_t> cigar;
    std::string names, tags;   // end to end; of a tag the type and the value
    std::vector<int64_t> odd;  // reads whose names are not ASCII, and those whose read groups are to be looked at
    std::string groups;        // of the odd ones: types and values
    std::vector<int64_t> group_end;
    int64_t unfit = -1;  // the first read whose name has a control character, whose bases have a quality above the
                         // highest, or whose CIGAR spells another number of bases
    std::vector<int32_t> mate_contig, mate_start, template_length;  // where the tag MC is kept

    int64_t reads() const { return static_cast<int64_t>(flag.size()); }
};

class AlignmentParser {
public:
    enum Stop { kMore, kFull, kWindowEnd, kGoals, kJump, kDamaged, kUnsorted, kNoQualities, kWrongIndelTags };

    explicit AlignmentParser(AlignmentRules rules) : rules_(std::move(rules)) {}

    // The records that follow are those of an index. `may_jump`: kJump is wanted.
    void set_window(AlignmentWindow window, bool may_jump);

    // Further wanted intervals, disjoint and in order; reads that overlap none are passed over. Where `parse` stops for
    // more of them and has none, there is no read left that is wanted.
    void set_goals(ContigIntervals goals);

    // Takes the records that begin before `limit`, from `at` on, until the block has `room` reads. `at` is behind the
    // last one that was taken. kMore: it reached the limit, or a record that is not complete.
    Stop parse(const uint8_t* data, int64_t size, int64_t& at, int64_t limit, int64_t room);

    // What becomes of a record: where `parse` is to go on, and whether the record is done with.
    struct Verdict {
        Stop stop;
        bool is_behind;
    };

    // Takes one record that is known to be whole.
    Verdict take_in(const BamRecord& record, int64_t room);

    AlignmentBlock take();

    const int64_t* left_out() const { return left_out_; }
    // Reads of contigs with primers: those that begin in no primer, and those that begin in one.
    const int64_t* begun() const { return begun_; }
    int64_t reads() const { return block_.reads(); }
    bool has_met() const { return has_met_; }  // any read that was neither filtered nor on another contig
    // After kJump: where to.
    int32_t goal_contig() const { return goals_.contig.at(goal_); }
    int64_t goal_start() const { return goals_.start.at(goal_); }
    // Of the read that `parse` stopped at: its name, contig and position.
    const std::string& name() const { return name_; }
    int32_t contig() const { return contig_; }
    int64_t start() const { return start_; }

private:
    static constexpr Verdict kPassedOver{kMore, true};

    Verdict look_at(const BamRecord& record, const CigarLengths& lengths, int64_t room);
    bool is_contig(int32_t contig) const;
    bool is_in_window(const BamRecord& record, int64_t end);
    Verdict compare_with_goal(int32_t contig, int64_t start, int64_t end);
    Verdict leave_out(LeftOut reason);
    Verdict stop_at(const BamRecord& record, Stop stop);
    void add(const BamRecord& record, const CigarLengths& lengths, int64_t end, int32_t sample, const BamTag& group);
    bool add_qualities(const BamRecord& record);
    bool is_on_circle(const BamRecord& record) const;
    // Ends that say nothing of the sample become N of quality 0, and so do bases of primers.
    void trim_ends(const BamRecord& record, int64_t end);
    void trim_primers(const BamRecord& record, int64_t end);
    void cut_off(const BamRecord& record, KeptBases kept);
    int32_t sample_of(const BamRecord& record, BamTag& group);
    void add_sample(int32_t sample, const BamTag& group, bool is_odd);
    void add_tag(const BamRecord& record);
    void add_indel_qualities(const IndelTags& tags, int64_t length);

    AlignmentRules rules_;
    AlignmentWindow window_;
    size_t part_ = 0;
    bool may_jump_ = false;
    ContigIntervals goals_;
    size_t goal_ = 0;
    bool has_goals_ = false;
    int32_t last_contig_ = -1;
    int64_t last_start_ = -1;
    int64_t left_out_[kReasons] = {}, begun_[2] = {};
    bool has_met_ = false;
    AlignmentBlock block_;
    std::string name_;
    int32_t contig_ = -1;
    int64_t start_ = -1;
    std::string group_;  // kept for its memory
};

}  // namespace pairhmm
