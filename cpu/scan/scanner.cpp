#include "scan/scanner.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "calling/letters.hpp"
#include "scan/compare.hpp"
#include "scan/index.hpp"
#include "scan/level.hpp"
#include "scan/quality_sums.hpp"
#include "scan/text_filter.hpp"
#include "threads/std_threads.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kTilesPerShare = 16;
// Listing this many anchors takes as long as filtering a tile for one pattern (measured).
constexpr int64_t kListedPerFiltered = 40;

// Offset of the kReach most informative letters: those with the fewest possible bases in sum.
int64_t telling_offset(const uint8_t* letters, int64_t length) {
    int64_t told = 0, most = -1, offset = 0;
    for (int64_t end = 1; end <= length; ++end) {
        told += 4 - bases_of(letters[end - 1]);
        const int64_t begin = std::max<int64_t>(0, end - kReach);
        if (begin > 0) told -= 4 - bases_of(letters[begin - 1]);
        if (told > most) {
            most = told;
            offset = begin;
        }
    }
    return offset;
}

// The anchors, then a handle for each pattern without one.
std::vector<Handle> handles(const Patterns& patterns, const AnchorIndex& index) {
    std::vector<Handle> all = index.anchors();
    for (int64_t p = 0; p < patterns.count; ++p) {
        if (index.first_anchor()[p] == index.first_anchor()[p + 1])
            all.push_back({p, telling_offset(patterns.begin(p), patterns.length(p))});
    }
    return all;
}

// The number of mismatches is limited to the columns of all patterns, so that nothing derived from it overflows.
int64_t possible_mismatches(const Patterns& patterns, int64_t max_mismatches) {
    return std::min(max_mismatches, patterns.offset[patterns.count]);
}

MatchRules possible_rules(const Patterns& patterns, MatchRules rules) {
    rules.max_mismatches = possible_mismatches(patterns, rules.max_mismatches);
    return rules;
}

}  // namespace

IndexTables index_tables(const Patterns& patterns, int64_t max_mismatches) {
    AnchorIndex index(patterns, possible_mismatches(patterns, max_mismatches));
    auto all = handles(patterns, index);
    IndexTables tables = std::move(index).tables();
    tables.handle = std::move(all);
    return tables;
}

struct CompiledPatterns {
    const ScanLevel& level;
    const Patterns patterns;
    const MatchRules rules;
    const AnchorIndex index;
    std::vector<Handle> handle;
    std::vector<int64_t> first_column;  // [handles + 1]
    std::vector<FilterColumn> column;   // of each handle's filter
    int64_t longest = 0;

    CompiledPatterns(const ScanLevel& its_level, const Patterns& its_patterns, const MatchRules& its_rules)
        : level(its_level),
          patterns(its_patterns),
          rules(possible_rules(patterns, its_rules)),
          index(patterns, rules.max_mismatches) {
        handle = handles(patterns, index);
        for (int64_t p = 0; p < patterns.count; ++p) longest = std::max(longest, patterns.length(p));
        first_column.assign(1, 0);
        for (size_t h = 0; h < handle.size(); ++h) add_filter(static_cast<int64_t>(h));
    }

    int64_t anchors() const { return static_cast<int64_t>(index.anchors().size()); }

    // Mismatches that a handle's filter allows: none for an anchor, since one of a pattern's anchors matches exactly.
    int64_t mismatches_of_filter(int64_t h) const { return h < anchors() ? 0 : rules.max_mismatches; }

    void add_filter(int64_t h) {
        const Anchor& at = handle[static_cast<size_t>(h)];
        const uint8_t* letters = patterns.begin(at.pattern) + at.offset;
        const bool only_anchor = h < anchors() && rules.max_mismatches > 0;
        const int64_t behind = patterns.length(at.pattern) - at.offset;
        const int64_t reach = std::min<int64_t>(only_anchor ? index.bases() : kReach, behind);
        const auto most = static_cast<size_t>(kFilterColumns + kColumnsPerMismatch * mismatches_of_filter(h));
        const size_t begin = column.size();
        for (int bases = 1; bases < 4 && mismatches_of_filter(h) <= kMostCounted; ++bases) {
            for (int64_t c = 0; c < reach && column.size() - begin < most; ++c)
                if (bases_of(letters[c]) == bases) column.push_back(filter_column(letters[c], c));
        }
        first_column.push_back(static_cast<int64_t>(column.size()));
    }
};

namespace {

// One chunk of samples on its way through the tiles.
class Search {
public:
    Search(const CompiledPatterns& compiled, const Samples& samples, const QualitySums& sums)
        : compiled_(compiled), samples_(samples), sums_(sums), runs_(samples.letters, samples.bases()) {}

    int64_t tiles() const { return (samples_.bases() + kTile - 1) / kTile; }

    void run(int64_t number, std::vector<Hit>& hits) const {
        const auto tile = std::make_unique<TileLetters>();
        const auto planes = std::make_unique<BitPlanes>();
        const size_t before = hits.size();
        run_tile(number * kTile, *tile, *planes, hits);
        if (hits.size() - before > 1) reduce(hits, before);
    }

    // The hits from `begin` on, in order, and where asked for only the best.
    void reduce(std::vector<Hit>& hits, size_t begin) const {
        std::vector<Hit> last(hits.begin() + static_cast<std::ptrdiff_t>(begin), hits.end());
        std::sort(last.begin(), last.end(), earlier);
        if (!compiled_.rules.every_match) keep_best(last);
        hits.resize(begin);
        hits.insert(hits.end(), last.begin(), last.end());
    }

private:
    struct Telling {
        const Search* search;
        int64_t tile;
        std::vector<Hit>* hits;
        RunsOfN::Run run;  // of N, the last one that a position lay in
    };

    static void tell(void* context, uint32_t handle, int position) {
        auto& told = *static_cast<Telling*>(context);
        told.search->check(handle, told.tile + position, told.run, *told.hits);
    }

    void run_tile(int64_t first, TileLetters& tile, BitPlanes& planes, std::vector<Hit>& hits) const {
        const int64_t count = std::min<int64_t>(kTile, samples_.bases() - first);
        // Deep inside a run of N, no match has an informative column.
        const int64_t around = compiled_.longest;
        if (compiled_.rules.min_informative > 0 && runs_.cover(first - around, first + count + around)) return;
        copy_letters(first, tile);
        Telling telling{this, first, &hits, {0, 0}};
        const Found found{tell, &telling};
        const int64_t anchors = compiled_.anchors(), handles = static_cast<int64_t>(compiled_.handle.size());
        const bool looked_up =
            anchors > 0 && compiled_.level.look_up(tile, compiled_.index.view(), compiled_.rules.max_mismatches,
                                                   anchors * kListedPerFiltered, found);
        const int64_t first_filtered = looked_up ? anchors : 0;
        if (first_filtered == handles) return;
        compiled_.level.make_planes(tile, planes);
        for (int64_t h = first_filtered; h < handles; ++h) {
            const int64_t begin = compiled_.first_column[h], columns = compiled_.first_column[h + 1] - begin;
            const int64_t most = std::min<int64_t>(compiled_.mismatches_of_filter(h), kMostCounted);
            compiled_.level.filter(planes, tile.count, compiled_.column.data() + begin, columns, most,
                                   static_cast<uint32_t>(h), found);
        }
    }

    void copy_letters(int64_t first, TileLetters& tile) const {
        const int64_t there = std::min<int64_t>(sizeof tile.letter, samples_.bases() - first);
        std::memcpy(tile.letter, samples_.letters + first, static_cast<size_t>(there));
        std::memset(tile.letter + there, kAny, sizeof tile.letter - static_cast<size_t>(there));
        tile.count = static_cast<int>(std::min<int64_t>(kTile, there));
    }

    // Adds the match whose handle lies at a position, where there is one.
    void check(uint32_t handle, int64_t position, RunsOfN::Run& run, std::vector<Hit>& hits) const {
        const Anchor& at = compiled_.handle[handle];
        const int64_t start = position - at.offset, length = compiled_.patterns.length(at.pattern);
        const int64_t most = compiled_.rules.max_mismatches;
        if (position < run.begin || position >= run.end) run = runs_.around(position);
        if (run.end > 0 && runs_.differ_beside(run, start, compiled_.patterns.begin(at.pattern), length, most)) return;
        const int64_t* next = std::upper_bound(samples_.offset, samples_.offset + samples_.segments + 1, position);
        const int64_t segment = next - samples_.offset - 1, begin = samples_.offset[segment];
        if (start < begin || start + length > *next) return;
        if (segment == 0 && start + length <= samples_.carried) return;
        Columns columns;
        if (!compare(start, at.pattern, 0, length, most, columns)) return;
        if (columns.informative < compiled_.rules.min_informative) return;
        if (most > 0 && handle < compiled_.anchors() && !is_owner(handle, start)) return;
        const int64_t total = sums_.between(start, start + length);
        if (total < compiled_.patterns.least_total[at.pattern]) return;
        hits.push_back({segment, compiled_.patterns.signature[at.pattern], start - begin,
                        compiled_.patterns.strand[at.pattern], total, 1, columns.informative, columns.mismatches, 0});
    }

    // Several anchors of a pattern may find the same match. It counts for the first of those that match exactly.
    bool is_owner(uint32_t handle, int64_t start) const {
        const int64_t pattern = compiled_.handle[handle].pattern;
        Columns unused;
        for (int64_t a = compiled_.index.first_anchor()[pattern]; a < handle; ++a) {
            if (compare(start, pattern, compiled_.handle[a].offset, compiled_.index.bases(), 0, unused)) return false;
        }
        return compare(start, pattern, compiled_.handle[handle].offset, compiled_.index.bases(), 0, unused);
    }

    // `length` columns of a pattern that lies at `start`, from one of them on.
    bool compare(int64_t start, int64_t pattern, int64_t from, int64_t length, int64_t most, Columns& columns) const {
        return runs_.compare(start + from, compiled_.patterns.begin(pattern) + from, length, most, columns);
    }

    const CompiledPatterns& compiled_;
    const Samples& samples_;
    const QualitySums& sums_;
    const RunsOfN runs_;
};

}  // namespace

Scanner::Scanner(const ScanLevel& level, const Patterns& patterns, const MatchRules& rules)
    : compiled_(std::make_unique<CompiledPatterns>(level, patterns, rules)) {}

Scanner::~Scanner() = default;

FoundHits Scanner::scan(const Samples& samples, int threads, int64_t* totals, int64_t most) const {
    const QualitySums sums(samples.qualities, samples.bases(), threads);
    for (int64_t s = 0; s < samples.segments; ++s)
        totals[s] = sums.between(samples.offset[s] + (s == 0 ? samples.carried : 0), samples.offset[s + 1]);

    const Search search(*compiled_, samples, sums);
    std::vector<std::vector<Hit>> parts(static_cast<size_t>((search.tiles() + kTilesPerShare - 1) / kTilesPerShare));
    std::vector<int64_t> ends(parts.size());  // of what was searched of each share
    std::atomic<int64_t> count{0};
    run_shares(search.tiles(), kTilesPerShare, threads, [&](int64_t first, int64_t last) {
        const auto share = static_cast<size_t>(first / kTilesPerShare);
        for (int64_t t = ends[share] = first; t < last; ends[share] = ++t) {
            if (t * kTile >= samples.offset[1] && count.load(std::memory_order_relaxed) >= limit_of(t == first, most))
                return;
            const size_t before = parts[share].size();
            search.run(t, parts[share]);
            count += static_cast<int64_t>(parts[share].size() - before);
        }
    });
    // Shares begin in order: the tiles before the first one that was left out were all searched. A match lies in its
    // segment, and so do the letters that find it.
    int64_t searched = 0;
    for (size_t share = 0; share < ends.size() && searched == static_cast<int64_t>(share) * kTilesPerShare; ++share)
        searched = ends[share];
    const int64_t *begin = samples.offset + 1, *end = begin + samples.segments;
    FoundHits found{
        searched < search.tiles() ? std::upper_bound(begin, end, searched * kTile) - begin : samples.segments, {}};
    for (const auto& part : parts) found.hits.insert(found.hits.end(), part.begin(), part.end());
    const auto is_beyond = [&](const Hit& hit) { return hit.segment >= found.segments; };
    found.hits.erase(std::remove_if(found.hits.begin(), found.hits.end(), is_beyond), found.hits.end());
    search.reduce(found.hits, 0);
    return found;
}

}  // namespace pairhmm
