#include "calling/discovery.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "calling/assembly.hpp"
#include "calling/cigar.hpp"

namespace pairhmm {

namespace {

// Bases of a tile, and those on either side of its events in which reads are assembled.
constexpr int64_t kTile = 200, kReach = 150;
static_assert(kTile + 2 * kReach == kLongestWindow, "a window is a tile and what is around it");
// A clip of fewer good bases is none.
constexpr int64_t kLeastClip = 8;
// A tile of fewer clips and gaps is not active, nor one of a smaller share of the reads over them.
constexpr uint32_t kLeastEvents = 2;
constexpr double kLeastShare = 0.08;
// Letters of a sample's reads that a window takes. Of more, those of the stretches with the least hashes are taken.
constexpr int64_t kMostLetters = 400'000;
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

// The stretches of good letters in query [first, last) of a read.
void add_good_stretches(const Reads& reads, int64_t read, int64_t first, int64_t last, int least_quality,
                        std::vector<Stretch>& stretches) {
    const uint8_t* base = reads.base + reads.base_offset[read];
    const uint8_t* quality = reads.quality + reads.base_offset[read];
    for (int64_t i = first; i < last; ++i) {
        const int64_t begin = i;
        while (i < last && base[i] < kCodeOfN && quality[i] >= least_quality) ++i;
        if (i > begin) stretches.push_back({base + begin, i - begin});
    }
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
    int64_t position = reads.start[read], query = 0;
    for (int64_t c = reads.cigar_offset[read]; c < reads.cigar_offset[read + 1]; ++c) {
        const uint32_t operation = reads.cigar[c] & 15;
        const int64_t length = reads.cigar[c] >> 4;
        if (aligned(operation)) {
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
        }
        if (aligned(operation) || skips(operation)) position += length;
        if (reads_bases(operation)) query += length;
    }
    read_indels(reads, read, {{reference}}, indels);
    for (Indel& indel : indels) shown.push_back({indel.anchor, indel.deleted, true, std::move(indel.inserted)});
    return shown;
}

}  // namespace

void Discovery::Events::add(int64_t begin, int64_t end) {
    first = count == 0 ? begin : std::min(first, begin);
    last = count == 0 ? end : std::max(last, end);
    ++count;
}

void Discovery::add(const Reads& reads, const ReferenceWindows& reference) {
    scanner_.add(reads, reference, intervals_);
    if (!assembles_) return;
    for (int64_t read = 0; read < reads.count; ++read) count_events(reads, read, reference);
}

void Discovery::count_events(const Reads& reads, int64_t read, const ReferenceWindows& reference) {
    const uint32_t* cigar = reads.cigar + reads.cigar_offset[read];
    const int64_t operations = reads.cigar_offset[read + 1] - reads.cigar_offset[read];
    if (operations == 1) return;
    const uint8_t* quality = reads.quality + reads.base_offset[read];
    const int sample = reads.sample[read];
    const auto add = [&](int64_t begin, int64_t end) {
        auto& events = events_[begin / kTile];
        events.resize(samples_);
        events[sample].add(begin, end);
    };
    bool has_gaps = false;
    int64_t position = reads.start[read], query = 0;
    for (int64_t i = 0; i < operations; ++i) {
        const uint32_t operation = cigar[i] & 15;
        const int64_t length = cigar[i] >> 4;
        if (operation == kSoftClip) {
            const auto is_good = [&](uint8_t quality) { return quality >= thresholds_.min_base_quality; };
            if (std::count_if(quality + query, quality + query + length, is_good) >= kLeastClip)
                add(position, position);
        }
        has_gaps |= operation == kInsert || operation == kDelete;
        if (aligned(operation) || skips(operation)) position += length;
        if (reads_bases(operation)) query += length;
    }
    if (!has_gaps) return;
    read_indels(reads, read, reference, scratch_);
    for (const Indel& indel : scratch_) add(indel.anchor, indel.anchor + indel.deleted);
}

std::vector<std::pair<int64_t, int64_t>> Discovery::windows(int64_t frontier) {
    for (Candidate& candidate : scanner_.take(frontier))
        if (intervals_.have(candidate.position)) found_.push_back(std::move(candidate));
    windows_.clear();
    if (!assembles_) {
        settled_ = std::max(settled_, frontier);
        return {};
    }
    const int64_t open =
        std::max<int64_t>(0, frontier - kReach) / kTile;  // the first tile that reads to come may reach
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
        if (intervals_.touch(start, end)) windows_.push_back({start, end, std::move(tile->second)});
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
    older_.keep(blocks, settled_);
}

// Whether enough of some sample's reads have a clip or a gap.
bool Discovery::is_active(const Window& window, const std::vector<EndedReads>& blocks) const {
    std::vector<uint32_t> over(samples_);
    for (const auto [reads, ends] : blocks) {
        for (int64_t read = ends->first_behind(window.start); read < reads->count && reads->start[read] < window.end;
             ++read) {
            const Events& events = window.events[reads->sample[read]];
            over[reads->sample[read]] += reads->start[read] <= events.last && ends->of(read) >= events.first;
        }
    }
    for (int sample = 0; sample < samples_; ++sample)
        if (window.events[sample].count >= std::max<double>(kLeastEvents, kLeastShare * over[sample])) return true;
    return false;
}

Discovery::Piled Discovery::pile(int sample, const ReferenceWindow& reference,
                                 const std::vector<EndedReads>& blocks) const {
    const int64_t start = reference.start, end = start + reference.length;
    Piled piled;
    for (const auto [reads, ends] : blocks) {
        for (int64_t read = ends->first_behind(start); read < reads->count && reads->start[read] < end; ++read) {
            if (reads->sample[read] != sample || ends->of(read) <= start) continue;
            int64_t first, last;
            cut_read(*reads, read, start, end, 0, first, last);
            add_good_stretches(*reads, read, first, last, thresholds_.min_base_quality, piled.stretches);
            piled.read.resize(piled.stretches.size(), {reads, read});
        }
    }
    limit(piled);
    return piled;
}

// Drops stretches where there are too many letters. Which ones does not depend on their order.
void Discovery::limit(Piled& piled) {
    int64_t letters = 0;
    for (const Stretch& stretch : piled.stretches) letters += stretch.length;
    if (letters <= kMostLetters) return;
    const double share = static_cast<double>(kMostLetters) / static_cast<double>(letters);
    const auto most = static_cast<uint64_t>(share * 18446744073709551615.0);
    std::unordered_map<uint64_t, uint64_t> copies;  // of each hash so far: equal stretches share no fate
    Piled kept;
    for (size_t i = 0; i < piled.stretches.size(); ++i) {
        const uint64_t hash = hash_of(piled.stretches[i]);
        if (mixed(hash + copies[hash]++ * kHashStep) > most) continue;
        kept.stretches.push_back(piled.stretches[i]);
        kept.read.push_back(piled.read[i]);
    }
    piled = std::move(kept);
}

void Discovery::assemble_window(const Window& window, const ReferenceWindow& given,
                                const std::vector<EndedReads>& blocks) {
    // A window may lie beyond the contig.
    if (given.length == 0 || !is_active(window, blocks)) return;
    const ReferenceWindow reference = without_n(given);
    std::vector<Piled> piles;
    std::vector<Assembly> assemblies;
    for (int sample = 0; sample < samples_; ++sample) {
        piles.push_back(pile(sample, reference, blocks));
        assemblies.push_back(
            assembled(reference.start, {reference.letter, reference.length}, piles.back().stretches, thresholds_));
    }
    drop_explained(reference, piles, assemblies);
    for (Assembly& assembly : assemblies)
        std::copy_if(std::make_move_iterator(assembly.alleles.begin()), std::make_move_iterator(assembly.alleles.end()),
                     std::back_inserter(found_),
                     [&](const Candidate& candidate) { return intervals_.have(candidate.position); });
}

void Discovery::drop_explained(const ReferenceWindow& reference, const std::vector<Piled>& piles,
                               const std::vector<Assembly>& assemblies) {
    int longest_k = 0;
    for (const Assembly& assembly : assemblies) {
        if (!assembly.is_whole) return;
        longest_k = std::max(longest_k, assembly.k);
    }
    // Candidates that reads of the window may explain, and how many do less those that don't.
    std::map<Candidate, int> votes;
    for (const Candidate& candidate : found_)
        if (candidate.position >= reference.start + longest_k &&
            candidate.position + candidate.ref_length < reference.start + reference.length - longest_k)
            votes.emplace(candidate, 0);
    if (votes.empty()) return;
    for (size_t sample = 0; sample < piles.size(); ++sample) {
        const Piled& piled = piles[sample];
        for (size_t i = 0; i < piled.stretches.size();) {
            const auto [reads, read] = piled.read[i];
            int spelled = -1;
            for (; i < piled.stretches.size() && piled.read[i] == std::pair(reads, read); ++i) {
                const int one = assemblies[sample].is_spelled[i];
                if (one >= 0) spelled = spelled < 0 ? one : std::min(spelled, one);
            }
            if (spelled < 0) continue;
            for (const Candidate& candidate :
                 shown_by(*reads, read, reference, thresholds_.min_base_quality, scratch_)) {
                const auto vote = votes.find(candidate);
                if (vote != votes.end()) vote->second += spelled ? 1 : -1;
            }
        }
    }
    const auto is_assembled = [&](const Candidate& candidate) {
        return std::any_of(assemblies.begin(), assemblies.end(), [&](const Assembly& assembly) {
            return std::binary_search(assembly.shown.begin(), assembly.shown.end(), candidate);
        });
    };
    const auto is_explained = [&](const Candidate& candidate) {
        const auto vote = votes.find(candidate);
        return vote != votes.end() && vote->second > 0 && !is_assembled(candidate);
    };
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
    settled_ = 0;
}

}  // namespace pairhmm
