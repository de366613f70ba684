#include "calling/haplotypes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "calling/letters.hpp"
#include "calling/mixtures.hpp"

namespace pairhmm {

namespace {

using Combination = std::vector<int16_t>;

// The change of an alternative allele: reference bases [start, end) become `bases`.
struct Edit {
    int64_t start, end;
    std::string bases;

    // Whether no haplotype can have both: they change the same bases, or insert at the same place.
    bool conflicts(const Edit& other) const {
        const bool is_same_place = start == other.start && end == other.end;
        return is_same_place || (start < other.end && other.start < end);
    }
};

// [candidates][alternative alleles]
using Edits = std::vector<std::vector<Edit>>;

Edits edits_of(const Region& region) {
    Edits edits;
    for (const Variant& variant : region.variants) {
        auto& row = edits.emplace_back();
        for (const std::string& alt : variant.alts) {
            const TrimmedAllele allele = trim_allele(variant.ref, alt);
            const int64_t start = variant.pos + allele.head;
            row.push_back({start, start + static_cast<int64_t>(allele.ref.size()), std::string(allele.alt)});
        }
    }
    return edits;
}

std::vector<const Edit*> chosen_edits(const Edits& edits, const Combination& alleles) {
    std::vector<const Edit*> chosen;
    for (size_t candidate = 0; candidate < alleles.size(); ++candidate)
        if (alleles[candidate]) chosen.push_back(&edits[candidate][alleles[candidate] - 1]);
    return chosen;
}

// The reference, which begins at `offset`, after some edits that do not conflict.
std::string applied(const std::string& reference, int64_t offset, std::vector<const Edit*> edits) {
    std::sort(edits.begin(), edits.end(), [](const Edit* one, const Edit* other) {
        return std::tie(one->start, one->end) < std::tie(other->start, other->end);
    });
    const auto size = static_cast<int64_t>(reference.size());
    const auto place = [&](int64_t position) { return std::clamp<int64_t>(position - offset, 0, size); };
    std::string sequence;
    sequence.reserve(reference.size() + 16);
    int64_t from = 0;
    for (const Edit* edit : edits) {
        sequence.append(reference, from, std::max<int64_t>(0, place(edit->start) - from));
        sequence += edit->bases;
        from = place(edit->end);
    }
    return sequence.append(reference, from, std::string::npos);
}

int changes_of(const Combination& combination) {
    return static_cast<int>(
        std::count_if(combination.begin(), combination.end(), [](int16_t allele) { return allele != 0; }));
}

// The distinct rows of carried alleles, and the number of reads with each.
struct Patterns {
    std::vector<Combination> shown;
    std::vector<int64_t> reads;
};

Patterns patterns_of(const Region& region, const CarriedAlleles& carried) {
    Patterns patterns;
    if (!carried) return patterns;
    const std::vector<int16_t> alleles = carried(region);
    const auto candidates = static_cast<int64_t>(region.variants.size());
    std::vector<Combination> rows;
    for (auto row = alleles.begin(); row != alleles.end(); row += candidates) rows.emplace_back(row, row + candidates);
    std::sort(rows.begin(), rows.end());
    for (auto& row : rows) {
        if (patterns.shown.empty() || patterns.shown.back() != row) {
            patterns.shown.push_back(std::move(row));
            patterns.reads.push_back(0);
        }
        ++patterns.reads.back();
    }
    return patterns;
}

// The patterns of a region's reads, asked for once.
class LazyPatterns {
public:
    LazyPatterns(const Region& region, const CarriedAlleles& carried) : region_(region), carried_(carried) {}

    const Patterns& get() {
        if (!patterns_) patterns_ = patterns_of(region_, carried_);
        return *patterns_;
    }

private:
    const Region& region_;
    const CarriedAlleles& carried_;
    std::optional<Patterns> patterns_;
};

// How well reads support combinations of the first `size` candidates. A read supports one that agrees with it at every
// candidate that it shows, and counts once for each of these.
class Support {
public:
    Support(const Patterns& patterns, size_t size) : patterns_(patterns) {
        for (size_t i = 0; i < patterns.shown.size(); ++i) {
            const auto& row = patterns.shown[i];
            weight_.push_back(patterns.reads[i] *
                              (static_cast<int64_t>(size) -
                               std::count(row.begin(), row.begin() + static_cast<int64_t>(size), kUnknownAllele)));
        }
    }

    int64_t of(const Combination& combination) const {
        int64_t sum = 0;
        for (size_t i = 0; i < weight_.size(); ++i)
            if (agree(combination, patterns_.shown[i])) sum += weight_[i];
        return sum;
    }

private:
    static bool agree(const Combination& combination, const Combination& shown) {
        for (size_t candidate = 0; candidate < combination.size(); ++candidate)
            if (shown[candidate] != combination[candidate] && shown[candidate] != kUnknownAllele) return false;
        return true;
    }

    const Patterns& patterns_;
    std::vector<int64_t> weight_;  // [patterns]
};

// How many words of a combination no read has. Alignments may place its alleles in other ways, reads spell it.
class UnreadWords {
public:
    UnreadWords(const Region& region, const Edits& edits, const std::string& reference, const ReadWords& words)
        : edits_(edits), words_(words) {
        const int64_t start = std::max(region.haplotype_start, region.core_start - kWordLetters);
        const auto size = static_cast<size_t>(std::max<int64_t>(0, region.core_end + kWordLetters - start));
        start_ = start;
        reference_ = reference.substr(static_cast<size_t>(start - region.haplotype_start), size);
        next_.assign(edits.size() + 1, start + static_cast<int64_t>(reference_.size()));
        for (size_t i = edits.size(); i-- > 0;) {
            next_[i] = next_[i + 1];
            for (const Edit& edit : edits[i]) next_[i] = std::min(next_[i], edit.start);
        }
    }

    // Letters do not count yet from where later candidates may change them.
    int64_t of(const Combination& combination) {
        if (!words_) return 0;
        if (!read_) read_ = words_();
        const std::string known = reference_.substr(0, static_cast<size_t>(next_[combination.size()] - start_));
        std::string spelled = applied(known, start_, chosen_edits(edits_, combination));
        std::transform(spelled.begin(), spelled.end(), spelled.begin(), [](char base) { return char(code_of(base)); });
        const Stretch letters{reinterpret_cast<const uint8_t*>(spelled.data()), static_cast<int64_t>(spelled.size())};
        const std::vector<uint64_t> hashes = hashes_of_edges(letters, kWordLetters - 1);
        return std::count_if(hashes.begin(), hashes.end(), [&](uint64_t hash) { return !read_->has(hash); });
    }

private:
    const Edits& edits_;
    const ReadWords& words_;
    std::string reference_;
    int64_t start_;
    std::vector<int64_t> next_;  // [candidates + 1] the first letter that this one or a later one may change
    std::optional<EdgeSet> read_;
};

// The `most` combinations that reads spell and support best, always with the reference and each allele by itself.
std::vector<Combination> supported(std::vector<Combination>&& combinations, const Patterns& patterns,
                                   UnreadWords& unread, int64_t most) {
    struct Place {
        bool is_combined;
        int64_t unread;
        int64_t support;
        int changes;
        size_t number;
    };
    const Support support(patterns, combinations.front().size());
    std::vector<Place> order;
    int64_t always = 0;
    for (size_t i = 0; i < combinations.size(); ++i) {
        const int changes = changes_of(combinations[i]);
        order.push_back({changes > 1, unread.of(combinations[i]), support.of(combinations[i]), changes, i});
        always += changes <= 1;
    }
    std::sort(order.begin(), order.end(), [&](const Place& one, const Place& other) {
        return std::tie(one.is_combined, one.unread, other.support, one.changes, combinations[one.number]) <
               std::tie(other.is_combined, other.unread, one.support, other.changes, combinations[other.number]);
    });
    std::vector<Combination> kept;
    for (size_t i = 0; i < order.size() && static_cast<int64_t>(i) < std::max(most, always); ++i)
        kept.push_back(std::move(combinations[order[i].number]));
    return kept;
}

// Each combination with each allele of the next candidate that does not conflict with it.
std::vector<Combination> extended(const std::vector<Combination>& combinations, const Edits& edits, size_t candidate) {
    std::vector<Combination> longer;
    for (const Combination& combination : combinations) {
        const auto chosen = chosen_edits(edits, combination);
        const auto extend = [&](int16_t allele) {
            auto& one = longer.emplace_back();
            one.reserve(combination.size() + 1);
            one = combination;
            one.push_back(allele);
        };
        extend(0);
        for (size_t i = 0; i < edits[candidate].size(); ++i) {
            const Edit& edit = edits[candidate][i];
            if (std::none_of(chosen.begin(), chosen.end(), [&](const Edit* other) { return edit.conflicts(*other); }))
                extend(static_cast<int16_t>(i + 1));
        }
    }
    return longer;
}

// Combinations of alleles without conflicts, in lexicographic order. They grow from left to right, candidate by
// candidate; each time, `kept` chooses those that grow on. All alleles of a single candidate stand by themselves.
template <class Kept>
std::vector<Combination> grown(const Edits& edits, const Kept& kept) {
    std::vector<Combination> combinations{{}};
    for (size_t candidate = 0; candidate < edits.size(); ++candidate) {
        combinations = extended(combinations, edits, candidate);
        if (edits.size() > 1) combinations = kept(std::move(combinations));
    }
    std::sort(combinations.begin(), combinations.end());
    return combinations;
}

// Combinations of alleles, at most `most`. Whenever there are more, only those that reads spell and support best are
// kept. The reference and each allele by itself are always kept, so that every allele has a haplotype.
std::vector<Combination> combinations_of(const Edits& edits, int64_t most, LazyPatterns& patterns,
                                         UnreadWords& unread) {
    return grown(edits, [&](std::vector<Combination>&& all) {
        if (static_cast<int64_t>(all.size()) <= most) return std::move(all);
        return supported(std::move(all), patterns.get(), unread, most);
    });
}

// The log10 of a likelihood by which one allele that a fragment carries, and two or more, speak against a combination
// that has others: an error of Phred 30 in one of three letters.
constexpr double kOtherAllele = 3.5, kOtherAlleles = 4.5;
// The fewest fragments of a combination in a mixture.
constexpr double kFewestFragments = 2;

// What fragments that carry alleles say of combinations.
MixtureRows rows_of(const std::vector<Combination>& combinations, const Patterns& patterns) {
    std::map<std::vector<uint8_t>, int64_t> distinct;
    std::vector<uint8_t> others(combinations.size());
    for (size_t row = 0; row < patterns.shown.size(); ++row) {
        const Combination& shown = patterns.shown[row];
        for (size_t i = 0; i < combinations.size(); ++i) {
            uint8_t count = 0;
            for (size_t site = 0; site < combinations[i].size() && count < 2; ++site)
                count += shown[site] != kUnknownAllele && shown[site] != combinations[i][site];
            others[i] = count;
        }
        distinct[others] += patterns.reads[row];
    }
    const double likelihoods[] = {1, std::pow(10.0, -kOtherAllele), std::pow(10.0, -kOtherAlleles)};
    MixtureRows rows{static_cast<int64_t>(combinations.size()), {}, {}};
    for (const auto& [row, count] : distinct) {
        const uint8_t least = *std::min_element(row.begin(), row.end());
        for (const uint8_t other : row) rows.likelihoods.push_back(likelihoods[other] / likelihoods[least]);
        rows.counts.push_back(static_cast<double>(count));
    }
    return rows;
}

// The combinations of a mixture that fragments are of, at most `most`, always with the reference, and of each allele
// with the one that has it and most weight.
std::vector<Combination> weighty(const std::vector<Combination>& combinations, const Patterns& patterns, int64_t most) {
    const MixtureRows rows = rows_of(combinations, patterns);
    const double fragments = std::accumulate(rows.counts.begin(), rows.counts.end(), 0.0);
    const Mixture mixture(rows);
    std::vector<size_t> order(combinations.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t one, size_t other) { return mixture.weights()[one] > mixture.weights()[other]; });
    std::set<std::pair<size_t, int16_t>> had;
    std::vector<Combination> kept;
    for (const size_t i : order) {
        bool is_needed = changes_of(combinations[i]) == 0 || (mixture.weights()[i] * fragments >= kFewestFragments &&
                                                              static_cast<int64_t>(kept.size()) < most);
        for (size_t site = 0; site < combinations[i].size(); ++site)
            is_needed |= !had.count({site, combinations[i][site]});
        if (!is_needed) continue;
        for (size_t site = 0; site < combinations[i].size(); ++site) had.insert({site, combinations[i][site]});
        kept.push_back(combinations[i]);
    }
    return kept;
}

// Those of a mixture, as `weighty` gives them.
std::vector<Combination> mixed_combinations(const Edits& edits, int64_t most, LazyPatterns& patterns) {
    return grown(edits, [&](std::vector<Combination>&& all) { return weighty(all, patterns.get(), most); });
}

// Whether `inner` has some, but not all, of the alternative alleles of `outer`, and no other.
bool is_contained(const Combination& inner, const Combination& outer) {
    if (inner == outer) return false;
    for (size_t i = 0; i < inner.size(); ++i)
        if (inner[i] != 0 && inner[i] != outer[i]) return false;
    return true;
}

// What combinations of a region spell haplotypes from. The reference begins at `offset`.
struct Spelling {
    const Edits& edits;
    const std::string& reference;
    int64_t offset;
};

// The reference letters that edits replace, and those that they put there.
size_t size_of(const std::vector<const Edit*>& edits) {
    size_t size = 0;
    for (const Edit* edit : edits) size += static_cast<size_t>(edit->end - edit->start) + edit->bases.size();
    return size;
}

// Whether alleles that a combination has beyond those that it shares with another take back what they change, in part:
// an insertion of a unit and a deletion of two are a deletion of one.
bool takes_back(const Combination& combination, const Combination& other, const Spelling& spelling) {
    Combination own(combination);
    for (size_t i = 0; i < own.size(); ++i)
        if (own[i] == other[i]) own[i] = 0;
    const std::vector<const Edit*> edits = chosen_edits(spelling.edits, own);
    const std::string sequence = applied(spelling.reference, spelling.offset, edits);
    const TrimmedAllele change = trim_allele(spelling.reference, sequence);
    return change.ref.size() + change.alt.size() < size_of(edits);
}

// Whether a combination takes back what it changes, and another that spells the same does not.
bool is_plainer(const Combination& other, const Combination& combination, const Spelling& spelling) {
    return takes_back(combination, other, spelling) && !takes_back(other, combination, spelling);
}

// The combinations that spell one haplotype without those of which some alleles alone spell the same, as where an
// insertion and a deletion cancel.
std::vector<Combination> without_needless(const std::vector<Combination>& members) {
    std::vector<Combination> kept;
    for (const Combination& member : members) {
        const auto contains = [&](const Combination& other) { return is_contained(other, member); };
        if (std::none_of(members.begin(), members.end(), contains)) kept.push_back(member);
    }
    return kept;
}

// The combinations that spell one haplotype without those that take back what they change where others do not.
std::vector<Combination> plainest(const std::vector<Combination>& members, const Spelling& spelling) {
    std::vector<Combination> plain;
    for (const Combination& member : members) {
        const auto is_better = [&](const Combination& other) { return is_plainer(other, member, spelling); };
        if (members.size() == 1 || std::none_of(members.begin(), members.end(), is_better)) plain.push_back(member);
    }
    return plain;
}

// All alleles of some combinations that spell a haplotype.
Combination merged_alleles(const std::vector<Combination>& members) {
    Combination merged(members.front().size(), 0);
    for (const Combination& member : members)
        for (size_t i = 0; i < merged.size(); ++i)
            if (merged[i] == 0) merged[i] = member[i];
    return merged;
}

// How many reads show each alternative allele of a combination, the fewest first.
std::vector<int64_t> shown_alleles(const Combination& combination, const Patterns& patterns) {
    std::vector<int64_t> reads;
    for (size_t i = 0; i < combination.size(); ++i) {
        if (combination[i] == 0) continue;
        reads.push_back(0);
        for (size_t row = 0; row < patterns.shown.size(); ++row)
            if (patterns.shown[row][i] == combination[i]) reads.back() += patterns.reads[row];
    }
    std::sort(reads.begin(), reads.end());
    return reads;
}

// The combination, of those that spell a haplotype, whose alleles the alignments of reads show: where it shares alleles
// with another, the others decide. Of equal ones, that with fewer alleles.
Combination shown_best(const std::vector<Combination>& members, LazyPatterns& patterns) {
    std::vector<Combination> rivals = without_needless(members);
    if (rivals.size() == 1) return rivals.front();
    const auto is_less_shown = [&](const Combination& one, const Combination& other) {
        std::vector<int64_t> own = shown_alleles(one, patterns.get()), theirs = shown_alleles(other, patterns.get());
        // Behind its last allele, a combination lacks none.
        own.push_back(std::numeric_limits<int64_t>::max());
        theirs.push_back(std::numeric_limits<int64_t>::max());
        return own < theirs;
    };
    return *std::max_element(rivals.begin(), rivals.end(), is_less_shown);
}

// The combinations with the fewest alleles of nuisances.
std::vector<Combination> least_unlisted(const Region& region, std::vector<Combination> members) {
    const auto nuisances = [&](const Combination& member) {
        int count = 0;
        for (size_t i = 0; i < member.size(); ++i)
            count += member[i] != 0 && region.variants[i].role == Role::kNuisance;
        return count;
    };
    int least = nuisances(members.front());
    for (const Combination& member : members) least = std::min(least, nuisances(member));
    const auto has_more = [&](const Combination& member) { return nuisances(member) > least; };
    members.erase(std::remove_if(members.begin(), members.end(), has_more), members.end());
    return members;
}

// The alleles of a haplotype where they are listed: all of the plainest combinations with the fewest nuisances, for
// each of these was asked for.
Combination listed_alleles(const Region& region, const std::vector<Combination>& members, const Spelling& spelling) {
    return merged_alleles(least_unlisted(region, plainest(without_needless(members), spelling)));
}

// The haplotypes that the combinations of all alleles of a region spell, in the order of the first of each.
std::vector<Haplotype> spelled(const Region& region, const std::string& reference, int64_t most,
                               const CarriedAlleles& carried, const ReadWords& words, bool are_discovered,
                               bool of_mixture) {
    LazyPatterns patterns(region, carried);
    const Edits edits = edits_of(region);
    UnreadWords unread(region, edits, reference, words);
    std::vector<Haplotype> haplotypes;
    std::vector<std::vector<Combination>> members;
    std::unordered_map<std::string, size_t> known;
    for (auto& combination :
         of_mixture ? mixed_combinations(edits, most, patterns) : combinations_of(edits, most, patterns, unread)) {
        const auto [at, is_new] = known.try_emplace(
            applied(reference, region.haplotype_start, chosen_edits(edits, combination)), haplotypes.size());
        if (is_new) {
            haplotypes.push_back({at->first, {}, "", false});
            members.emplace_back();
        }
        members[at->second].push_back(std::move(combination));
    }
    for (size_t i = 0; i < haplotypes.size(); ++i)
        haplotypes[i].alleles = are_discovered
                                    ? shown_best(members[i], patterns)
                                    : listed_alleles(region, members[i], {edits, reference, region.haplotype_start});
    return haplotypes;
}

}  // namespace

std::vector<Haplotype> build_haplotypes(const Region& region, const std::string& reference, int64_t most,
                                        const CarriedAlleles& carried, const ReadWords& words, bool are_discovered,
                                        bool of_mixture) {
    const auto is_own = [](const Variant& variant) { return variant.role != Role::kNuisance; };
    if (std::all_of(region.variants.begin(), region.variants.end(), is_own))
        return spelled(region, reference, most, carried, words, are_discovered, of_mixture);
    // Combinations with a nuisance are counted apart, so that they do not displace others.
    const Region own = without_nuisances(region);
    std::vector<Haplotype> haplotypes = spelled(own, reference, most, carried, words, false, of_mixture);
    for (Haplotype& haplotype : haplotypes) {
        std::vector<int16_t> alleles(region.variants.size(), 0);
        auto next = haplotype.alleles.begin();
        for (size_t i = 0; i < alleles.size(); ++i)
            if (is_own(region.variants[i])) alleles[i] = *next++;
        haplotype.alleles = std::move(alleles);
    }
    const size_t first = haplotypes.size();
    const Edits edits = edits_of(region);
    const Spelling spelling{edits, reference, region.haplotype_start};
    for (Haplotype& haplotype : spelled(region, reference, most, carried, words, false, of_mixture)) {
        haplotype.is_nuisance = true;
        const auto behind = haplotypes.begin() + static_cast<int64_t>(first);
        const auto same = std::find_if(haplotypes.begin(), behind,
                                       [&](const Haplotype& other) { return other.sequence == haplotype.sequence; });
        if (same == behind) haplotypes.push_back(std::move(haplotype));
        // Listed alleles that take back each other do not hide a nuisance.
        else if (is_plainer(haplotype.alleles, same->alleles, spelling)) *same = std::move(haplotype);
    }
    return haplotypes;
}

Region without_nuisances(const Region& region) {
    Region own = region;
    own.variants.clear();
    own.extents.clear();
    for (size_t i = 0; i < region.variants.size(); ++i) {
        if (region.variants[i].role == Role::kNuisance) continue;
        own.variants.push_back(region.variants[i]);
        own.extents.push_back(region.extents[i]);
    }
    return own;
}

}  // namespace pairhmm
