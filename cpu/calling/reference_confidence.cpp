#include "calling/reference_confidence.hpp"

#include <algorithm>
#include <cmath>

#include "calling/cigar.hpp"

namespace pairhmm {

namespace {

constexpr int kQualities = 256;
// GATK's: the quality of a deleted base, the longest indel that a read has to show, its quality, and the most reads
// that count (ReferenceConfidenceModel).
constexpr int kDeletedQuality = 30;
constexpr int kLongestIndel = 10;
constexpr double kIndelQuality = 45;
constexpr int64_t kMostShowingIndels = 40;
constexpr int kMaxQuality = 99;
constexpr double kThousandths = 1000;
// Ends of first mates are forgotten when so many bases have passed.
constexpr int64_t kPruneEvery = 1 << 16;

int64_t thousandths(double log10) { return std::llround(-10 * kThousandths * log10); }

int64_t phred(int64_t thousandths) {
    return std::max<int64_t>(0, (thousandths + 500) / static_cast<int64_t>(kThousandths));
}

// Bases behind each position that a read has to have so that shifting it by an indel of 1 to kLongestIndel bases makes
// a mismatch, as it does where the reference has no repeat.
std::vector<int32_t> bases_needed(const ReferenceWindow& window) {
    std::vector<int32_t> needed(static_cast<size_t>(window.length), 0);
    for (int64_t period = 1; period <= kLongestIndel; ++period) {
        int32_t run = 0;
        for (int64_t i = window.length - 1; i >= 0; --i) {
            const bool is_open = i + period >= window.length;
            run =
                is_open || (window.letter[i] == window.letter[i + period] && window.letter[i] < kCodeOfN) ? run + 1 : 0;
            needed[i] = std::max(needed[i], run + static_cast<int32_t>(period));
        }
    }
    return needed;
}

}  // namespace

ReferenceConfidence::ReferenceConfidence(int min_base_quality) : min_base_quality_(min_base_quality) {
    for (int quality = 0; quality < kQualities; ++quality) {
        // A base of quality 0 is a guess among four.
        const double error = std::min(0.75, std::pow(10.0, -quality / 10.0));
        const double right = std::log10(1 - error), wrong = std::log10(error / 3);
        const double mixed = std::log10((1 - error + error / 3) / 2);
        one_.push_back(thousandths(mixed) - thousandths(right));
        both_.push_back(thousandths(wrong) - thousandths(right));
        other_one_.push_back(thousandths(mixed) - thousandths(wrong));
        other_both_.push_back(thousandths(right) - thousandths(wrong));
    }
}

std::vector<ReferenceConfidence::Counts>& ReferenceConfidence::page_of(int64_t position) {
    std::vector<Counts>& page = pages_[position >> kPageBits];
    if (page.empty()) page.resize(kPage);
    return page;
}

void ReferenceConfidence::count(Counts& counts, int quality, bool is_reference) const {
    ++counts.depth;
    counts.one += (is_reference ? one_ : other_one_)[quality];
    counts.both += (is_reference ? both_ : other_both_)[quality];
}

void ReferenceConfidence::add(const Reads& reads, const int64_t* read_end, const uint32_t* fragment,
                              const ReferenceWindows& reference) {
    std::vector<std::vector<int32_t>> needed;
    for (const ReferenceWindow& window : reference.windows) needed.push_back(bases_needed(window));
    for (int64_t read = 0; read < reads.count; ++read) {
        const int64_t start = reads.start[read];
        if (start > pruned_ + kPruneEvery) {
            for (auto entry = end_of_.begin(); entry != end_of_.end();)
                entry = entry->second <= start ? end_of_.erase(entry) : std::next(entry);
            pruned_ = start;
        }
        const auto [mate, is_first] = end_of_.try_emplace(fragment[read], read_end[read]);
        add_read(reads, read, read_end[read], is_first ? start : std::max(start, mate->second), reference, needed);
    }
}

void ReferenceConfidence::add_read(const Reads& reads, int64_t read, int64_t read_end, int64_t first,
                                   const ReferenceWindows& reference, const std::vector<std::vector<int32_t>>& needed) {
    const uint8_t* base = reads.base + reads.base_offset[read];
    const uint8_t* quality = reads.quality + reads.base_offset[read];
    // Records have their indels on the left. Reads show them there, too, wherever an aligner put them.
    leftmost_alignment(reads, read, reference, alignment_);
    int64_t position = alignment_.start;
    const std::vector<AlignedPiece>& pieces = alignment_.pieces;
    for (size_t piece = 0; piece < pieces.size(); ++piece) {
        const auto [operation, length] = pieces[piece];
        if (aligned(operation)) {
            const uint32_t next = piece + 1 < pieces.size() ? pieces[piece + 1].operation : kMatch;
            const int64_t anchor = next == kInsert || next == kDelete ? position + length - 1 : -1;
            const ReferenceWindow& window = reference.of(position);
            const int32_t* need = needed[&window - reference.windows.data()].data();
            on_pages(std::max(first, position), position + length, [&](int64_t at, Counts& counts) {
                const uint8_t own = base[at - position], letter = window.at(at);
                const int own_quality = quality[at - position];
                if (own_quality < min_base_quality_ || own >= kCodeOfN || letter >= kCodeOfN) return;
                // An indel behind a base is a difference, too.
                count(counts, own_quality, own == letter && at != anchor);
                counts.showing_indels += at != anchor && read_end - at > need[at - window.start];
            });
            position += length;
            base += length;
            quality += length;
        } else if (operation == kDelete) {
            // Longer ones are passed over like introns: memory must not grow with what a CIGAR says.
            if (length <= kPage)
                on_pages(std::max(first, position), position + length,
                         [&](int64_t, Counts& counts) { count(counts, kDeletedQuality, false); });
            position += length;
        } else if (operation == kSkip) {
            position += length;
        } else if (operation == kInsert || operation == kSoftClip) {
            base += length;
            quality += length;
        }
    }
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
    const auto block_at = [&](int64_t position, const Counts& counts) {
        if (counts.depth == 0) return ReferenceBlock{position, position + 1, kNoReads, 0, 0, 0, 0, 0};
        // An indel that no read shows: half of the reads, or all, would be wrong.
        const int64_t showing = std::min<int64_t>(counts.showing_indels, kMostShowingIndels);
        const double error = std::pow(10.0, -kIndelQuality / 10);
        const int64_t indel_one = showing * (thousandths(std::log10(0.5)) - thousandths(std::log10(1 - error)));
        const int64_t indel_both = showing * static_cast<int64_t>(kIndelQuality * kThousandths);
        int64_t one = phred(counts.one), both = phred(counts.both);
        const int64_t other_one = phred(indel_one), other_both = phred(indel_both);
        const auto quality_of = [&](int64_t single, int64_t twofold) {
            return std::min<int64_t>(kMaxQuality, haploid ? twofold : std::min(single, twofold));
        };
        // The less sure of the two counts.
        if (quality_of(other_one, other_both) < quality_of(one, both)) one = other_one, both = other_both;
        const int64_t quality = quality_of(one, both);
        const auto above = std::upper_bound(limits.begin(), limits.end(), quality);
        const bool is_known = both > 0 || (one > 0 && !haploid);
        const int band = is_known ? static_cast<int>(above - limits.begin()) : kNothingKnown;
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
    return blocks;
}

}  // namespace pairhmm
