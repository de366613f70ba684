#include "formats/read_ends.hpp"

#include <algorithm>
#include <cstdlib>

#include "calling/cigar.hpp"

namespace pairhmm {

namespace {

constexpr uint16_t kHasMate = 0x1, kMateUnmapped = 0x8, kIsReverse = 0x10, kMateIsReverse = 0x20;  // SAM flags
constexpr uint8_t kLeastEndQuality = 10;
// Aligners that clip reads align no adaptor: where so many bases beyond a fragment's end are aligned, and others
// clipped, the mates are on both sides of a tandem duplication's junction, and the fragment is longer.
constexpr int64_t kLeastBeyond = 30;

uint32_t operation_at(const BamRecord& record, int64_t i) { return number_at<uint32_t>(record.cigar + 4 * i); }

// Bases of the soft clip at either end of a read.
int64_t clip_from(const BamRecord& record, int64_t first, int64_t step) {
    int64_t i = first;
    while (i >= 0 && i < record.operations && (operation_at(record, i) & 15) == kHardClip) i += step;
    if (i < 0 || i >= record.operations || (operation_at(record, i) & 15) != kSoftClip) return 0;
    return operation_at(record, i) >> 4;
}

}  // namespace

ReadClips clips_of(const BamRecord& record) {
    return {clip_from(record, 0, 1), clip_from(record, record.operations - 1, -1)};
}

bool is_reverse(const BamRecord& record) { return record.flag & kIsReverse; }

int64_t base_at(const BamRecord& record, int64_t position) {
    const int64_t leading_clip = clip_from(record, 0, 1);
    if (position <= record.start) return std::max<int64_t>(0, leading_clip - (record.start - position));
    int64_t at = record.start, base = leading_clip;
    for (int64_t i = 0; i < record.operations; ++i) {
        const uint32_t operation = operation_at(record, i) & 15;
        const int64_t length = operation_at(record, i) >> 4;
        if (aligned(operation)) {
            if (position < at + length) return base + position - at;
            at += length, base += length;
        } else if (skips(operation)) {
            if (position < at + length) return base;
            at += length;
        } else if (operation == kInsert) {
            base += length;
        }
    }
    return std::min(record.length, base + position - at);
}

namespace {

// Whether the mates face each other, so that their fragment's ends are known: GATK's hasWellDefinedFragmentSize.
bool has_known_fragment(const BamRecord& record, int64_t end) {
    const bool is_mate_reverse = record.flag & kMateIsReverse;
    if (record.flag & kMateUnmapped || record.template_length == 0 || is_reverse(record) == is_mate_reverse)
        return false;
    return is_reverse(record) ? end - 1 > record.mate_start
                              : record.start <= int64_t{record.mate_start} + record.template_length;
}

// What is left of a mate.
KeptBases kept_of_fragment(const BamRecord& record, int64_t end) {
    const auto [leading, trailing] = clips_of(record);
    if (!has_known_fragment(record, end)) return {leading, record.length - trailing};
    if (is_reverse(record)) {
        const bool is_aligned_beyond = leading > 0 && record.mate_start - record.start >= kLeastBeyond;
        return {is_aligned_beyond ? 0 : base_at(record, record.mate_start), record.length};
    }
    const int64_t behind = record.start + std::abs(int64_t{record.template_length});
    const bool is_aligned_beyond = trailing > 0 && end - behind >= kLeastBeyond;
    return {0, is_aligned_beyond || behind >= end + trailing ? record.length : base_at(record, behind)};
}

// What is left of some bases of a read without ends below quality 10.
KeptBases kept_by_quality(const BamRecord& record, KeptBases kept) {
    if (!record.has_qualities()) return kept;
    const KeptBases of_fragment = kept;
    while (kept.first < kept.last && record.qualities[kept.first] < kLeastEndQuality) ++kept.first;
    while (kept.first < kept.last && record.qualities[kept.last - 1] < kLeastEndQuality) --kept.last;
    // A read that is poor throughout stays: its qualities say so.
    return kept.first < kept.last ? kept : of_fragment;
}

}  // namespace

FragmentEnds fragment_ends(const BamRecord& record, int64_t end) {
    FragmentEnds ends{record.start, end};
    if (!(record.flag & kHasMate)) return ends;
    const bool is_known = has_known_fragment(record, end);
    if (is_reverse(record)) ends.left = is_known ? std::optional<int64_t>(record.mate_start) : std::nullopt;
    else if (is_known) ends.right = record.start + std::abs(int64_t{record.template_length});
    else ends.right = std::nullopt;
    return ends;
}

KeptBases kept_on_circle(const BamRecord& record, int64_t end, int64_t length) {
    const auto [leading, trailing] = clips_of(record);
    if (leading > record.start || end + trailing > length) return kept_by_quality(record, {0, record.length});
    BamRecord turned = record;
    const int64_t distance = int64_t{record.mate_start} - record.start;
    if (record.mate_contig == record.contig && 2 * std::abs(distance) > length) {
        // The shorter way to the mate leads over the origin.
        const auto turn = static_cast<int32_t>(length);
        turned.mate_start += distance < 0 ? turn : -turn;
        turned.template_length += record.template_length < 0 ? turn : -turn;
    }
    return kept_bases(turned, end);
}

KeptBases kept_bases(const BamRecord& record, int64_t end) {
    return kept_by_quality(record,
                           record.flag & kHasMate ? kept_of_fragment(record, end) : KeptBases{0, record.length});
}

}  // namespace pairhmm
