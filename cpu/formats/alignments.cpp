#include "formats/alignments.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "calling/cigar.hpp"
#include "calling/letters.hpp"
#include "formats/read_ends.hpp"

namespace pairhmm {
namespace {

constexpr uint32_t kFlagUnmapped = 0x4;
constexpr uint8_t kFirstQuality = '!', kLastQuality = '~';  // of a text
constexpr uint32_t kFlagsOfReasons[] = {kFlagUnmapped, 0x100, 0x200, 0x400, 0x800};

// Codes of a read's letters (pairhmm/sequences/letters.py, READ_LETTERS) in BAM's order, =ACMGRSVTWYHKDBN. The
// reference's letter, '=', is not known here: N.
constexpr uint8_t kCodes[16] = {4, 0, 1, 10, 2, 5, 7, 14, 3, 8, 6, 13, 9, 12, 11, 4};

CigarLengths cigar_lengths(const BamRecord& record) {
    CigarLengths lengths;
    for (int64_t i = 0; i < record.operations; ++i) {
        const uint32_t packed = number_at<uint32_t>(record.cigar + 4 * i), operation = packed & 15;
        const int64_t length = packed >> 4;
        if (aligned(operation) || operation == kInsert || operation == kSoftClip) lengths.query += length;
        if (aligned(operation) || skips(operation)) lengths.reference += length;
    }
    return lengths;
}

// Whether a mapped read's CIGAR has as many bases as the read; htslib refuses other records of BAM.
bool spells_read(const CigarLengths& lengths, const BamRecord& record) {
    const bool is_mapped = (record.flag & kFlagUnmapped) == 0;
    return record.operations == 0 || record.length == 0 || !is_mapped || lengths.query == record.length;
}

// Whether a tag is text of one quality for each base (Phred+33).
bool is_quality_text(const BamTag& tag, int64_t length) {
    if (*tag.type != 'Z' || tag.end - tag.type - 2 != length) return false;
    return std::all_of(tag.type + 1, tag.end - 1,
                       [](uint8_t letter) { return letter >= kFirstQuality && letter <= kLastQuality; });
}

// As in GATK, each tag counts by itself.
IndelTags find_indel_tags(const BamRecord& record) {
    IndelTags tags;
    const auto letters_of = [&](const BamTag& tag) -> const uint8_t* {
        if (tag.type == nullptr) return nullptr;
        tags.are_wrong |= !is_quality_text(tag, record.length);
        return tag.type + 1;
    };
    const std::array<BamTag, 2> found = find_bam_tags(record, "BI", "BD");
    tags.insertion = letters_of(found[0]);
    tags.deletion = letters_of(found[1]);
    return tags;
}

int64_t name_length(const BamRecord& record) {
    const void* zero = std::memchr(record.name, 0, static_cast<size_t>(record.name_size));
    return zero == nullptr ? record.name_size : static_cast<const uint8_t*>(zero) - record.name;
}

struct NameLetters {
    int64_t length;
    bool is_ascii, has_control;
};

NameLetters letters_of(const uint8_t* name, int64_t length) {
    uint8_t bits = 0;
    bool has_control = false;
    for (int64_t i = 0; i < length; ++i) {
        bits |= name[i];
        has_control |= name[i] < 0x20 || name[i] == 0x7f;
    }
    return {length, bits < 0x80, has_control};
}

}  // namespace

void AlignmentParser::set_window(AlignmentWindow window, bool may_jump) {
    window_ = std::move(window);
    part_ = 0;
    may_jump_ = may_jump;
}

void AlignmentParser::set_goals(ContigIntervals goals) {
    goals_ = std::move(goals);
    goal_ = 0;
    has_goals_ = true;
}

AlignmentParser::Stop AlignmentParser::parse(const uint8_t* data, int64_t size, int64_t& at, int64_t limit,
                                             int64_t room) {
    BamRecord record;
    while (at < limit) {
        const BamPiece next = take_bam_record(data + at, size - at, record);
        if (next.is_broken || (next.end > 0 && !use_long_cigar(record))) return kDamaged;
        if (next.end == 0) return kMore;
        const CigarLengths lengths = cigar_lengths(record);
        if (!spells_read(lengths, record)) return kDamaged;
        const Verdict verdict = look_at(record, lengths, room);
        if (verdict.is_behind) at += next.end;
        if (verdict.stop != kMore) return verdict.stop;
    }
    return kMore;
}

AlignmentParser::Verdict AlignmentParser::take_in(const BamRecord& record, int64_t room) {
    return look_at(record, cigar_lengths(record), room);
}

// Nothing is counted before it is certain that the record is not looked at again.
AlignmentParser::Verdict AlignmentParser::look_at(const BamRecord& record, const CigarLengths& lengths, int64_t room) {
    const bool is_mapped = (record.flag & kFlagUnmapped) == 0;
    const int64_t end = record.start + std::max<int64_t>(is_mapped ? lengths.reference : 0, 1);
    if (window_.contig >= 0) {
        if (record.contig != window_.contig || record.start >= window_.end) return {kWindowEnd, false};
        if (!is_in_window(record, end)) return kPassedOver;
    } else if (!is_contig(record.contig) || !is_contig(record.mate_contig)) {
        return {kDamaged, false};
    }
    if ((record.flag & rules_.excluded_flags) != 0 || record.mapq < rules_.min_mapq) {
        return leave_out(reason_of(record.flag & rules_.excluded_flags));
    }
    if (record.contig < 0 || record.start < 0) return leave_out(kNowhere);
    const int32_t contig = rules_.rank[static_cast<size_t>(record.contig)];
    if (contig < 0) return leave_out(kElsewhere);
    if (contig < last_contig_ || (contig == last_contig_ && record.start < last_start_)) {
        return stop_at(record, kUnsorted);
    }
    last_contig_ = contig;
    last_start_ = record.start;
    if (has_goals_) {
        const Verdict verdict = compare_with_goal(contig, record.start, record.operations == 0 ? record.start : end);
        if (verdict.stop != kMore || verdict.is_behind) return verdict;
    }
    if (record.length == 0 || record.operations == 0) return leave_out(kEmpty);
    has_met_ = true;
    if (block_.reads() > 0 && (contig != block_.contig || block_.reads() >= room)) return {kFull, false};
    const int64_t turns = is_on_circle(record) ? 2 : 1;
    if (end > turns * rules_.length[static_cast<size_t>(record.contig)]) return leave_out(kOutside);
    if (!record.has_qualities() && rules_.default_quality < 0) return stop_at(record, kNoQualities);
    BamTag group;
    const int32_t sample = sample_of(record, group);
    if (sample == kUnwanted) return leave_out(kOtherSample);
    const IndelTags tags = rules_.indel_tags ? find_indel_tags(record) : IndelTags();
    if (tags.are_wrong) return stop_at(record, kWrongIndelTags);
    block_.contig = contig;
    add(record, lengths, end, sample, group);
    add_indel_qualities(tags, record.length);
    return kPassedOver;
}

bool AlignmentParser::is_contig(int32_t contig) const {
    return contig >= -1 && contig < static_cast<int64_t>(rules_.rank.size());
}

// A read that starts before the window's end, on its contig.
bool AlignmentParser::is_in_window(const BamRecord& record, int64_t end) {
    if (end <= window_.start || record.start <= window_.seen) return false;
    const ContigIntervals& parts = window_.parts;
    if (parts.start.size() < 2) return true;
    while (part_ + 1 < parts.start.size() && parts.end[part_] <= record.start) ++part_;
    return end > parts.start[part_];
}

// kMore where the read is to be looked at further, if the record is not passed over.
AlignmentParser::Verdict AlignmentParser::compare_with_goal(int32_t contig, int64_t start, int64_t end) {
    const auto is_before = [&](size_t goal) {
        return goals_.contig[goal] < contig || (goals_.contig[goal] == contig && start >= goals_.end[goal]);
    };
    while (goal_ < goals_.start.size() && is_before(goal_)) ++goal_;
    if (goal_ == goals_.start.size()) return {kGoals, false};
    const bool is_elsewhere = goals_.contig[goal_] != contig;
    if (!is_elsewhere && end > goals_.start[goal_]) return {kMore, false};
    if (may_jump_ && (is_elsewhere || goals_.start[goal_] - start > rules_.jump)) {
        start_ = start;
        contig_ = contig;
        return {kJump, true};
    }
    return kPassedOver;
}

AlignmentParser::Verdict AlignmentParser::leave_out(LeftOut reason) {
    ++left_out_[reason];
    return kPassedOver;
}

AlignmentParser::Verdict AlignmentParser::stop_at(const BamRecord& record, Stop stop) {
    name_.assign(reinterpret_cast<const char*>(record.name), static_cast<size_t>(name_length(record)));
    contig_ = rules_.rank[static_cast<size_t>(record.contig)];
    start_ = record.start;
    return {stop, false};
}

LeftOut reason_of(uint32_t flags) {
    for (int reason = kUnmapped; reason < kOtherFlag; ++reason) {
        if (flags & kFlagsOfReasons[reason]) return static_cast<LeftOut>(reason);
    }
    return flags != 0 ? kOtherFlag : kLowMapq;
}

void AlignmentParser::add(const BamRecord& record, const CigarLengths& lengths, int64_t end, int32_t sample,
                          const BamTag& group) {
    AlignmentBlock& block = block_;
    const size_t before = block.bases.size(), length = static_cast<size_t>(record.length);
    block.bases.resize(before + length);
    static const BamLetters letters(kCodes);
    letters.unpack(record, block.bases.data() + before);
    block.base_offset.push_back(static_cast<int64_t>(before + length));
    const bool has_wrong_quality = !add_qualities(record);
    if (rules_.trims_ends) trim_ends(record, end);
    if (!rules_.primers.empty()) trim_primers(record, end);
    const size_t operations = block.cigar.size();
    block.cigar.resize(operations + static_cast<size_t>(record.operations));
    std::memcpy(block.cigar.data() + operations, record.cigar, 4 * static_cast<size_t>(record.operations));
    block.cigar_offset.push_back(static_cast<int64_t>(block.cigar.size()));
    const NameLetters name = letters_of(record.name, name_length(record));
    block.names.append(name.length > 0 ? reinterpret_cast<const char*>(record.name) : "*",
                       static_cast<size_t>(std::max<int64_t>(name.length, 1)));
    block.name_end.push_back(static_cast<int64_t>(block.names.size()));
    const bool is_unfit = has_wrong_quality || name.has_control || lengths.query != record.length;
    if (is_unfit && block.unfit < 0) block.unfit = block.reads();
    add_sample(sample, group, !name.is_ascii);
    if (!rules_.tag.empty()) add_tag(record);
    block.flag.push_back(record.flag);
    block.mapq.push_back(record.mapq);
    block.start.push_back(record.start);
    block.end.push_back(end);
}

bool AlignmentParser::is_on_circle(const BamRecord& record) const {
    return !rules_.is_circle.empty() && rules_.is_circle[static_cast<size_t>(record.contig)];
}

void AlignmentParser::trim_ends(const BamRecord& record, int64_t end) {
    const int64_t length = rules_.length[static_cast<size_t>(record.contig)];
    cut_off(record, is_on_circle(record) ? kept_on_circle(record, end, length) : kept_bases(record, end));
}

void AlignmentParser::trim_primers(const BamRecord& record, int64_t end) {
    const ContigPrimers& primers = rules_.primers[static_cast<size_t>(record.contig)];
    if (primers.empty()) return;
    const PrimerCut cut = without_primers(record, end, primers);
    ++begun_[cut.begins_in_primer];
    cut_off(record, cut.kept);
}

void AlignmentParser::cut_off(const BamRecord& record, KeptBases kept) {
    const size_t before = block_.quals.size() - static_cast<size_t>(record.length);
    for (auto [values, value] :
         {std::pair(block_.bases.data() + before, kCodeOfN), {block_.quals.data() + before, uint8_t{0}}}) {
        std::fill_n(values, kept.first, value);
        std::fill(values + kept.last, values + record.length, value);
    }
}

// Whether none is above the highest.
bool AlignmentParser::add_qualities(const BamRecord& record) {
    const size_t before = block_.quals.size(), length = static_cast<size_t>(record.length);
    block_.quals.resize(before + length);
    uint8_t* quals = block_.quals.data() + before;
    if (record.has_qualities()) std::memcpy(quals, record.qualities, length);
    else std::fill_n(quals, length, static_cast<uint8_t>(rules_.default_quality));
    return std::accumulate(quals, quals + length, uint8_t{0}, [](uint8_t highest, uint8_t quality) {
               return std::max(highest, quality);
           }) <= rules_.highest_quality;
}

// The sample of a read, and its read group where it is looked at; -1: the group is not known.
int32_t AlignmentParser::sample_of(const BamRecord& record, BamTag& group) {
    if (rules_.sample_of_group.empty()) return rules_.default_sample;
    group = find_bam_tag(record, "RG");
    if (group.type == nullptr || *group.type != 'Z') return -1;
    group_.assign(reinterpret_cast<const char*>(group.type) + 1);
    const auto found = rules_.sample_of_group.find(group_);
    return found == rules_.sample_of_group.end() ? -1 : found->second;
}

void AlignmentParser::add_sample(int32_t sample, const BamTag& group, bool is_odd) {
    block_.sample.push_back(sample);
    if (sample >= 0 && !is_odd) return;
    block_.odd.push_back(block_.reads());
    if (group.type != nullptr) block_.groups.append(group.type, group.end);
    block_.group_end.push_back(static_cast<int64_t>(block_.groups.size()));
}

void AlignmentParser::add_tag(const BamRecord& record) {
    const BamTag tag = find_bam_tag(record, rules_.tag.c_str());
    if (tag.type != nullptr) block_.tags.append(tag.type, tag.end);
    block_.tag_end.push_back(static_cast<int64_t>(block_.tags.size()));
    block_.mate_contig.push_back(record.mate_contig);
    block_.mate_start.push_back(record.mate_start);
    block_.template_length.push_back(record.template_length);
}

// Behind `add`. The reads before the first one with tags get their place with it.
void AlignmentParser::add_indel_qualities(const IndelTags& tags, int64_t length) {
    if (tags.insertion == nullptr && tags.deletion == nullptr && block_.insertion.empty()) return;
    const size_t end = block_.bases.size(), begin = end - static_cast<size_t>(length);
    const auto add = [&](const uint8_t* letters, Bytes& qualities) {
        qualities.resize(end, kNoIndelQuality);
        if (letters == nullptr) return;
        for (size_t i = begin; i < end; ++i) qualities[i] = static_cast<uint8_t>(letters[i - begin] - kFirstQuality);
    };
    add(tags.insertion, block_.insertion);
    add(tags.deletion, block_.deletion);
}

// Reads of a block from which on the next one gets its room at once.
constexpr int64_t kWorthRoom = 1000;

AlignmentBlock AlignmentParser::take() {
    AlignmentBlock next;
    if (block_.reads() < kWorthRoom) {
        // One of many inputs, for each of which the room would be held.
        std::swap(block_, next);
        return next;
    }
    // The next block is as large as this one, more or less.
    next.bases.reserve(block_.bases.size());
    next.quals.reserve(block_.quals.size());
    next.insertion.reserve(block_.insertion.size());
    next.deletion.reserve(block_.deletion.size());
    next.cigar.reserve(block_.cigar.size());
    next.names.reserve(block_.names.size());
    std::swap(block_, next);
    return next;
}

}  // namespace pairhmm
