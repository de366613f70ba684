#include "calling/neighbours.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "calling/checksum.hpp"
#include "calling/cigar.hpp"
#include "calling/letters.hpp"

namespace pairhmm {

namespace {

// The fewest reads that show an SNV, and their least and highest share: below are errors, and above it, both
// chromosomes have it.
constexpr size_t kFewestReads = 2;
constexpr double kLeastShare = 0.03, kHighestShare = 0.8;
// The share of the fragments of either allele that have both where two alleles are seen together.
constexpr double kTogether = 0.7;
// Bases that a usual fragment shows alone: at least so many.
constexpr double kFewestLone = 0.3;
// A fragment of a copy shows so many mismatches. Where one does, those that show fewer may be of it, too.
constexpr int64_t kFewestOfFirst = 2;
// SNVs that are fewer bases apart are taken for one mutation: a chromosome has such pairs more often than by chance.
constexpr int64_t kOfOne = 3;

// A base of a read that differs from the reference: sample, position, letter, and the read.
using Mismatch = std::tuple<int32_t, int64_t, uint8_t, int64_t>;

// Calls `use(position, first base, length)` for the parts of a read that are aligned within [start, end).
template <class Use>
void for_aligned(const Reads& reads, int64_t read, int64_t start, int64_t end, Use&& use) {
    int64_t position = reads.start[read], base = reads.base_offset[read];
    for (int64_t c = reads.cigar_offset[read]; c < reads.cigar_offset[read + 1] && position < end; ++c) {
        const uint32_t operation = reads.cigar[c] & 15;
        const int64_t length = reads.cigar[c] >> 4;
        if (aligned(operation)) {
            const int64_t from = std::max(position, start), to = std::min(position + length, end);
            if (from < to) use(from, base + from - position, to - from);
            position += length;
            base += length;
        } else if (operation == kInsert || operation == kSoftClip) {
            base += length;
        } else if (operation == kDelete || operation == kSkip) {
            position += length;
        }
    }
}

// The part of a read that counts: [first, last).
std::pair<int64_t, int64_t> sure_part(const AlignedReads& reads, int64_t read, int64_t unsure) {
    return {reads.reads.start[read] + unsure, reads.end[read] - unsure};
}

std::vector<Mismatch> mismatches(const AlignedReads& aligned, const std::vector<int64_t>& chosen, int64_t start,
                                 const std::string& reference, int64_t unsure) {
    const Reads& reads = aligned.reads;
    const int64_t end = start + static_cast<int64_t>(reference.size());
    std::vector<Mismatch> found;
    for (const int64_t read : chosen) {
        const auto compare = [&](int64_t position, int64_t base, int64_t length) {
            const uint8_t* ours = reads.base + base;
            const auto* theirs = reinterpret_cast<const uint8_t*>(reference.data()) + position - start;
            for (int64_t i = 0; i < length; ++i) {
                // Most reads are like the reference: eight letters are compared at once.
                if (i + 8 <= length && std::memcmp(ours + i, theirs + i, 8) == 0) i += 7;
                else if (ours[i] != theirs[i] && ours[i] < kCodeOfN && theirs[i] < kCodeOfN &&
                         reads.quality[base + i] >= kMinQuality)
                    found.emplace_back(reads.sample[read], position + i, ours[i], read);
            }
        };
        const auto [first, last] = sure_part(aligned, read, unsure);
        for_aligned(reads, read, std::max(start, first), std::min(end, last), compare);
    }
    std::sort(found.begin(), found.end());
    return found;
}

FragmentNames fragments_of(const AlignedReads& reads, const std::vector<int64_t>& chosen) {
    FragmentNames fragments;
    for (const int64_t read : chosen) fragments.push_back(fragment_name(reads.name(read)));
    return ascending(std::move(fragments));
}

// Whether a read has a base at a position, which is known.
bool has_base(const Reads& reads, int64_t read, int64_t position) {
    bool found = false;
    for_aligned(reads, read, position, position + 1, [&](int64_t, int64_t base, int64_t) {
        found = reads.base[base] < kCodeOfN && reads.quality[base] >= kMinQuality;
    });
    return found;
}

std::vector<int64_t> reads_over(const AlignedReads& reads, const std::vector<int64_t>& chosen, int32_t sample,
                                int64_t position, int64_t unsure) {
    std::vector<int64_t> over;
    for (const int64_t read : chosen) {
        const auto [first, last] = sure_part(reads, read, unsure);
        if (reads.reads.sample[read] == sample && first <= position && position < last &&
            has_base(reads.reads, read, position))
            over.push_back(read);
    }
    return over;
}

// How many reads of a sample are over each position of [start, end).
class Depths {
public:
    Depths(const AlignedReads& reads, const std::vector<int64_t>& chosen, int64_t start, int64_t end, int64_t unsure)
        : start_(start) {
        for (const int64_t read : chosen) {
            auto [first, last] = sure_part(reads, read, unsure);
            first = std::max(first, start), last = std::min(last, end);
            if (first >= last) continue;
            std::vector<int32_t>& depth = of_sample_[reads.reads.sample[read]];
            depth.resize(static_cast<size_t>(end - start) + 1);
            ++depth[static_cast<size_t>(first - start)], --depth[static_cast<size_t>(last - start)];
        }
        for (auto& [sample, depth] : of_sample_) std::partial_sum(depth.begin(), depth.end(), depth.begin());
    }

    int32_t at(int32_t sample, int64_t position) const {
        return of_sample_.find(sample)->second[static_cast<size_t>(position - start_)];
    }

private:
    int64_t start_;
    std::map<int32_t, std::vector<int32_t>> of_sample_;
};

void add(FragmentNames& fragments, const FragmentNames& more) {
    FragmentNames both;
    std::set_union(fragments.begin(), fragments.end(), more.begin(), more.end(), std::back_inserter(both));
    fragments = std::move(both);
}

// Whether an allele of the fragments `theirs` is seen together with that of `ours`, among the fragments over both.
bool are_together(const Neighbour& theirs, const FragmentNames& covering, const FragmentNames& ours) {
    const int64_t both = shared(theirs.with, ours);
    const int64_t most = std::max(shared(theirs.covering, ours), shared(theirs.with, covering));
    return both > 0 && static_cast<double>(both) >= kTogether * static_cast<double>(most);
}

template <class Placed>
bool is_before(const Placed& a, const Placed& b) {
    return a.position < b.position;
}

// Drops what lies before a position.
template <class Placed>
void drop_before(std::vector<Placed>& all, int64_t position) {
    all.erase(all.begin(),
              std::find_if(all.begin(), all.end(), [&](const Placed& one) { return one.position >= position; }));
}

template <class Placed>
std::vector<Placed> part_of(const std::vector<Placed>& all, int64_t start, int64_t end) {
    std::vector<Placed> part;
    std::copy_if(all.begin(), all.end(), std::back_inserter(part),
                 [&](const Placed& one) { return start <= one.position && one.position < end; });
    return part;
}

// The parts of reads in [start, end).
std::vector<PlacedRead> reads_of(const std::vector<PlacedRead>& all, int64_t start, int64_t end) {
    std::vector<PlacedRead> part;
    part.reserve(all.size());
    for (const PlacedRead& read : all)
        if (std::max(read.position, start) < std::min(read.end, end))
            part.push_back({std::max(read.position, start), std::min(read.end, end), read.sample, read.fragment});
    return part;
}

// The bases that fragments cover, where reads are in order of start.
double covered(const std::vector<PlacedRead>& reads, const FragmentNames& fragments) {
    int64_t bases = 0, behind = 0;
    for (const PlacedRead& read : reads) {
        if (read.end <= behind || !is_in(read.fragment, fragments)) continue;
        bases += read.end - std::max(behind, read.position);
        behind = read.end;
    }
    return static_cast<double>(bases);
}

// The fragment that shows most of some SNVs.
std::pair<int64_t, int> most_of(const std::vector<const Neighbour*>& snvs) {
    std::map<int64_t, int> shown;
    std::pair<int64_t, int> most{0, 0};
    for (const Neighbour* one : snvs)
        for (const int64_t fragment : one->with)
            if (const int count = ++shown[fragment]; count > most.second) most = {fragment, count};
    return most;
}

// How many mismatches each of some fragments shows.
std::vector<int64_t> counts_of(const FragmentNames& fragments, const std::vector<const Neighbour*>& snvs,
                               const std::vector<const LoneMismatch*>& lone) {
    std::vector<int64_t> counts(fragments.size());
    const auto count = [&](int64_t fragment) {
        const auto at = std::lower_bound(fragments.begin(), fragments.end(), fragment);
        if (at != fragments.end() && *at == fragment) ++counts[static_cast<size_t>(at - fragments.begin())];
    };
    for (const Neighbour* one : snvs) std::for_each(one->with.begin(), one->with.end(), count);
    for (const LoneMismatch* one : lone) count(one->fragment);
    return counts;
}

// The fragments that are linked to one, all over the alleles that link them, and what they show.
Cluster cluster_around(int64_t fragment, const FragmentNames& covering, std::vector<const Neighbour*>& apart,
                       const std::vector<const LoneMismatch*>& lone) {
    Cluster found;
    // What is linked to these is linked, too.
    FragmentNames all{fragment};
    found.own = all;
    // The first allele is that of the smallest share: chromosomes share the others.
    const auto rarer = [&](const Neighbour* a, const Neighbour* b) {
        const bool has_a = is_in(fragment, a->with), has_b = is_in(fragment, b->with);
        return has_a != has_b ? has_a : a->with.size() * b->covering.size() < b->with.size() * a->covering.size();
    };
    const auto is_linked = [&](const Neighbour* one) { return are_together(*one, all, found.own); };
    for (auto next = std::min_element(apart.begin(), apart.end(), rarer);
         next != apart.end() && (found.snvs > 0 || is_linked(*next));
         next = std::find_if(apart.begin(), apart.end(), is_linked)) {
        add(all, (*next)->covering);
        add(found.own, (*next)->with);
        const int64_t position = (*next)->position;
        apart.erase(std::remove_if(apart.begin(), apart.end(),
                                   [&](const Neighbour* one) { return std::abs(one->position - position) < kOfOne; }),
                    apart.end());
        ++found.snvs;
    }
    int64_t lone_of_others = 0;
    for (const LoneMismatch* one : lone) {
        if (is_in(one->fragment, found.own)) ++found.lone;
        else lone_of_others += is_in(one->fragment, all);
    }
    const auto size = static_cast<double>(found.own.size()), others = static_cast<double>(all.size()) - size;
    found.usual_lone = size * std::max(kFewestLone, (static_cast<double>(lone_of_others) + 0.5) / (others + 1));
    std::set_difference(all.begin(), all.end(), found.own.begin(), found.own.end(), std::back_inserter(found.apart));
    const auto elsewhere = [&](const FragmentNames& fragments) {
        return static_cast<int64_t>(fragments.size()) - shared(fragments, covering);
    };
    found.all = {static_cast<int64_t>(all.size()), static_cast<int64_t>(found.own.size())};
    found.elsewhere = {elsewhere(all), elsewhere(found.own)};
    return found;
}

}  // namespace

double covered_beyond(const std::vector<PlacedRead>& reads, const FragmentNames& fragments,
                      const FragmentNames& others) {
    FragmentNames all = others;
    add(all, fragments);
    return covered(reads, all) - covered(reads, others);
}

bool is_of_all(const Neighbour& snv) {
    return static_cast<double>(snv.with.size()) > kHighestShare * static_cast<double>(snv.covering.size());
}

int64_t fragment_name(std::string_view name) { return checksum(name); }

FragmentNames ascending(FragmentNames names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

bool is_in(int64_t fragment, const FragmentNames& fragments) {
    return std::binary_search(fragments.begin(), fragments.end(), fragment);
}

int64_t shared(const FragmentNames& ours, const FragmentNames& theirs) {
    return std::count_if(ours.begin(), ours.end(), [&](int64_t fragment) { return is_in(fragment, theirs); });
}

Mismatches shown_mismatches(const AlignedReads& reads, const std::vector<int64_t>& chosen, const std::string& chrom,
                            ReferenceBases& reference, int64_t start, int64_t end, int64_t unsure) {
    std::string letters = reference.fetch(chrom, start, end);
    std::transform(letters.begin(), letters.end(), letters.begin(), code_of);
    const std::vector<Mismatch> all = mismatches(reads, chosen, start, letters, unsure);
    const auto site_of = [](const Mismatch& one) {
        return std::tuple(std::get<0>(one), std::get<1>(one), std::get<2>(one));
    };
    const Depths depths(reads, chosen, start, start + static_cast<int64_t>(letters.size()), unsure);
    Mismatches found;
    for (size_t first = 0, behind = 0; first < all.size(); first = behind) {
        std::vector<int64_t> with;
        for (; behind < all.size() && site_of(all[behind]) == site_of(all[first]); ++behind)
            with.push_back(std::get<3>(all[behind]));
        const auto [sample, position, letter] = site_of(all[first]);
        if (with.size() < kFewestReads) {
            found.lone.push_back({position, with.front()});
            continue;
        }
        if (static_cast<double>(with.size()) < kLeastShare * depths.at(sample, position)) continue;
        found.snvs.push_back(
            {position, sample, letter, reads_over(reads, chosen, sample, position, unsure), std::move(with)});
    }
    return found;
}

EndsOfFragments ends_of(const std::vector<PlacedRead>& placed) {
    EndsOfFragments of_fragment;
    for (const PlacedRead& one : placed) {
        PlacedFragment& ends =
            of_fragment.try_emplace({one.sample, one.fragment}, PlacedFragment{one.position, one.end, 0}).first->second;
        ends = {std::min(ends.start, one.position), std::max(ends.end, one.end), ends.reads + 1};
    }
    return of_fragment;
}

Mismatches between_primers(const Mismatches& all, EndsOfFragments ends) {
    // kUnsureEnd bases at either end do not count anyway.
    for (auto& [fragment, own] : ends) own.start += kPrimer - kUnsureEnd, own.end -= kPrimer - kUnsureEnd;
    Mismatches found{{}, all.lone, {}};
    for (PlacedRead read : all.reads) {
        const PlacedFragment& own = ends.find({read.sample, read.fragment})->second;
        read.position = std::max(read.position, own.start), read.end = std::min(read.end, own.end);
        if (read.position < read.end) found.reads.push_back(read);
    }
    std::stable_sort(found.reads.begin(), found.reads.end(), is_before<PlacedRead>);
    for (Neighbour snv : all.snvs) {
        const auto is_outside = [&](int64_t fragment) {
            const auto own = ends.find({snv.sample, fragment});
            return own == ends.end() || snv.position < own->second.start || snv.position >= own->second.end;
        };
        for (FragmentNames* own : {&snv.covering, &snv.with})
            own->erase(std::remove_if(own->begin(), own->end(), is_outside), own->end());
        if (snv.with.size() >= kFewestReads && !is_of_all(snv)) found.snvs.push_back(std::move(snv));
    }
    return found;
}

void join_copies(const EndsOfFragments& ends, const std::vector<int64_t>& names, const std::vector<int32_t>& sample,
                 std::vector<int64_t>& fragment) {
    std::map<std::tuple<int32_t, int64_t, int64_t>, int64_t> first_of;
    std::vector<int64_t> joined(fragment);
    size_t fragments = 0, copies = 0;
    for (size_t read = 0; read < fragment.size(); ++read) {
        if (fragment[read] != static_cast<int64_t>(read)) {
            joined[read] = joined[static_cast<size_t>(fragment[read])];
            continue;
        }
        ++fragments;
        const auto found = ends.find({sample[read], names[read]});
        if (found == ends.end() || found->second.reads != 2) continue;
        const auto [first, is_new] =
            first_of.try_emplace({sample[read], found->second.start, found->second.end}, joined[read]);
        joined[read] = first->second;
        copies += !is_new;
    }
    if (2 * copies <= fragments) fragment = std::move(joined);
}

Mismatches NeighbourFinder::near(const ReadBuffer& buffer, ReferenceBases& reference, int64_t start, int64_t end) {
    start = std::max<int64_t>(0, start - kNeighbourhood), end += kNeighbourhood;
    if (buffer.chrom() != chrom_ || start < begin_ || start > end_) {
        chrom_ = buffer.chrom();
        begin_ = end_ = start;
        known_ = {};
    }
    drop_before(known_.snvs, start);
    drop_before(known_.lone, start);
    known_.reads.erase(std::remove_if(known_.reads.begin(), known_.reads.end(),
                                      [&](const PlacedRead& read) { return read.end <= start; }),
                       known_.reads.end());
    begin_ = start;
    if (end > end_) extend(buffer, reference, end_, end);
    return {part_of(known_.snvs, start, end), part_of(known_.lone, start, end), reads_of(known_.reads, start, end)};
}

void NeighbourFinder::extend(const ReadBuffer& buffer, ReferenceBases& reference, int64_t start, int64_t end) {
    const AlignedReads reads = buffer.view();
    const std::vector<int64_t> chosen = buffer.over(start, end);
    Mismatches more = shown_mismatches(reads, chosen, buffer.chrom(), reference, start, end, kUnsureEnd);
    const bool is_first = known_.reads.empty();
    for (const int64_t read : chosen) {
        const int64_t from = reads.reads.start[read];
        const auto [first, last] = sure_part(reads, read, kUnsureEnd);
        if (is_first || from >= start)
            known_.reads.push_back({first, last, reads.reads.sample[read], fragment_name(reads.name(read))});
    }
    std::stable_sort(more.snvs.begin(), more.snvs.end(), is_before<Neighbour>);
    std::stable_sort(more.lone.begin(), more.lone.end(), is_before<LoneMismatch>);
    for (Neighbour& snv : more.snvs) {
        if (is_of_all(snv)) continue;
        for (auto* own : {&snv.covering, &snv.with}) *own = fragments_of(reads, *own);
        known_.snvs.push_back(std::move(snv));
    }
    for (LoneMismatch& one : more.lone) {
        one.fragment = fragment_name(reads.name(one.fragment));
        known_.lone.push_back(one);
    }
    end_ = end;
}

std::vector<Cluster> clusters_of(const Mismatches& neighbours, int32_t sample, int64_t first, int64_t last,
                                 const FragmentNames& covering) {
    std::vector<Cluster> found;
    std::vector<const Neighbour*> apart;
    for (const Neighbour& one : neighbours.snvs)
        if (one.sample == sample && (one.position <= first - kOfOne || one.position >= last - 1 + kOfOne))
            apart.push_back(&one);
    std::vector<const LoneMismatch*> lone;
    for (const LoneMismatch& one : neighbours.lone)
        if (one.position < first || one.position >= last) lone.push_back(&one);
    double bases = 1;
    for (const PlacedRead& read : neighbours.reads) bases += static_cast<double>(read.end - read.position);
    // An allele is of one cluster: fragments that show more take it.
    FragmentNames rest = covering;
    const auto add_around = [&](int64_t fragment) {
        Cluster& cluster = found.emplace_back(cluster_around(fragment, covering, apart, lone));
        cluster.bases = covered(neighbours.reads, cluster.own);
        cluster.errors = (static_cast<double>(neighbours.lone.size()) + 0.5) / bases;
    };
    while (!rest.empty()) {
        const std::vector<int64_t> shown = counts_of(rest, apart, lone);
        const auto most = std::max_element(shown.begin(), shown.end());
        if (*most < (found.empty() ? kFewestOfFirst : 1)) break;
        add_around(rest[static_cast<size_t>(most - shown.begin())]);
        Cluster& cluster = found.back();
        FragmentNames without;
        std::set_difference(rest.begin(), rest.end(), cluster.own.begin(), cluster.own.end(),
                            std::back_inserter(without));
        std::set_intersection(rest.begin(), rest.end(), cluster.own.begin(), cluster.own.end(),
                              std::back_inserter(cluster.here));
        rest = std::move(without);
    }
    for (auto [fragment, snvs] = most_of(apart); snvs >= kFewestOfFirst; std::tie(fragment, snvs) = most_of(apart)) {
        add_around(fragment);
    }
    return found;
}

}  // namespace pairhmm
