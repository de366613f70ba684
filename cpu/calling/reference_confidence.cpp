#include "calling/reference_confidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "calling/cigar.hpp"
#include "calling/phred.hpp"

namespace pairhmm {

namespace {

// GATK's: the quality of a deleted base, the longest indel that a read has to show, its quality, and the most reads
// that count (ReferenceConfidenceModel).
constexpr int kDeletedQuality = 30;
constexpr int kLongestIndel = 10;
constexpr double kIndelQuality = 45;
constexpr int64_t kMostShowingIndels = 40;
constexpr int kMaxQuality = 99;
constexpr double kThousandths = 1000;
constexpr int kQualities = 256;
constexpr uint8_t kNoLetter = 255;
// Kinds of bases: the reference's, another one, and one that is not known. Those of reads that show indels, too, come
// behind them.
constexpr int kSame = 0, kDifferent = 1, kUnknown = 2, kShowing = 4, kKinds = 8;
// Ends of first mates are forgotten when so many bases have passed.
constexpr int64_t kPruneEvery = 1 << 16;

int64_t thousandths(double log10) { return std::llround(-10 * kThousandths * log10); }

int64_t phred(int64_t thousandths) {
    return std::max<int64_t>(0, (thousandths + 500) / static_cast<int64_t>(kThousandths));
}

// How far from the window's start a read has to reach so that shifting it by an indel of 1 to kLongestIndel bases
// behind each position makes a mismatch, as it does where the reference has no repeat.
std::vector<int32_t> reach_needed(const ReferenceWindow& window) {
    std::vector<int32_t> reach(static_cast<size_t>(window.length));
    // By period: how many bases from the position on are those a period further on.
    int32_t run[kLongestIndel] = {};
    const auto step = [&](int64_t i, int inside) {
        // N is no base's like.
        const uint8_t letter = window.letter[i] < kCodeOfN ? window.letter[i] : kNoLetter;
        int32_t needed = 0;
        for (int period = 1; period <= kLongestIndel; ++period) {
            const bool is_same = period > inside || letter == window.letter[i + period];
            run[period - 1] = is_same ? run[period - 1] + 1 : 0;
            needed = std::max(needed, run[period - 1] + period);
        }
        reach[i] = static_cast<int32_t>(i) + needed;
    };
    int64_t i = window.length - 1;
    // Behind its end, the window may go on in any way.
    for (; i >= 0 && i + kLongestIndel >= window.length; --i) step(i, static_cast<int>(window.length - 1 - i));
    for (; i >= 0; --i) step(i, kLongestIndel);
    return reach;
}

}  // namespace

ReferenceConfidence::ReferenceConfidence(int min_base_quality) : added_(kKinds * kQualities) {
    for (int quality = 0; quality < kQualities; ++quality) {
        const QualityScores& scores = scores_of(static_cast<uint8_t>(quality));
        const double error = scores.error;
        const int64_t right = thousandths(scores.right), wrong = thousandths(scores.wrong);
        const int64_t mixed = thousandths(std::log10((1 - error + error / 3) / 2));
        const Counts different{mixed - wrong, right - wrong, 1, 0};
        if (quality == kDeletedQuality) deleted_ = different;
        if (quality < min_base_quality) continue;
        const Counts same{mixed - right, wrong - right, 1, 0};
        added_[kSame * kQualities + quality] = same;
        added_[kDifferent * kQualities + quality] = different;
        added_[(kShowing + kSame) * kQualities + quality] = {same.one, same.both, 1, 1};
        added_[(kShowing + kDifferent) * kQualities + quality] = {different.one, different.both, 1, 1};
    }
}

ReferenceConfidence::Counts* ReferenceConfidence::counts_from(int64_t position) {
    const int64_t number = position >> kPageBits;
    if (number != recent_number_) {
        std::vector<Counts>& page = pages_[number];
        if (page.empty()) page.resize(kPage);
        recent_ = page.data();
        recent_number_ = number;
    }
    return recent_ + (position & (kPage - 1));
}

void ReferenceConfidence::add(const Reads& reads, const int64_t* read_end, const uint32_t* fragment,
                              const ReferenceWindows& reference) {
    Compared compared{reference, {}};
    for (const ReferenceWindow& window : reference.windows) compared.reach.push_back(reach_needed(window));
    for (int64_t read = 0; read < reads.count; ++read) {
        const int64_t start = reads.start[read];
        if (start > pruned_ + kPruneEvery) {
            for (auto entry = end_of_.begin(); entry != end_of_.end();)
                entry = entry->second <= start ? end_of_.erase(entry) : std::next(entry);
            pruned_ = start;
        }
        const auto [mate, is_first] = end_of_.try_emplace(fragment[read], read_end[read]);
        add_read(reads, read, read_end[read], is_first ? start : std::max(start, mate->second), compared);
    }
}

void ReferenceConfidence::add_read(const Reads& reads, int64_t read, int64_t read_end, int64_t first,
                                   const Compared& compared) {
    const uint8_t* base = reads.base + reads.base_offset[read];
    const uint8_t* quality = reads.quality + reads.base_offset[read];
    // Records have their indels on the left. Reads show them there, too, wherever an aligner put them.
    leftmost_alignment(reads, read, compared.reference, alignment_);
    int64_t position = alignment_.start;
    const std::vector<AlignedPiece>& pieces = alignment_.pieces;
    for (size_t piece = 0; piece < pieces.size(); ++piece) {
        const auto [operation, length] = pieces[piece];
        if (aligned(operation)) {
            const uint32_t next = piece + 1 < pieces.size() ? pieces[piece + 1].operation : kMatch;
            const ReferenceWindow& window = compared.reference.of(position);
            const auto& reach = compared.reach[&window - compared.reference.windows.data()];
            // Beyond its window, the reference is not known.
            const int64_t begin = std::max({first, position, window.start});
            const int64_t end = std::min(position + length, window.start + window.length);
            // An indel behind a base is a difference, too.
            const int64_t anchor = next == kInsert || next == kDelete ? position + length - 1 : end;
            add_aligned(begin, std::min(end, anchor), base + (begin - position), quality + (begin - position), read_end,
                        window, reach);
            if (begin <= anchor && anchor < end) add_different(anchor, base[length - 1], quality[length - 1], window);
            position += length;
            base += length;
            quality += length;
        } else if (operation == kDelete) {
            // Longer ones are passed over like introns: memory must not grow with what a CIGAR says.
            if (length <= kPage)
                for (int64_t at = std::max(first, position); at < position + length; ++at)
                    counts_from(at)->add(deleted_);
            position += length;
        } else if (operation == kSkip) {
            position += length;
        } else if (operation == kInsert || operation == kSoftClip) {
            base += length;
            quality += length;
        }
    }
}

void ReferenceConfidence::add_aligned(int64_t begin, int64_t end, const uint8_t* base, const uint8_t* quality,
                                      int64_t read_end, const ReferenceWindow& window,
                                      const std::vector<int32_t>& reach) {
    const uint8_t* letter = window.letter + (begin - window.start);
    const int32_t* least = reach.data() + (begin - window.start);
    const auto reaches = static_cast<int32_t>(std::min<int64_t>(read_end - window.start, INT32_MAX));
    const Counts* added = added_.data();
    int32_t row[kPage];
    while (begin < end) {
        Counts* counts = counts_from(begin);
        const int64_t size = std::min(end, ((begin >> kPageBits) + 1) << kPageBits) - begin;
        // Without branches: letters and qualities are hard to predict.
        for (int64_t i = 0; i < size; ++i) {
            const int kind = (base[i] | letter[i]) >= kCodeOfN ? kUnknown : base[i] != letter[i];
            row[i] = (kind + (reaches > least[i] ? kShowing : 0)) * kQualities + quality[i];
        }
        for (int64_t i = 0; i < size; ++i) counts[i].add(added[row[i]]);
        begin += size;
        base += size;
        quality += size;
        letter += size;
        least += size;
    }
}

void ReferenceConfidence::add_different(int64_t position, uint8_t base, uint8_t quality,
                                        const ReferenceWindow& window) {
    const int kind = (base | window.at(position)) >= kCodeOfN ? kUnknown : kDifferent;
    counts_from(position)->add(added_[kind * kQualities + quality]);
}

std::vector<ReferenceBlock> ReferenceConfidence::take(int64_t begin, int64_t end, const std::vector<int>& limits,
                                                      bool haploid) {
    std::vector<ReferenceBlock> blocks;
    const auto add = [&](const ReferenceBlock& block) {
        if (blocks.empty() || blocks.back().band != block.band) {
            blocks.push_back(block);
            return;
        }
        ReferenceBlock& last = blocks.back();
        last.end = block.end;
        last.depth += block.depth;
        last.quality = std::min(last.quality, block.quality);
        last.least_depth = std::min(last.least_depth, block.least_depth);
        last.one = std::min(last.one, block.one);
        last.both = std::min(last.both, block.both);
    };
    std::array<int, kMaxQuality + 1> band_of;
    for (int quality = 0; quality <= kMaxQuality; ++quality)
        band_of[quality] = static_cast<int>(std::upper_bound(limits.begin(), limits.end(), quality) - limits.begin());
    const double indel_error = std::pow(10.0, -kIndelQuality / 10);
    const int64_t one_indel = thousandths(std::log10(0.5)) - thousandths(std::log10(1 - indel_error));
    const auto block_at = [&](int64_t position, const Counts& counts) {
        if (counts.depth == 0) return ReferenceBlock{position, position + 1, kNoReads, 0, 0, 0, 0, 0};
        // An indel that no read shows: half of the reads, or all, would be wrong.
        const int64_t showing = std::min(counts.showing_indels, kMostShowingIndels);
        const int64_t indel_one = showing * one_indel;
        const int64_t indel_both = showing * static_cast<int64_t>(kIndelQuality * kThousandths);
        int64_t one = phred(counts.one), both = phred(counts.both);
        const int64_t other_one = phred(indel_one), other_both = phred(indel_both);
        const auto quality_of = [&](int64_t single, int64_t twofold) {
            return std::min<int64_t>(kMaxQuality, haploid ? twofold : std::min(single, twofold));
        };
        // The less sure of the two counts.
        if (quality_of(other_one, other_both) < quality_of(one, both)) one = other_one, both = other_both;
        const int64_t quality = quality_of(one, both);
        const bool is_known = both > 0 || (one > 0 && !haploid);
        const int band = is_known ? band_of[quality] : kNothingKnown;
        return ReferenceBlock{position, position + 1, band, quality, counts.depth, counts.depth, one, both};
    };
    for (int64_t position = begin; position < end;) {
        const auto page = pages_.lower_bound(position >> kPageBits);
        if (page == pages_.end() || page->first > position >> kPageBits) {
            const int64_t next = page == pages_.end() ? end : std::min(end, page->first << kPageBits);
            add({position, next, kNoReads, 0, 0, 0, 0, 0});
            position = next;
            continue;
        }
        const int64_t stop = std::min(end, (page->first + 1) << kPageBits);
        for (; position < stop; ++position) add(block_at(position, page->second[position & (kPage - 1)]));
    }
    pages_.erase(pages_.begin(), pages_.lower_bound(end >> kPageBits));
    recent_number_ = -1;
    return blocks;
}

}  // namespace pairhmm
