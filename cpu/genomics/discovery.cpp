// Discovery. See genomics/discovery.hpp.
#include "genomics/discovery.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "genomics/assembly.hpp"
#include "genomics/cigar.hpp"

namespace pairhmm {

namespace {

// Bases of a tile, and those on either side of its events in which reads are assembled.
constexpr int64_t kTile = 200, kReach = 150;
// A clip of fewer good bases is none.
constexpr int64_t kLeastClip = 8;
// A tile of fewer clips and gaps is not active, nor one of a smaller share of the reads over them.
constexpr uint32_t kLeastEvents = 2;
constexpr double kLeastShare = 0.08;
// Letters of reads that a window takes. Of more reads, those with the least hashes are taken.
constexpr int64_t kMostLetters = 400'000;

uint64_t hash_of(Stretch letters) {
    uint64_t hash = 14695981039346656037u;
    for (int64_t i = 0; i < letters.length; ++i) hash = (hash ^ letters.letter[i]) * 1099511628211u;
    return hash;
}

// At most kMostLetters of some reads. Which ones does not depend on their order.
void limit(std::vector<Stretch>& reads) {
    int64_t sum = 0;
    for (const Stretch& read : reads) sum += read.length;
    if (sum <= kMostLetters) return;
    std::vector<std::pair<uint64_t, Stretch>> ranked;
    for (const Stretch& read : reads) ranked.emplace_back(hash_of(read), read);
    std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first
                                  : std::lexicographical_compare(a.second.letter, a.second.letter + a.second.length,
                                                                 b.second.letter, b.second.letter + b.second.length);
    });
    reads.clear();
    sum = 0;
    for (const auto& one : ranked) {
        sum += one.second.length;
        if (sum > kMostLetters) break;
        reads.push_back(one.second);
    }
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

}  // namespace

void Discovery::Events::add(int64_t begin, int64_t end) {
    first = count == 0 ? begin : std::min(first, begin);
    last = count == 0 ? end : std::max(last, end);
    ++count;
}

void Discovery::add(const Reads& reads, const ReferenceWindows& reference) {
    scanner_.add(reads, reference);
    if (!assembles_) return;
    for (int64_t read = 0; read < reads.count; ++read) count_events(reads, read, reference);
}

void Discovery::count_events(const Reads& reads, int64_t read, const ReferenceWindows& reference) {
    const uint32_t* cigar = reads.cigar + reads.cigar_offset[read];
    const int64_t operations = reads.cigar_offset[read + 1] - reads.cigar_offset[read];
    if (operations == 1) return;
    const uint8_t* quality = reads.quality + reads.base_offset[read];
    const int sample = reads.sample[read];
    const auto add = [&](int64_t begin, int64_t end) { events_[{begin / kTile, sample}].add(begin, end); };
    bool has_gaps = false;
    int64_t position = reads.start[read], query = 0;
    for (int64_t i = 0; i < operations; ++i) {
        const uint32_t operation = cigar[i] & 15;
        const int64_t length = cigar[i] >> 4;
        if (operation == kSoftClip) {
            const auto is_good = [&](uint8_t one) { return one >= thresholds_.min_base_quality; };
            if (std::count_if(quality + query, quality + query + length, is_good) >= kLeastClip)
                add(position, position);
        }
        has_gaps |= operation == kInsert || operation == kDelete;
        if (aligned(operation) || skips(operation)) position += length;
        if (aligned(operation) || operation == kInsert || operation == kSoftClip) query += length;
    }
    if (!has_gaps) return;
    read_indels(reads, read, reference, scratch_);
    for (const Indel& indel : scratch_) add(indel.anchor, indel.anchor + indel.deleted);
}

std::vector<std::pair<int64_t, int64_t>> Discovery::windows(int64_t frontier) {
    for (Candidate& candidate : scanner_.take(frontier)) found_.push_back(std::move(candidate));
    windows_.clear();
    if (!assembles_) {
        settled_ = std::max(settled_, frontier);
        return {};
    }
    const int64_t open = std::max<int64_t>(0, frontier - kReach) / kTile;  // the first tile that reads to come may reach
    settled_ = std::max(settled_, open * kTile - kReach);
    const auto end = events_.lower_bound({open, 0});
    for (auto it = events_.begin(); it != end; ++it) {
        const Events& events = it->second;
        if (events.count < kLeastEvents) continue;
        const int64_t last = std::min(events.last, (it->first.first + 1) * kTile);
        windows_.push_back({std::max<int64_t>(0, events.first - kReach), last + kReach, it->first.second, events.count,
                            events.first, last});
    }
    events_.erase(events_.begin(), end);
    std::vector<std::pair<int64_t, int64_t>> places;
    for (const Window& window : windows_) places.emplace_back(window.start, window.end);
    return places;
}

void Discovery::assemble(const Reads& reads, const std::vector<ReferenceWindow>& reference) {
    if (!assembles_) return;
    for (size_t i = 0; i < windows_.size(); ++i) assemble_window(windows_[i], reference[i], reads);
    windows_.clear();
    older_.keep(reads, settled_);
}

void Discovery::assemble_window(const Window& window, const ReferenceWindow& given, const Reads& newer) {
    const ReferenceWindow reference = without_n(given);
    const int64_t start = reference.start, end = start + reference.length;
    std::vector<Stretch> stretches;
    uint32_t over = 0;
    const Reads older = older_.reads();
    for (const Reads* reads : {&older, &newer}) {
        for (int64_t read = 0; read < reads->count && reads->start[read] < end; ++read) {
            if (reads->sample[read] != window.sample) continue;
            const int64_t stop = read_end(*reads, read);
            if (stop <= start) continue;
            over += reads->start[read] <= window.last && stop >= window.first;
            int64_t first, last;
            cut_read(*reads, read, start, end, 0, first, last);
            add_good_stretches(*reads, read, first, last, thresholds_.min_base_quality, stretches);
        }
    }
    if (window.events < kLeastShare * over) return;
    limit(stretches);
    for (Candidate& allele :
         assembled_alleles(start, {reference.letter, reference.length}, stretches, thresholds_))
        found_.push_back(std::move(allele));
}

std::vector<Candidate> Discovery::take() {
    const auto later = std::partition(found_.begin(), found_.end(),
                                      [&](const Candidate& one) { return one.position < settled_; });
    std::vector<Candidate> taken(std::make_move_iterator(found_.begin()), std::make_move_iterator(later));
    found_.erase(found_.begin(), later);
    std::sort(taken.begin(), taken.end());
    taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
    return taken;
}

void Discovery::reset() {
    scanner_.reset();
    older_.clear();
    events_.clear();
    windows_.clear();
    found_.clear();
    settled_ = 0;
}

}  // namespace pairhmm
