#include "calling/candidates.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "calling/cigar.hpp"
#include "calling/mixture_counts.hpp"
#include "calling/repeat_changes.hpp"
#include "simd/failures.hpp"

namespace pairhmm {

namespace {

// Positions are settled in steps of this size: memory depends on the reach of the reads, not on that of a block. A page
// of a thousand samples has 20 MB, so that only those are held that reads reach.
constexpr int64_t kWindow = 1 << 9;
// Positions of a page: the most that a read takes at either end of a long gap.
constexpr int64_t kPageBits = 10, kPage = 1 << kPageBits;
constexpr int64_t kLongGap = 100'000, kGapContext = 1'000;
// Bases that a read gains or loses by an error, at most.
constexpr int64_t kLongestSlip = 8;

}  // namespace

int64_t read_end(const Reads& reads, int64_t read) {
    int64_t position = reads.start[read];
    for (int64_t c = reads.cigar_offset[read]; c < reads.cigar_offset[read + 1]; ++c)
        if (aligned(reads.cigar[c] & 15) || skips(reads.cigar[c] & 15)) position += reads.cigar[c] >> 4;
    return position;
}

const ReferenceWindow& ReferenceWindows::of(int64_t position) const {
    const auto behind = std::upper_bound(windows.begin(), windows.end(), position,
                                         [](int64_t at, const ReferenceWindow& window) { return at < window.start; });
    return behind == windows.begin() ? *behind : *(behind - 1);
}

std::vector<std::pair<int64_t, int64_t>> covered(const Reads& reads) {
    std::vector<std::pair<int64_t, int64_t>> pieces;
    for (int64_t read = 0; read < reads.count; ++read) {
        int64_t start = reads.start[read];
        each_operation(reads, read, [&](uint32_t operation, int64_t, int64_t position, int64_t length) {
            if (!skips(operation) || length <= kLongGap) return;
            pieces.emplace_back(start, position);
            start = position + length - kGapContext;
        });
        pieces.emplace_back(start, read_end(reads, read));
    }
    // Only what is behind a long gap is out of order.
    const auto is_before = [](const auto& one, const auto& other) { return one.first < other.first; };
    if (!std::is_sorted(pieces.begin(), pieces.end(), is_before)) std::sort(pieces.begin(), pieces.end());
    std::vector<std::pair<int64_t, int64_t>> joined;
    for (const auto& [start, end] : pieces) {
        if (!joined.empty() && start <= joined.back().second + kLongGap)
            joined.back().second = std::max(joined.back().second, end);
        else joined.emplace_back(start, end);
    }
    return joined;
}

void read_indels(const Reads& reads, int64_t read, const ReferenceWindows& reference, std::vector<Indel>& indels) {
    indels.clear();
    const uint32_t* cigar = reads.cigar + reads.cigar_offset[read];
    const int64_t operations = reads.cigar_offset[read + 1] - reads.cigar_offset[read];
    int64_t last_aligned = -1;
    for (int64_t i = 0; i < operations; ++i)
        if (aligned(cigar[i] & 15)) last_aligned = i;
    int64_t start = reads.start[read];  // no indel is shifted to before it
    int64_t position = start;
    const uint8_t* query = reads.base + reads.base_offset[read];
    for (int64_t i = 0; i < last_aligned; ++i) {
        const uint32_t operation = cigar[i] & 15;
        const int64_t length = cigar[i] >> 4;
        // An insertion or deletion of no bases (10M0I10M) is none.
        if (length == 0) continue;
        if (aligned(operation)) {
            position += length;
            query += length;
        } else if (operation == kInsert) {
            if (position > start && std::all_of(query, query + length, [](uint8_t b) { return b < 4; })) {
                std::string bases(reinterpret_cast<const char*>(query), length);
                indels.push_back(leftmost({position - 1, 0, std::move(bases)}, start, reference));
            }
            query += length;
        } else if (operation == kDelete) {
            if (position > start) {
                indels.push_back(leftmost({position - 1, int32_t(length), {}}, start, reference));
            }
            position += length;
        } else if (operation == kSkip) {
            position += length;
        } else if (operation == kSoftClip) {
            query += length;
        }
        if (skips(operation) && length > kLongGap) start = position - kGapContext;
    }
}

CandidateScanner::CandidateScanner(int samples, CandidateThresholds thresholds)
    : samples_(samples), thresholds_(std::move(thresholds)) {
    if (thresholds_.errors) mixture_.emplace_back(samples, thresholds_);
}

CandidateScanner::CandidateScanner(const CandidateScanner&) = default;

CandidateScanner::CandidateScanner(CandidateScanner&&) noexcept = default;

CandidateScanner::~CandidateScanner() = default;

CandidateScanner::Page& CandidateScanner::page_of(int64_t position) {
    Page& page = pages_[position >> kPageBits];
    if (page.depth.empty()) {
        page.depth.resize(kPage * samples_);
        page.alternatives.resize(kPage * samples_);
        page.is_worth_judging.resize(kPage);
    }
    return page;
}

uint32_t CandidateScanner::depth(int64_t position, int sample) const {
    const auto page = pages_.find(position >> kPageBits);
    const uint32_t near = page == pages_.end() ? 0 : page->second.depth[sample * kPage + (position & (kPage - 1))];
    return near + long_deletions(position, sample);
}

uint32_t CandidateScanner::long_deletions(int64_t position, int sample) const {
    uint32_t count = 0;
    for (const auto& deletion : long_deletions_)
        count += deletion.sample == sample && deletion.start <= position && position < deletion.end;
    return count;
}

void CandidateScanner::add(const Reads& reads, const ReferenceWindows& reference, const Intervals& intervals) {
    size_t near = 0;
    for (int64_t read = 0; read < reads.count; ++read) {
        const int64_t start = reads.start[read];
        if (start < origin_) invalid_argument("a read starts before the contig or what was settled");
        if (start - origin_ > kWindow) settle(start - kReachBefore);
        if (intervals.touch(start, read_end(reads, read), near)) add_read(reads, read, reference);
    }
}

void CandidateScanner::count_aligned(int64_t position, int64_t length, const uint8_t* base, const uint8_t* quality,
                                     int sample, const ReferenceWindow& reference) {
    const int threshold = thresholds_.min_base_quality;
    for (int64_t i = 0; i < length;) {
        Page& page = page_of(position + i);
        const int64_t within = (position + i) & (kPage - 1), count = std::min(length - i, kPage - within);
        uint32_t* depth = page.depth.data() + sample * kPage + within;
        for (int64_t j = 0; j < count; ++j) depth[j] += (quality[i + j] >= threshold) & (base[i + j] < kCodeOfN);
        count_alternatives(position + i, count, base + i, quality + i, sample, reference, page);
        i += count;
    }
}

void CandidateScanner::count_alternatives(int64_t position, int64_t length, const uint8_t* base, const uint8_t* quality,
                                          int sample, const ReferenceWindow& reference, Page& page) const {
    const int threshold = thresholds_.min_base_quality;
    const auto enough = static_cast<uint32_t>(thresholds_.min_snv_count);
    const int64_t within = position & (kPage - 1);
    Letters* sites = page.alternatives.data() + sample * kPage + within;
    const int64_t begin = std::max<int64_t>(0, reference.start - position);
    const int64_t end = std::min(length, reference.start + reference.length - position);
    const int64_t shift = position - reference.start;
    const auto count = [&](int64_t i) {
        const uint8_t letter = reference.letter[i + shift];
        if (base[i] != letter && base[i] < kCodeOfN && letter < kCodeOfN && quality[i] >= threshold)
            if (++sites[i][base[i]] >= enough) page.is_worth_judging[within + i] = true;
    };
    int64_t i = begin;
    // Most reads are like the reference: eight letters are compared at once.
    for (; i + 8 <= end; i += 8) {
        uint64_t ours, theirs;
        std::memcpy(&ours, base + i, 8);
        std::memcpy(&theirs, reference.letter + i + shift, 8);
        if (ours != theirs)
            for (int64_t j = i; j < i + 8; ++j) count(j);
    }
    for (; i < end; ++i) count(i);
}

void CandidateScanner::count_deleted(int64_t position, int64_t length, int sample) {
    if (length > kPage) {
        long_deletions_.push_back({position, position + length, sample});
        return;
    }
    for (int64_t i = position; i < position + length; ++i) ++page_of(i).depth[sample * kPage + (i & (kPage - 1))];
}

void CandidateScanner::add_read(const Reads& reads, int64_t read, const ReferenceWindows& reference) {
    const int sample = reads.sample[read];
    const uint8_t* base = reads.base + reads.base_offset[read];
    const uint8_t* quality = reads.quality + reads.base_offset[read];
    each_operation(reads, read, [&](uint32_t operation, int64_t query, int64_t position, int64_t length) {
        if (aligned(operation))
            count_aligned(position, length, base + query, quality + query, sample, reference.of(position));
        if (operation == kDelete) count_deleted(position, length, sample);
    });
    read_indels(reads, read, reference, scratch_);
    const int64_t end = read_end(reads, read);
    if (!scratch_.empty()) add_repeat_changes(reference, reads.start[read], end, scratch_);
    for (MixtureCounts& counts : mixture_) counts.add(reads, read, end, reference, scratch_);
    // Behind a letter that is not known, nothing tells what is inserted or deleted.
    for (const Indel& indel : scratch_)
        if (reference.of(indel.anchor).at(indel.anchor) < kCodeOfN) count(indel, sample);
}

void CandidateScanner::count(const Indel& indel, int sample) {
    auto& counts = indels_[IndelKey(indel.anchor, indel.deleted, indel.inserted)];
    counts.resize(samples_);
    ++counts[sample];
}

// The artefact that an indel is, or none; nothing where too few reads show it.
std::optional<Artefact> CandidateScanner::shown_indel(const IndelKey& indel, uint32_t count, int sample) const {
    if (int(count) < thresholds_.min_indel_count) return {};
    if (!mixture_.empty()) return mixture_[0].indel(indel, sample);
    if (count < thresholds_.min_indel_fraction * depth(std::get<0>(indel), sample)) return {};
    return Artefact::kNone;
}

void CandidateScanner::settle_indels(int64_t before, Indels::iterator& next) {
    for (; next != indels_.end() && std::get<0>(next->first) < before; ++next) {
        const auto& [anchor, deleted, inserted] = next->first;
        std::optional<Artefact> found;
        for (int sample = 0; sample < samples_ && found != Artefact::kNone; ++sample) {
            const std::optional<Artefact> shown = shown_indel(next->first, next->second[sample], sample);
            if (shown) found = shown;
        }
        if (found) ready_.push_back({anchor, deleted, true, inserted, 0, *found});
        else if (!mixture_.empty() && deleted + int64_t(inserted.size()) <= kLongestSlip)
            errors_.push_back({anchor, deleted, true, inserted});
    }
}

void CandidateScanner::settle_site(int64_t position, const Page& page) {
    std::array<std::optional<Artefact>, 4> kept;
    for (int sample = 0; sample < samples_; ++sample) {
        const int64_t at = sample * kPage + (position & (kPage - 1));
        for (int letter = 0; letter < 4; ++letter) {
            const uint32_t count = page.alternatives[at][letter];
            if (int(count) < thresholds_.min_snv_count || kept[letter] == Artefact::kNone) continue;
            if (!mixture_.empty()) {
                const std::optional<Artefact> shown = mixture_[0].snv(position, letter, sample);
                if (shown) kept[letter] = shown;
            } else if (count >= thresholds_.min_snv_fraction * (page.depth[at] + long_deletions(position, sample))) {
                kept[letter] = Artefact::kNone;
            }
        }
    }
    for (int letter = 0; letter < 4; ++letter)
        if (kept[letter]) ready_.push_back({position, 1, false, std::string(1, char(letter)), 0, *kept[letter]});
}

void CandidateScanner::settle(int64_t frontier) {
    for (MixtureCounts& counts : mixture_) counts.take_molecules(frontier);
    auto next = indels_.begin();
    for (auto page = pages_.begin(); page != pages_.end() && page->first << kPageBits < frontier;) {
        const int64_t first = page->first << kPageBits, end = std::min(first + kPage, frontier);
        for (int64_t position = std::max(first, origin_); position < end; ++position) {
            if (!page->second.is_worth_judging[position - first]) continue;
            // SNVs of a position come before its indels.
            settle_indels(position, next);
            settle_site(position, page->second);
        }
        settle_indels(end, next);
        page = end == first + kPage ? pages_.erase(page) : std::next(page);
    }
    settle_indels(frontier, next);
    indels_.erase(indels_.begin(), next);
    for (MixtureCounts& counts : mixture_) counts.forget(frontier);
    long_deletions_.erase(std::remove_if(long_deletions_.begin(), long_deletions_.end(),
                                         [&](const LongDeletion& one) { return one.end <= frontier; }),
                          long_deletions_.end());
    origin_ = std::max(origin_, frontier);
}

std::vector<Candidate> CandidateScanner::take(int64_t frontier) {
    settle(frontier);
    std::vector<Candidate> taken;
    taken.swap(ready_);
    return taken;
}

void CandidateScanner::reset() {
    pages_.clear();
    long_deletions_.clear();
    indels_.clear();
    ready_.clear();
    errors_.clear();
    for (MixtureCounts& counts : mixture_) counts.reset();
    origin_ = 0;
}

void cut_read(const Reads& reads, int64_t read, int64_t start, int64_t end, int64_t slack, int64_t& first,
              int64_t& last) {
    const uint32_t* cigar = reads.cigar + reads.cigar_offset[read];
    const int64_t operations = reads.cigar_offset[read + 1] - reads.cigar_offset[read];
    int64_t position = reads.start[read];
    int64_t query = 0;
    bool found = false;
    first = last = 0;
    int64_t leading_clip = 0;
    for (int64_t i = 0; i < operations; ++i) {
        const uint32_t operation = cigar[i] & 15;
        const int64_t length = cigar[i] >> 4;
        if (aligned(operation)) {
            const int64_t from = std::max(position, start), to = std::min(position + length, end);
            if (from < to) {
                if (!found) {
                    first = query + (from - position);
                    // What precedes the first aligned base is a soft clip, or an insertion at the alignment's start.
                    if (from == position && position == reads.start[read])
                        first -=
                            std::min(first, std::min(leading_clip, std::max<int64_t>(0, position - start - slack)) +
                                                (query - leading_clip));
                    found = true;
                }
                last = query + (to - position);
            }
            position += length;
            query += length;
        } else if (operation == kInsert) {
            if (found && position < end) last = query + length;
            query += length;
        } else if (operation == kDelete || operation == kSkip) {
            position += length;
        } else if (operation == kSoftClip) {
            if (query == 0 && !found && position == reads.start[read] && i + 1 < operations) leading_clip = length;
            else if (found && last == query)
                last = query + std::min(length, std::max<int64_t>(0, end - position - slack));
            query += length;
        }
    }
    const int64_t base = reads.base_offset[read];
    while (first < last && reads.is_cut_off(base + first)) ++first;
    while (first < last && reads.is_cut_off(base + last - 1)) --last;
}

std::pair<int64_t, int64_t> unclipped_bases(const Reads& reads, int64_t read) {
    const uint32_t* cigar = reads.cigar + reads.cigar_offset[read];
    const int64_t operations = reads.cigar_offset[read + 1] - reads.cigar_offset[read];
    int64_t first = 0, last = 0, query = 0;
    for (int64_t i = 0; i < operations; ++i) {
        if (!reads_bases(cigar[i] & 15)) continue;
        const int64_t length = cigar[i] >> 4;
        const bool is_clip = (cigar[i] & 15) == kSoftClip;
        if (is_clip && last == 0) first = length;
        query += length;
        if (!is_clip) last = query;
    }
    return {first, last};
}

std::pair<int64_t, int64_t> kept_clips(const Reads& reads, int64_t read) {
    const int64_t base = reads.base_offset[read], length = reads.base_offset[read + 1] - base;
    const auto [begin, end] = unclipped_bases(reads, read);
    int64_t first = 0, last = length;
    while (first < begin && reads.is_cut_off(base + first)) ++first;
    while (last > end && reads.is_cut_off(base + last - 1)) --last;
    return {begin - first, last - end};
}

std::pair<int64_t, int64_t> kept_extent(const Reads& reads, int64_t read) {
    const int64_t offset = reads.base_offset[read];
    int64_t start = -1, end = reads.start[read];
    each_aligned(reads, read, [&](int64_t query, int64_t position, int64_t length) {
        int64_t first = query, last = query + length;
        while (first < last && reads.is_cut_off(offset + first)) ++first;
        while (first < last && reads.is_cut_off(offset + last - 1)) --last;
        if (first < last && start < 0) start = position + first - query;
        if (first < last) end = position + last - query;
    });
    return {start < 0 ? end : start, end};
}

int64_t query_at(const Reads& reads, int64_t read, int64_t position) {
    int64_t at = reads.start[read], query = 0;
    for (int64_t c = reads.cigar_offset[read]; c < reads.cigar_offset[read + 1]; ++c) {
        const uint32_t operation = reads.cigar[c] & 15;
        const int64_t length = reads.cigar[c] >> 4;
        if (aligned(operation) && position >= at && position < at + length) return query + position - at;
        if (aligned(operation) || skips(operation)) at += length;
        if (reads_bases(operation)) query += length;
    }
    return -1;
}

int letter_at(const Reads& reads, int64_t read, int64_t position) {
    const int64_t query = query_at(reads, read, position);
    return query < 0 ? -1 : std::min(reads.base[reads.base_offset[read] + query], kCodeOfN);
}

int64_t bases_from_end(const Reads& reads, int64_t read, int64_t position) {
    int64_t at = reads.start[read], query = 0;
    if (position < at) return -1;
    const int64_t length = reads.base_offset[read + 1] - reads.base_offset[read];
    const auto from_end = [&](int64_t base) { return std::min(base, length - 1 - base); };
    for (int64_t c = reads.cigar_offset[read]; c < reads.cigar_offset[read + 1]; ++c) {
        const uint32_t operation = reads.cigar[c] & 15;
        const int64_t count = reads.cigar[c] >> 4;
        if (aligned(operation)) {
            if (position < at + count) return from_end(query + position - at);
            at += count;
            query += count;
        } else if (operation == kDelete || operation == kSkip) {
            if (position < at + count) return from_end(std::max<int64_t>(0, query - 1));
            at += count;
        } else if (operation == kInsert || operation == kSoftClip) {
            query += count;
        }
    }
    return -1;
}

}  // namespace pairhmm
