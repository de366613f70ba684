#include "scan/tiles.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <numeric>
#include <tuple>

#include "calling/letters.hpp"
#include "scan/compare.hpp"
#include "scan/diagonal.hpp"
#include "scan/level.hpp"
#include "scan/packed.hpp"
#include "scan/quality_sums.hpp"
#include "scan/scanner.hpp"
#include "scan/seeds.hpp"
#include "scan/text_filter.hpp"
#include "threads/std_threads.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kStretch = 512;  // places that are searched together
constexpr int64_t kStretchesPerShare = 64;
constexpr int64_t kSpansPerShare = 256;

// Tiles of one diagonal that match, `step` apart. Positions are in the samples' and the references' letters.
struct Span {
    int64_t segment, pattern, start, place, tiles;

    int64_t diagonal() const { return place - start; }
};

}  // namespace

struct CompiledTiles {
    const ScanLevel& level;
    const Patterns references;
    const TileRules rules;
    const SeedIndex seeds;
    LetterPlanes planes;  // of the references
    TextFilter filter;
    std::unique_ptr<Scanner> unseeded;  // finds the tiles that no seed does
    std::vector<int64_t> unseeded_numbers, unseeded_offset, unseeded_totals, unseeded_strand;
    std::vector<uint8_t> unseeded_letters;

    CompiledTiles(const ScanLevel& its_level, const Patterns& its_references, const TileRules& its_rules)
        : level(its_level),
          references(its_references),
          rules(its_rules),
          seeds(references, rules),
          filter(level, references.letters, references.offset[references.count]) {
        planes.set(references.letters, references.offset[references.count]);
        if (!seeds.unseeded().empty()) make_unseeded();
    }

    int64_t pattern_at(int64_t place) const {
        const int64_t* end = references.offset + references.count + 1;
        return std::upper_bound(references.offset, end, place) - references.offset - 1;
    }

    // The first interval of masked places that ends behind a place.
    const MaskedSpan* masked_from(int64_t place) const {
        const MaskedSpan* end = rules.masked + rules.masked_count;
        return std::upper_bound(rules.masked, end, place,
                                [](int64_t at, const MaskedSpan& masked) { return at < masked.end; });
    }

    bool is_masked(int64_t place) const {
        const MaskedSpan* masked = masked_from(place);
        return masked != rules.masked + rules.masked_count && masked->begin <= place;
    }

    // take(begin, end) for the places of an interval that are not masked.
    template <class Take>
    void each_unmasked(int64_t begin, int64_t end, const Take& take) const {
        const MaskedSpan* last = rules.masked + rules.masked_count;
        for (const MaskedSpan* masked = masked_from(begin); begin < end; ++masked) {
            const int64_t until = masked == last ? end : std::min(end, masked->begin);
            if (begin < until) take(begin, until);
            if (masked == last) return;
            begin = masked->end;
        }
    }

    // Whether a tile of a pattern begins at a place, and is to be searched there.
    bool is_tile(int64_t pattern, int64_t place) const {
        if (is_masked(place)) return false;
        const int64_t strand = references.strand[pattern];
        if (!begins_tile(rules, references.length(pattern), strand, place - references.offset[pattern])) return false;
        return !may_be_palindrome(pattern) || !is_palindrome(place);
    }

    // A tile that is its own reverse complement is searched forward only.
    bool may_be_palindrome(int64_t pattern) const { return references.strand[pattern] == 1 && rules.length % 2 == 0; }

    bool is_palindrome(int64_t place) const {
        const uint8_t* letters = references.letters + place;
        for (int64_t i = 0; i < rules.length / 2; ++i)
            if (letters[i] != complement_of(letters[rules.length - 1 - i])) return false;
        return true;
    }

private:
    void make_unseeded() {
        const auto count = static_cast<int64_t>(seeds.unseeded().size());
        unseeded_numbers.resize(static_cast<size_t>(count));
        std::iota(unseeded_numbers.begin(), unseeded_numbers.end(), int64_t{0});
        unseeded_strand.assign(static_cast<size_t>(count), 0);
        unseeded_totals.assign(static_cast<size_t>(count), rules.least_total);
        for (int64_t tile = 0; tile <= count; ++tile) unseeded_offset.push_back(tile * rules.length);
        for (const int64_t place : seeds.unseeded()) {
            const uint8_t* letters = references.letters + place;
            unseeded_letters.insert(unseeded_letters.end(), letters, letters + rules.length);
        }
        const Patterns tiles{count,
                             unseeded_letters.data(),
                             unseeded_offset.data(),
                             unseeded_numbers.data(),
                             unseeded_strand.data(),
                             unseeded_totals.data()};
        MatchRules every = rules.match;
        every.every_match = true;
        unseeded = std::make_unique<Scanner>(level, tiles, every);
    }
};

namespace {

// Consecutive places of a segment where matches may begin, in the samples' letters.
struct Stretch {
    int64_t segment, begin, end;
};

std::vector<Stretch> stretches_of(const Samples& samples, int64_t length) {
    std::vector<Stretch> stretches;
    for (int64_t s = 0; s < samples.segments; ++s) {
        int64_t begin = samples.offset[s];
        const int64_t end = samples.offset[s + 1] - length + 1;
        // A match that ends within the carried bases belongs to the segment before.
        if (s == 0) begin = std::max(begin, begin + samples.carried - length + 1);
        for (; begin < end; begin += kStretch) stretches.push_back({s, begin, std::min(begin + kStretch, end)});
    }
    return stretches;
}

// Searches one stretch after the other.
class StretchSearch {
public:
    StretchSearch(const CompiledTiles& compiled, const Samples& samples, const QualitySums& sums,
                  std::vector<Span>& spans)
        : compiled_(compiled), rules_(compiled.rules), samples_(samples), sums_(sums), spans_(spans) {}

    void run(const Stretch& stretch) {
        stretch_ = stretch;
        letters_ = samples_.letters + stretch.begin;
        count_ = stretch.end - stretch.begin + rules_.length - 1;
        has_planes_ = false;
        diagonals_.clear();
        unlooked_.clear();
        packed_.pack(letters_, count_);
        look_up();
        std::sort(diagonals_.begin(), diagonals_.end());
        diagonals_.erase(std::unique(diagonals_.begin(), diagonals_.end()), diagonals_.end());
        for (const auto& [pattern, diagonal] : diagonals_) compare(pattern, diagonal);
        for (const int64_t start : unlooked_) compare_everywhere(start);
    }

private:
    using Diagonal = std::pair<int64_t, int64_t>;  // pattern; place minus position

    static void tell(void* context, uint32_t seed, int position) {
        auto& search = *static_cast<StretchSearch*>(context);
        search.note(search.compiled_.seeds.place(seed), position);
    }

    // A seed of the references lies at `place` and at a position of the stretch.
    void note(int64_t place, int64_t position) {
        const int64_t diagonal = place - (stretch_.begin + position);
        const int64_t noted = static_cast<int64_t>(diagonals_.size());
        for (int64_t i = noted - 1; i >= std::max<int64_t>(0, noted - 4); --i) {
            const auto& [pattern, known] = diagonals_[static_cast<size_t>(i)];
            if (known == diagonal && place < compiled_.references.offset[pattern + 1] &&
                place >= compiled_.references.offset[pattern])
                return;
        }
        diagonals_.emplace_back(compiled_.pattern_at(place), diagonal);
    }

    void look_up() {
        const SeedIndex& seeds = compiled_.seeds;
        const PackedLetters packed = packed_.view();
        const int64_t positions = count_ - seeds.plan().span + 1;
        compiled_.level.find_seeds(packed, static_cast<int>(positions), seeds.view(), {tell, this});
        if (!seeds.has_careful() && packed_.ambiguous() == 0) return;
        const uint32_t plain = seeds.plan().letters & kLowBits;
        std::vector<bool> is_looked_up(static_cast<size_t>(positions), true);
        for (int64_t at = 0; at < positions; ++at) {
            const auto found = [&](int64_t place) { note(place, at); };
            if (packed.is_plain == nullptr || (packed.is_plain[at] & plain) == plain) {
                seeds.look_up_careful(packed.word[at], found);
            } else if (seeds.is_looked_up(letters_ + at)) {
                seeds.each_word(letters_ + at, [&](uint32_t word) { seeds.look_up(word, packed, at, found); });
            } else {
                is_looked_up[static_cast<size_t>(at)] = false;
            }
        }
        if (packed_.ambiguous() != 0) list_unlooked(is_looked_up);
    }

    // The places of which a seed was not looked up, and that have enough letters for a match.
    void list_unlooked(const std::vector<bool>& is_looked_up) {
        const auto& shifts = compiled_.seeds.plan().shifts;
        int64_t known = rules_.length - std::count(letters_, letters_ + rules_.length, kAny);
        for (int64_t at = 0; at < stretch_.end - stretch_.begin; ++at) {
            if (at > 0) known += (letters_[at - 1] == kAny) - (letters_[at + rules_.length - 1] == kAny);
            if (known < rules_.match.min_informative) continue;
            const bool whole = std::all_of(shifts.begin(), shifts.end(), [&](int64_t shift) {
                return is_looked_up[static_cast<size_t>(at + shift)];
            });
            if (!whole) unlooked_.push_back(stretch_.begin + at);
        }
    }

    // All matches of a stretch on one diagonal.
    void compare(int64_t pattern, int64_t diagonal) {
        const int64_t begin = std::max(stretch_.begin, compiled_.references.offset[pattern] - diagonal);
        const int64_t last = compiled_.references.offset[pattern + 1] - rules_.length - diagonal;
        const int64_t end = std::min(stretch_.end, last + 1);
        if (begin >= end) return;
        if (!has_planes_) planes_.set(letters_, count_);
        has_planes_ = true;
        columns_.compare(planes_, begin - stretch_.begin, compiled_.planes, begin + diagonal,
                         end - begin + rules_.length - 1);
        const bool plain = is_plain_case(pattern);
        columns_.each_matching(rules_.length, rules_.match.max_mismatches, [&](int64_t from, int64_t to) {
            if (plain) {
                compiled_.each_unmasked(
                    begin + from + diagonal, begin + to + diagonal, [&](int64_t first, int64_t end) {
                        spans_.push_back({stretch_.segment, pattern, first - diagonal, first, end - first});
                    });
                return;
            }
            for (int64_t at = from; at < to; ++at)
                if (is_match(pattern, begin + at, begin + at + diagonal, at)) add(pattern, begin + at, diagonal);
        });
    }

    // Whether every place of a diagonal that has few enough mismatches is a match.
    bool is_plain_case(int64_t pattern) const {
        return rules_.step == 1 && rules_.least_total == 0 && rules_.match.min_informative <= rules_.length &&
               columns_.is_informative() && compiled_.seeds.unseeded().empty() && unlooked_.empty() &&
               !compiled_.may_be_palindrome(pattern);
    }

    bool is_match(int64_t pattern, int64_t start, int64_t place, int64_t column) const {
        if (!compiled_.is_tile(pattern, place)) return false;
        if (columns_.informative(column, rules_.length) < rules_.match.min_informative) return false;
        if (!has_least_total(start)) return false;
        return !compiled_.seeds.is_unseeded(place) && !std::binary_search(unlooked_.begin(), unlooked_.end(), start);
    }

    bool has_least_total(int64_t start) const {
        return rules_.least_total == 0 || sums_.between(start, start + rules_.length) >= rules_.least_total;
    }

    void add(int64_t pattern, int64_t start, int64_t diagonal) {
        spans_.push_back({stretch_.segment, pattern, start, start + diagonal, 1});
    }

    // All matches at one place of a sample.
    void compare_everywhere(int64_t start) {
        if (!has_least_total(start)) return;
        const uint8_t* letters = samples_.letters + start;
        compiled_.filter.each(letters, rules_.length, rules_.match.max_mismatches, [&](int64_t place) {
            const int64_t pattern = compiled_.pattern_at(place);
            if (place + rules_.length > compiled_.references.offset[pattern + 1]) return;
            if (!compiled_.is_tile(pattern, place) || compiled_.seeds.is_unseeded(place)) return;
            Columns columns{0, 0};
            const uint8_t* tile = compiled_.references.letters + place;
            if (!compare_columns(letters, tile, rules_.length, rules_.match.max_mismatches, columns)) return;
            if (columns.informative >= rules_.match.min_informative) add(pattern, start, place - start);
        });
    }

    const CompiledTiles& compiled_;
    const TileRules& rules_;
    const Samples& samples_;
    const QualitySums& sums_;
    std::vector<Span>& spans_;
    Stretch stretch_{0, 0, 0};
    const uint8_t* letters_ = nullptr;
    int64_t count_ = 0;
    bool has_planes_ = false;
    PackedText packed_;
    LetterPlanes planes_;
    DiagonalColumns columns_;
    std::vector<Diagonal> diagonals_;
    std::vector<int64_t> unlooked_;
};

// Sorts spans, and joins those that follow each other on one diagonal.
void join(std::vector<Span>& spans, const CompiledTiles& compiled) {
    const auto key = [&](const Span& span) {
        return std::make_tuple(span.segment, compiled.references.signature[span.pattern],
                               compiled.references.strand[span.pattern], span.diagonal(), span.start);
    };
    std::sort(spans.begin(), spans.end(), [&](const Span& a, const Span& b) { return key(a) < key(b); });
    const int64_t step = compiled.rules.step;
    if (step > compiled.rules.length) return;
    size_t kept = 0;
    for (const Span& span : spans) {
        Span* before = kept == 0 ? nullptr : &spans[kept - 1];
        const bool follows = before != nullptr && before->segment == span.segment && before->pattern == span.pattern &&
                             before->diagonal() == span.diagonal() &&
                             before->start + before->tiles * step == span.start;
        if (follows) {
            before->tiles += span.tiles;
        } else {
            spans[kept++] = span;
        }
    }
    spans.resize(kept);
}

// Turns spans into hits and runs.
class SpanScores {
public:
    SpanScores(const CompiledTiles& compiled, const Samples& samples, const QualitySums& sums)
        : compiled_(compiled), samples_(samples), sums_(sums) {}

    TileRun run(const Span& span) const {
        const int64_t length = (span.tiles - 1) * compiled_.rules.step + compiled_.rules.length;
        const Columns columns = columns_of(span.start, span.place, length);
        return {span.segment,
                compiled_.references.signature[span.pattern],
                compiled_.references.strand[span.pattern],
                span.start - samples_.offset[span.segment],
                length,
                forward_place(span.pattern, span.place, length),
                span.tiles,
                sums_.between(span.start, span.start + length),
                columns.informative,
                columns.mismatches};
    }

    void add_hits(const Span& span, std::vector<Hit>& hits) const {
        const int64_t step = compiled_.rules.step;
        if (!compiled_.rules.match.every_match) {
            hits.push_back(hit(span, best_tile(span) * step, span.tiles));
            return;
        }
        for (int64_t tile = 0; tile < span.tiles; ++tile) hits.push_back(hit(span, tile * step, 1));
    }

private:
    // The first of the tiles with the largest sum of qualities.
    int64_t best_tile(const Span& span) const {
        if (samples_.qualities == nullptr) return 0;
        const int64_t step = compiled_.rules.step, length = compiled_.rules.length;
        int64_t best = 0, over = 0, most = 0;  // over the first tile
        for (int64_t tile = 1; tile < span.tiles; ++tile) {
            const uint8_t* from = samples_.qualities + span.start + (tile - 1) * step;
            for (int64_t i = 0; i < step; ++i) over += from[length + i] - from[i];
            if (over > most) {
                most = over;
                best = tile;
            }
        }
        return best;
    }

    Hit hit(const Span& span, int64_t from, int64_t matches) const {
        const int64_t start = span.start + from, length = compiled_.rules.length;
        const Columns columns = columns_of(start, span.place + from, length);
        return {span.segment,
                compiled_.references.signature[span.pattern],
                start - samples_.offset[span.segment],
                compiled_.references.strand[span.pattern],
                sums_.between(start, start + length),
                matches,
                columns.informative,
                columns.mismatches,
                forward_place(span.pattern, span.place + from, length)};
    }

    Columns columns_of(int64_t start, int64_t place, int64_t length) const {
        Columns columns{0, 0};
        compare_columns(samples_.letters + start, compiled_.references.letters + place, length,
                        std::numeric_limits<int64_t>::max(), columns);
        return columns;
    }

    int64_t forward_place(int64_t pattern, int64_t place, int64_t length) const {
        const int64_t offset = place - compiled_.references.offset[pattern];
        if (compiled_.references.strand[pattern] == 0) return offset;
        return compiled_.references.length(pattern) - length - offset;
    }

    const CompiledTiles& compiled_;
    const Samples& samples_;
    const QualitySums& sums_;
};

template <class Item>
std::vector<Item> joined(const std::vector<std::vector<Item>>& parts) {
    std::vector<Item> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

size_t shares_of(size_t count, int64_t size) { return (count + static_cast<size_t>(size) - 1) / size; }

// The spans of the first segments, and how many segments these are.
struct FoundSpans {
    int64_t segments;
    std::vector<Span> spans;
};

// What is bounded: spans, or tiles where each is a hit.
int64_t count_of(const std::vector<Span>& spans, size_t from, bool every_match) {
    if (!every_match) return static_cast<int64_t>(spans.size() - from);
    return std::accumulate(spans.begin() + static_cast<std::ptrdiff_t>(from), spans.end(), int64_t{0},
                           [](int64_t count, const Span& span) { return count + span.tiles; });
}

// Shares begin in order, so that the stretches before the first one that was left out were all searched.
FoundSpans find_seeded(const CompiledTiles& compiled, const Samples& samples, const QualitySums& sums, int threads) {
    const auto stretches = stretches_of(samples, compiled.rules.length);
    const auto all = static_cast<int64_t>(stretches.size());
    std::vector<std::vector<Span>> parts(shares_of(stretches.size(), kStretchesPerShare));
    std::vector<int64_t> ends(parts.size());  // of what was searched of each share
    std::atomic<int64_t> count{0};
    run_shares(all, kStretchesPerShare, threads, [&](int64_t first, int64_t last) {
        const auto share = static_cast<size_t>(first / kStretchesPerShare);
        StretchSearch search(compiled, samples, sums, parts[share]);
        for (int64_t s = ends[share] = first; s < last; ends[share] = ++s) {
            const Stretch& stretch = stretches[static_cast<size_t>(s)];
            if (stretch.segment > 0 && count.load(std::memory_order_relaxed) >= limit_of(s == first, kMostFound))
                return;
            const size_t before = parts[share].size();
            search.run(stretch);
            count += count_of(parts[share], before, compiled.rules.match.every_match);
        }
    });
    int64_t searched = 0;
    for (size_t share = 0; share < ends.size() && searched == static_cast<int64_t>(share) * kStretchesPerShare; ++share)
        searched = ends[share];
    FoundSpans found{searched < all ? stretches[static_cast<size_t>(searched)].segment : samples.segments,
                     joined(parts)};
    const auto is_beyond = [&](const Span& span) { return span.segment >= found.segments; };
    found.spans.erase(std::remove_if(found.spans.begin(), found.spans.end(), is_beyond), found.spans.end());
    return found;
}

FoundSpans find_spans(const CompiledTiles& compiled, const Samples& samples, const QualitySums& sums, int threads) {
    FoundSpans found = find_seeded(compiled, samples, sums, threads);
    if (compiled.unseeded != nullptr) {
        Samples searched = samples;
        searched.segments = found.segments;
        std::vector<int64_t> unused(static_cast<size_t>(samples.segments));
        for (const Hit& hit : compiled.unseeded->scan(searched, threads, unused.data()).hits) {
            const int64_t place = compiled.seeds.unseeded()[static_cast<size_t>(hit.signature)];
            const int64_t pattern = compiled.pattern_at(place);
            if (compiled.is_tile(pattern, place))
                found.spans.push_back({hit.segment, pattern, samples.offset[hit.segment] + hit.start, place, 1});
        }
    }
    join(found.spans, compiled);
    return found;
}

}  // namespace

TileScanner::TileScanner(const ScanLevel& level, const Patterns& references, const TileRules& rules)
    : compiled_(std::make_unique<CompiledTiles>(level, references, rules)) {}

TileScanner::~TileScanner() = default;

TileHits TileScanner::scan(const Samples& samples, int threads, int64_t* totals) const {
    const QualitySums sums(samples.qualities, samples.bases(), threads);
    for (int64_t s = 0; s < samples.segments; ++s)
        totals[s] = sums.between(samples.offset[s] + (s == 0 ? samples.carried : 0), samples.offset[s + 1]);
    const auto [segments, spans] = find_spans(*compiled_, samples, sums, threads);
    const SpanScores scores(*compiled_, samples, sums);
    std::vector<std::vector<Hit>> hits(shares_of(spans.size(), kSpansPerShare));
    TileHits found;
    found.segments = segments;
    found.runs.resize(spans.size());
    run_shares(static_cast<int64_t>(spans.size()), kSpansPerShare, threads, [&](int64_t first, int64_t end) {
        for (int64_t s = first; s < end; ++s) {
            found.runs[static_cast<size_t>(s)] = scores.run(spans[static_cast<size_t>(s)]);
            scores.add_hits(spans[static_cast<size_t>(s)], hits[static_cast<size_t>(first / kSpansPerShare)]);
        }
    });
    found.hits = joined(hits);
    std::sort(found.hits.begin(), found.hits.end(), earlier);
    if (!compiled_->rules.match.every_match) keep_best(found.hits);
    return found;
}

}  // namespace pairhmm
