#include "calling/discovery.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "calling/assembly.hpp"
#include "calling/cigar.hpp"
#include "calling/error_rates.hpp"
#include "calling/repeat_changes.hpp"

namespace pairhmm {

namespace {

// Bases of a tile, and those on either side of its events in which reads are assembled.
constexpr int64_t kTile = 200, kReach = 150;
// The tiles that clips on both sides of a deletion may be apart.
constexpr int64_t kTilesOfJump = (kMostDeleted + kTile - 1) / kTile;
// Behind a deletion of as many bases, the reach has too few letters for a way to come back to the reference.
constexpr int64_t kLeastDeleted = 100;
static_assert(std::max(kTile, kMostDeleted) + 2 * kReach == kLongestWindow, "a window is its clips and what is around");
// A clip of fewer good bases is none.
constexpr int64_t kLeastClip = 8;
// Letters of a clip, next to its alignment, that are sought on the other side of a deletion.
constexpr int64_t kSought = 12;
// The good letters that tell a shorter change, and one of whole copies of a repeat. Alignments show a change of one
// base.
constexpr int64_t kSoughtNear = 8, kSoughtOfCopies = 4, kLeastTold = 2;
// How far from an alignment they are sought, and the most by which what they tell is shifted.
constexpr int64_t kMostShifted = 100, kReachOfClips = kMostDeleted + std::max(kSought, kMostShifted);
// A tile of fewer clips and gaps is not active, nor one of a smaller share of the reads over them.
constexpr uint32_t kLeastEvents = 2;
constexpr double kLeastShare = 0.08;
// In mixtures, a smaller share is active, and chains of it are kept, of so many reads or more.
constexpr double kLeastShareOfMixture = 0.004;
constexpr double kLeastReadsOfMixture = 5;
// Letters of a sample's reads that a window takes. Of more, those of the stretches with the least hashes are taken.
constexpr int64_t kMostLetters = 400'000, kMostLettersOfMixture = 1'200'000;
// By as much, two SNVs show that a repeat has become longer or shorter. Alignments show a change of one base.
constexpr int64_t kLeastChange = 2, kMostChange = 60;
// A stretch of a read has no more letters in a row that are poor.
constexpr int64_t kMostPoor = 1;
constexpr uint64_t kHashStep = 0x9E3779B97F4A7C15;

// The last steps of MurmurHash3: every bit has an effect on every other one.
uint64_t mixed(uint64_t hash) {
    hash = (hash ^ hash >> 33) * 0xFF51AFD7ED558CCD;
    hash = (hash ^ hash >> 33) * 0xC4CEB9FE1A85EC53;
    return hash ^ hash >> 33;
}

// FNV-1a.
uint64_t hash_of(Stretch stretch) {
    uint64_t hash = 14695981039346656037u;
    for (int64_t i = 0; i < stretch.length; ++i) hash = (hash ^ stretch.letter[i]) * 1099511628211u;
    return hash;
}

// The stretches of query [first, last) of a read from one good letter to another, without N or many poor letters in a
// row.
void add_stretches(const Reads& reads, int64_t read, int64_t first, int64_t last, int least_quality, int64_t most_poor,
                   std::vector<Stretch>& stretches) {
    const uint8_t* base = reads.base + reads.base_offset[read];
    const uint8_t* quality = reads.quality + reads.base_offset[read];
    int64_t begin = -1, end = 0;  // of the open stretch: up to its last good letter
    bool has_poor = false;
    const auto close = [&] {
        if (begin >= 0) stretches.push_back({base + begin, end - begin, has_poor ? quality + begin : nullptr});
        begin = -1;
        has_poor = false;
    };
    for (int64_t i = first; i < last; ++i) {
        if (base[i] >= kCodeOfN || (begin >= 0 && i - end > most_poor)) close();
        if (base[i] >= kCodeOfN || quality[i] < least_quality) continue;
        has_poor |= begin >= 0 && i > end;
        if (begin < 0) begin = i;
        end = i + 1;
    }
    close();
}

// One behind the last reference base to which an indel can be shifted: where it shows.
int64_t last_place(const Candidate& indel, const ReferenceWindow& reference) {
    const auto inserted = static_cast<int64_t>(indel.alt.size());
    int64_t position = indel.position + 1 + indel.ref_length;
    for (int64_t i = 0;; ++i, ++position) {
        const uint8_t letter = reference.at(position);
        const uint8_t other = inserted ? uint8_t(indel.alt[i % inserted]) : reference.at(position - indel.ref_length);
        if (letter >= kCodeOfN || letter != other) return position;
    }
}

// Whether letters of a read show an allele: of an indel, those that reach beyond all places of it.
bool spans(const Reads& reads, int64_t read, Stretch letters, const Candidate& shown,
           const ReferenceWindow& reference) {
    const int64_t first = letters.letter - reads.base - reads.base_offset[read];
    const auto is_inside = [&](int64_t query) { return first <= query && query < first + letters.length; };
    return is_inside(query_at(reads, read, shown.position)) &&
           (!shown.indel || is_inside(query_at(reads, read, last_place(shown, reference))));
}

// The longest run of unambiguous letters.
ReferenceWindow without_n(const ReferenceWindow& window) {
    int64_t best = 0, best_length = 0;
    for (int64_t i = 0; i < window.length; ++i) {
        const int64_t begin = i;
        while (i < window.length && window.letter[i] < kCodeOfN) ++i;
        if (i - begin > best_length) best = begin, best_length = i - begin;
    }
    return {window.start + best, best_length, window.letter + best};
}

// The alleles that a read's alignment shows in a window.
std::vector<Candidate> shown_by(const Reads& reads, int64_t read, const ReferenceWindow& reference, int least_quality,
                                std::vector<Indel>& indels) {
    std::vector<Candidate> shown;
    const uint8_t* base = reads.base + reads.base_offset[read];
    const uint8_t* quality = reads.quality + reads.base_offset[read];
    each_aligned(reads, read, [&](int64_t query, int64_t position, int64_t length) {
        const int64_t shift = position - reference.start;
        const int64_t end = std::min(length, reference.length - shift);
        for (int64_t i = std::max<int64_t>(0, -shift); i < end; ++i) {
            // Most letters are like the reference: eight of them are compared at once.
            while (i + 8 <= end && std::memcmp(base + query + i, reference.letter + i + shift, 8) == 0) i += 8;
            if (i == end) break;
            const uint8_t letter = reference.letter[i + shift];
            if (letter < kCodeOfN && base[query + i] < kCodeOfN && base[query + i] != letter &&
                quality[query + i] >= least_quality)
                shown.push_back({position + i, 1, false, std::string(1, char(base[query + i]))});
        }
    });
    read_indels(reads, read, {{reference}}, indels);
    for (Indel& indel : indels) shown.push_back({indel.anchor, indel.deleted, true, std::move(indel.inserted)});
    return shown;
}

int64_t letters_of(const std::vector<Stretch>& stretches) {
    int64_t letters = 0;
    for (const Stretch& stretch : stretches) letters += stretch.length;
    return letters;
}

// Drops stretches where there are too many letters. Which ones does not depend on their order.
void limit(int64_t most_letters, std::vector<Stretch>& stretches) {
    const int64_t letters = letters_of(stretches);
    if (letters <= most_letters) return;
    const double share = static_cast<double>(most_letters) / static_cast<double>(letters);
    const auto most = static_cast<uint64_t>(share * 18446744073709551615.0);
    std::unordered_map<uint64_t, uint64_t> copies;  // of each hash so far: equal stretches share no fate
    const auto is_dropped = [&](Stretch stretch) {
        const uint64_t hash = hash_of(stretch);
        return mixed(hash + copies[hash]++ * kHashStep) > most;
    };
    stretches.erase(std::remove_if(stretches.begin(), stretches.end(), is_dropped), stretches.end());
}

// Whether a read has a clip that is sought beside it.
bool have_clips(const Reads& reads) {
    const auto is_clip = [](uint32_t packed) { return (packed & 15) == kSoftClip && packed >> 4 >= kSoughtOfCopies; };
    return std::any_of(reads.cigar, reads.cigar + reads.cigar_offset[reads.count], is_clip);
}

// Those that occur twice or more, each once, in order.
template <typename Place>
std::vector<Place> shared(std::vector<Place> places) {
    std::sort(places.begin(), places.end());
    std::vector<Place> twice;
    for (size_t i = 1; i < places.size(); ++i)
        if (places[i] == places[i - 1] && (twice.empty() || twice.back() != places[i])) twice.push_back(places[i]);
    return twice;
}

// What is deleted between an alignment that stops (or starts) at a position and the reference letters that its clip
// has there, shifted left. None where these letters are nowhere, or at several places.
std::optional<std::pair<int64_t, int64_t>> deleted_beside(const uint8_t* letters, int64_t position, bool stops,
                                                          const ReferenceWindow& reference) {
    int64_t found = 0;
    for (int64_t deleted = kLeastDeleted; deleted <= kMostDeleted; ++deleted) {
        const int64_t begin = (stops ? position + deleted : position - deleted - kSought) - reference.start;
        if (begin < 0 || begin + kSought > reference.length) continue;
        if (std::memcmp(letters, reference.letter + begin, kSought) != 0) continue;
        if (found > 0) return {};
        found = deleted;
    }
    if (found == 0) return {};
    const int64_t first = stops ? position : position - found;
    const int64_t shift = gap_shift(reference, first, std::min(kMostShifted, first - reference.start),
                                    [&](int64_t shifted) { return reference.at(first + found - 1 - shifted); });
    return {{first - shift, first - shift + found}};
}

// The insertion or deletion of fewer than kLeastDeleted bases that lies between a read's alignment [start, end) and its
// clip behind it (or before it), if good letters of the clip show where the reference goes on. None where they do so at
// several places.
std::optional<Indel> change_beside(Stretch clip, int least_quality, int64_t start, int64_t end, bool stops,
                                   const ReferenceWindow& reference) {
    const int64_t position = stops ? end : start;
    // The clip shows what is beyond a repeat that the alignment ends in.
    const int64_t first_shown = stops ? start : start - kReachBefore, last_shown = stops ? end + kReachBefore : end;
    const auto is_good = [&](int64_t i) { return clip.quality[i] >= least_quality; };
    // How many good letters of the clip, behind those that are inserted, the reference goes on with; 0 where it
    // differs.
    const auto shared = [&](int64_t inserted, int64_t deleted) {
        int64_t good = 0;
        for (int64_t i = 0; i < std::min(kSought, clip.length - inserted); ++i) {
            const int64_t at = stops ? inserted + i : clip.length - inserted - 1 - i;
            if (!is_good(at)) continue;
            if (clip.letter[at] != reference.at(stops ? position + deleted + i : position - deleted - 1 - i))
                return int64_t{0};
            ++good;
        }
        return good;
    };
    std::optional<Indel> change;
    int64_t found = 0;
    const auto try_change = [&](int64_t inserted, int64_t deleted) {
        const int64_t good = shared(inserted, deleted);
        if (good < kSoughtOfCopies) return;
        const uint8_t* const first = stops ? clip.letter : clip.letter + clip.length - inserted;
        const int64_t anchor = (stops ? position : position - deleted) - 1;
        Indel one = leftmost({anchor, static_cast<int32_t>(deleted), std::string(first, first + inserted)},
                             std::max(reference.start, anchor - kMostShifted), reference);
        const std::optional<Indel> copies = whole_copies(reference, first_shown, last_shown, one);
        bool is_read = good >= kSoughtNear;
        for (int64_t i = 0; i < inserted; ++i) is_read &= is_good(first - clip.letter + i);
        // A read that ends in what the indel repeats does not show its length.
        is_read &= one.anchor >= first_shown &&
                   last_place({one.anchor, one.deleted, true, one.inserted}, reference) < last_shown;
        if (!copies && !is_read) return;
        change = copies ? *copies : std::move(one);
        ++found;
    };
    for (int64_t deleted = kLeastTold; deleted < kLeastDeleted; ++deleted) try_change(0, deleted);
    for (int64_t inserted = kLeastTold; inserted < std::min(kLeastDeleted, clip.length); ++inserted)
        try_change(inserted, 0);
    return found == 1 ? change : std::nullopt;
}

}  // namespace

void Discovery::Events::add(int64_t begin, int64_t end) {
    first = count == 0 ? begin : std::min(first, begin);
    last = count == 0 ? end : std::max(last, end);
    ++count;
}

// Clips are sought beside their reads. Errors depend on what stands beside a base, which the reads of a mixture need
// not reach.
std::vector<std::pair<int64_t, int64_t>> Discovery::covered_by(const Reads& reads) const {
    std::vector<std::pair<int64_t, int64_t>> intervals = covered(reads);
    const int64_t reach =
        std::max<int64_t>(assembles_ && have_clips(reads) ? kReachOfClips : 0, thresholds_.errors ? kContextReach : 0);
    for (auto& [start, end] : intervals) start = std::max<int64_t>(0, start - reach), end += reach;
    return intervals;
}

void Discovery::add(const Reads& reads, const ReferenceWindows& reference) {
    // What clips tell may lie before the reads, and the scanner settles what it counts.
    for (int64_t read = 0; assembles_ && read < reads.count; ++read) count_events(reads, read, reference);
    scanner_.add(reads, reference, intervals_);
}

void Discovery::count_events(const Reads& reads, int64_t read, const ReferenceWindows& reference) {
    if (reads.cigar_offset[read + 1] - reads.cigar_offset[read] == 1) return;
    const uint8_t* base = reads.base + reads.base_offset[read];
    const uint8_t* quality = reads.quality + reads.base_offset[read];
    const int sample = reads.sample[read];
    const auto add = [&](int64_t begin, int64_t end) -> Events& {
        auto& events = events_[begin / kTile];
        events.resize(samples_);
        events[sample].add(begin, end);
        return events[sample];
    };
    const auto is_good = [&](uint8_t quality) { return quality >= thresholds_.min_base_quality; };
    bool has_gaps = false;
    each_operation(reads, read, [&](uint32_t operation, int64_t query, int64_t position, int64_t length) {
        has_gaps |= operation == kInsert || operation == kDelete;
        if (operation != kSoftClip) return;
        if (std::count_if(quality + query, quality + query + length, is_good) < kLeastClip) return;
        const bool stops = query > 0;
        Events& events = add(position, position);
        (stops ? events.stops : events.starts).push_back(position);
        if (thresholds_.errors == nullptr) {
            const Stretch clip{base + query, length, quality + query};
            if (const auto change = change_beside(clip, thresholds_.min_base_quality, reads.start[read],
                                                  read_end(reads, read), stops, reference.of(position))) {
                scanner_.count(*change, sample);
                if (decisions_) ++told_by_clips_[{change->anchor, change->deleted, true, change->inserted}];
            }
        }
        const int64_t near = stops ? query : length - kSought;
        if (length < kSought || !std::all_of(quality + near, quality + near + kSought, is_good)) return;
        if (const auto deleted = deleted_beside(base + near, position, stops, reference.of(position))) {
            const int64_t first = deleted->first;
            (first / kTile == position / kTile ? events : add(first, first)).deleted.push_back(*deleted);
        }
    });
    if (!has_gaps) return;
    read_indels(reads, read, reference, scratch_);
    for (const Indel& indel : scratch_) add(indel.anchor, indel.anchor + indel.deleted);
}

// Whether a candidate lies in the intervals, or deletes what does.
bool Discovery::is_sought(const Candidate& candidate) const {
    return intervals_.touch(candidate.position, candidate.position + 1 + (candidate.indel ? candidate.ref_length : 0));
}

// Adds a window from where a sample's alignments stop in a tile to where they start again in a later one.
void Discovery::add_jump(int64_t tile, const std::vector<Events>& events) {
    int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
    for (int sample = 0; sample < samples_; ++sample) {
        for (const auto& [begin, end] : shared(events[sample].deleted)) {
            first = std::min(first, begin);
            last = std::max(last, end);
        }
        const std::vector<int64_t> stops = shared(events[sample].stops);
        if (stops.empty()) continue;
        for (auto next = events_.upper_bound(tile); next != events_.end() && next->first <= tile + kTilesOfJump; ++next)
            for (const int64_t start : shared(next->second[sample].starts)) {
                const auto stop = std::lower_bound(stops.begin(), stops.end(), start - kMostDeleted);
                if (stop == stops.end() || *stop > start - kLeastDeleted) continue;
                first = std::min(first, *stop);
                last = std::max(last, start);
            }
    }
    if (first > last || last - first > kMostDeleted) return;
    const int64_t start = std::max<int64_t>(0, first - kReach), end = last + kReach;
    if (intervals_.touch(start, end)) windows_.push_back({start, end, events, true});
}

// Adds the windows of a new SNV and of those before it that have its letter. Candidates are settled kReach and
// more behind the newest ones, so that none comes too late.
void Discovery::add_twins(const Candidate& snv) {
    for (auto one = found_.rbegin(); one != found_.rend(); ++one) {
        const int64_t apart = snv.position - one->position;
        if (one->indel || one->alt != snv.alt || apart < kLeastChange || apart > kMostChange) continue;
        const int64_t start = std::max<int64_t>(0, one->position - kReach), end = snv.position + kReach;
        windows_.push_back({start, end, {}, false, {{one->position, snv.position}}});
    }
}

void Discovery::decide_told_by_clips(const Candidate& candidate) {
    const auto told = told_by_clips_.find(candidate);
    if (told == told_by_clips_.end()) return;
    const int64_t position = candidate.position;
    decisions_->push_back(
        {.start = std::max<int64_t>(0, position - kReach), .end = position + kReach, .told_by_clips = {*told}});
}

std::vector<std::pair<int64_t, int64_t>> Discovery::windows(int64_t frontier) {
    windows_.clear();
    for (Candidate& candidate : scanner_.take(assembles_ ? frontier - kReachBefore : frontier)) {
        if (!is_sought(candidate)) continue;
        if (assembles_ && !thresholds_.errors && !candidate.indel) add_twins(candidate);
        if (decisions_) decide_told_by_clips(candidate);
        found_.push_back(std::move(candidate));
    }
    errors_.erase(errors_.begin(), std::lower_bound(errors_.begin(), errors_.end(), Candidate{settled_, 0, false, {}}));
    for (Candidate& candidate : scanner_.take_errors()) errors_.push_back(std::move(candidate));
    if (!assembles_) {
        settled_ = std::max(settled_, frontier);
        return {};
    }
    // The first tile that reads to come may reach, or one of its jumps.
    const int64_t open = std::max<int64_t>(0, (frontier - kReach) / kTile - kTilesOfJump);
    settled_ = std::max(settled_, open * kTile - kReach);
    const auto end = events_.lower_bound(open);
    for (auto tile = events_.begin(); tile != end; ++tile) {
        int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
        for (Events& events : tile->second) {
            if (events.count < kLeastEvents) continue;
            events.last = std::min(events.last, (tile->first + 1) * kTile);
            first = std::min(first, events.first);
            last = std::max(last, events.last);
        }
        if (first > last) continue;
        const int64_t start = std::max<int64_t>(0, first - kReach), end = last + kReach;
        if (intervals_.touch(start, end)) windows_.push_back({start, end, tile->second});
        add_jump(tile->first, tile->second);
    }
    events_.erase(events_.begin(), end);
    std::vector<std::pair<int64_t, int64_t>> intervals;
    for (const Window& window : windows_) intervals.emplace_back(window.start, window.end);
    return intervals;
}

void Discovery::assemble(const Reads& reads, const std::vector<ReferenceWindow>& reference) {
    if (!assembles_) return;
    const Reads older = older_.reads();
    const ReadEnds older_ends(older), ends(reads);
    const std::vector<EndedReads> blocks{{&older, &older_ends}, {&reads, &ends}};
    for (size_t i = 0; i < windows_.size(); ++i) assemble_window(windows_[i], reference[i], blocks);
    windows_.clear();
    older_.forget(older_ends, settled_);
    older_.add({&reads, &ends}, settled_);
}

// The reads over the clips and gaps of a window: [samples]
std::vector<uint32_t> Discovery::reads_over_events(const Window& window, const std::vector<EndedReads>& blocks) const {
    std::vector<uint32_t> over(samples_);
    for (const auto [reads, ends] : blocks) {
        for (int64_t read = ends->first_behind(window.start); read < reads->count && reads->start[read] < window.end;
             ++read) {
            const Events& events = window.events[reads->sample[read]];
            over[reads->sample[read]] += reads->start[read] <= events.last && ends->of(read) >= events.first;
        }
    }
    return over;
}

// Whether enough of some sample's reads, of so many over its clips and gaps, have one.
bool Discovery::is_active(const Window& window, const std::vector<uint32_t>& over) const {
    const double least_share = thresholds_.errors ? kLeastShareOfMixture : kLeastShare;
    for (int sample = 0; sample < samples_; ++sample)
        if (window.events[sample].count >= std::max<double>(kLeastEvents, least_share * over[sample])) return true;
    return false;
}

std::vector<Stretch> Discovery::pile(int sample, const ReferenceWindow& reference,
                                     const std::vector<EndedReads>& blocks) const {
    const int64_t start = reference.start, end = start + reference.length;
    std::vector<Stretch> stretches;
    for (const auto [reads, ends] : blocks) {
        for (int64_t read = ends->first_behind(start); read < reads->count && reads->start[read] < end; ++read) {
            if (reads->sample[read] != sample || ends->of(read) <= start) continue;
            int64_t first, last;
            cut_read(*reads, read, start, end, 0, first, last);
            add_stretches(*reads, read, first, last, thresholds_.min_base_quality, kMostPoor, stretches);
        }
    }
    limit(thresholds_.errors ? kMostLettersOfMixture : kMostLetters, stretches);
    return stretches;
}

// In a mixture, alignments show SNVs, and what a window's errors spell is lighter than a share of its depth.
CandidateThresholds Discovery::assembly_thresholds(double depth) const {
    CandidateThresholds thresholds = thresholds_;
    if (thresholds.errors == nullptr) return thresholds;
    const auto least = static_cast<int>(std::ceil(std::max(kLeastReadsOfMixture, kLeastShareOfMixture * depth)));
    thresholds.min_snv_count = std::max(thresholds.min_snv_count, least);
    thresholds.min_indel_count = std::max(thresholds.min_indel_count, least);
    thresholds.min_snv_fraction = 2;
    thresholds.min_indel_fraction = kLeastShareOfMixture;
    return thresholds;
}

// Adds the changes of a repeat's length that make one SNV of two.
void Discovery::add_changes_between(const Window& window, const ReferenceWindow& reference) {
    const auto& [first, last] = *window.twins;
    std::vector<Candidate> changes;
    for (Indel& change : changes_between(reference, first, last))
        if (intervals_.have(change.anchor))
            changes.push_back({change.anchor, change.deleted, true, std::move(change.inserted), last + 1});
    found_.insert(found_.end(), changes.begin(), changes.end());
    if (decisions_ && !changes.empty())
        decisions_->push_back(
            {.start = window.start, .end = window.end, .twins = *window.twins, .changes = std::move(changes)});
}

void Discovery::assemble_window(const Window& window, const ReferenceWindow& given,
                                const std::vector<EndedReads>& blocks) {
    // A window may lie beyond the contig.
    if (given.length == 0) return;
    if (window.twins) return add_changes_between(window, given);
    const std::vector<uint32_t> over = reads_over_events(window, blocks);
    const bool is_active = this->is_active(window, over);
    if (decisions_) {
        std::vector<uint32_t> events;
        for (const Events& one : window.events) events.push_back(one.count);
        decisions_->push_back({window.start, window.end, std::move(events), over, is_active});
    }
    if (!is_active) return;
    const ReferenceWindow reference = without_n(given);
    std::vector<Assembly> assemblies;
    for (int sample = 0; sample < samples_; ++sample) {
        AssemblySteps* const steps = decisions_ ? &decisions_->back().steps.emplace_back() : nullptr;
        const std::vector<Stretch> reads = pile(sample, reference, blocks);
        const double depth = static_cast<double>(letters_of(reads)) / static_cast<double>(reference.length);
        assemblies.push_back(assembled(reference.start, {reference.letter, reference.length}, reads,
                                       assembly_thresholds(depth),
                                       window.is_jump ? kLeastDeleted : std::numeric_limits<int64_t>::min(), steps));
    }
    if (!window.is_jump) drop_explained(reference, blocks, assemblies);
    if (decisions_) decisions_->back().assemblies = assemblies;
    for (Assembly& assembly : assemblies)
        std::copy_if(std::make_move_iterator(assembly.alleles.begin()), std::make_move_iterator(assembly.alleles.end()),
                     std::back_inserter(found_), [&](const Candidate& candidate) {
                         return is_sought(candidate) && !std::binary_search(errors_.begin(), errors_.end(), candidate);
                     });
}

// Counts a read for the candidates that it shows where some sample's ways spell its good letters around them, and
// against them elsewhere.
void Discovery::vote(const Reads& reads, int64_t read, const ReferenceWindow& reference,
                     const std::vector<Assembly>& assemblies, std::map<Candidate, int>& votes) {
    std::vector<Candidate> shown = shown_by(reads, read, reference, thresholds_.min_base_quality, scratch_);
    const auto is_no_candidate = [&](const Candidate& candidate) { return votes.count(candidate) == 0; };
    shown.erase(std::remove_if(shown.begin(), shown.end(), is_no_candidate), shown.end());
    if (shown.empty()) return;
    std::vector<Stretch> good;
    int64_t first, last;
    cut_read(reads, read, reference.start, reference.start + reference.length, 0, first, last);
    add_stretches(reads, read, first, last, thresholds_.min_base_quality, 0, good);
    const int least = assemblies[reads.sample[read]].k;
    good.erase(std::remove_if(good.begin(), good.end(), [&](Stretch letters) { return letters.length <= least; }),
               good.end());
    std::vector<uint8_t> is_spelled;
    for (const Stretch& letters : good)
        is_spelled.push_back(std::any_of(assemblies.begin(), assemblies.end(), [&](const Assembly& assembly) {
            return letters.length > assembly.k && assembly.spells(letters);
        }));
    for (const Candidate& candidate : shown) {
        int64_t judged = 0, spelled = 0;
        for (size_t i = 0; i < good.size(); ++i) {
            if (!spans(reads, read, good[i], candidate, reference)) continue;
            ++judged;
            spelled += is_spelled[i];
        }
        if (judged > 0) votes[candidate] += spelled == judged ? 1 : -1;
    }
}

void Discovery::drop_explained(const ReferenceWindow& reference, const std::vector<EndedReads>& blocks,
                               const std::vector<Assembly>& assemblies) {
    int longest_k = 0;
    for (const Assembly& assembly : assemblies) {
        if (!assembly.is_whole) return;
        longest_k = std::max(longest_k, assembly.k);
    }
    // Candidates that ways may explain, and by how many reads more than not.
    std::map<Candidate, int> votes;
    for (const Candidate& candidate : found_)
        if (candidate.position >= reference.start + longest_k &&
            candidate.position + candidate.ref_length < reference.start + reference.length - longest_k)
            votes.emplace(candidate, 0);
    if (votes.empty()) return;
    const int64_t end = reference.start + reference.length;
    for (const auto [reads, ends] : blocks)
        for (int64_t read = ends->first_behind(reference.start); read < reads->count && reads->start[read] < end;
             ++read)
            if (ends->of(read) > reference.start) vote(*reads, read, reference, assemblies, votes);
    const auto is_assembled = [&](const Candidate& candidate) {
        return std::any_of(assemblies.begin(), assemblies.end(), [&](const Assembly& assembly) {
            return std::binary_search(assembly.shown.begin(), assembly.shown.end(), candidate);
        });
    };
    const auto is_explained = [&](const Candidate& candidate) {
        const auto vote = votes.find(candidate);
        return vote != votes.end() && vote->second > 0 && !is_assembled(candidate);
    };
    if (decisions_)
        for (const Candidate& candidate : found_)
            if (is_explained(candidate)) decisions_->back().explained.emplace_back(candidate, votes[candidate]);
    found_.erase(std::remove_if(found_.begin(), found_.end(), is_explained), found_.end());
}

std::vector<Candidate> Discovery::take() {
    const auto later = std::partition(found_.begin(), found_.end(),
                                      [&](const Candidate& candidate) { return candidate.position < settled_; });
    std::vector<Candidate> taken(std::make_move_iterator(found_.begin()), std::make_move_iterator(later));
    found_.erase(found_.begin(), later);
    sort_distinct(taken);
    return taken;
}

void Discovery::reset() {
    intervals_.clear();
    scanner_.reset();
    older_.clear();
    events_.clear();
    windows_.clear();
    found_.clear();
    errors_.clear();
    told_by_clips_.clear();
    settled_ = 0;
}

}  // namespace pairhmm
