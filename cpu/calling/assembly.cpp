#include "calling/assembly.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "align/level.hpp"
#include "calling/haplotype_alignment.hpp"

namespace pairhmm {

namespace {

constexpr int kLeastK = 25, kMostK = 125, kStepK = 10;
// Detours from one node of the reference.
constexpr int kMostDetours = 16;
// Differences with at most so many letters between them. Of sequences that have nothing in common, an alignment makes
// so many differences, of which so many are indels.
constexpr int64_t kNear = 10;
constexpr int64_t kMostApart = 3, kMostIndels = 1;
// Letters that they leave, for each that they change, where what is replaced may be unrelated. Relatives share more.
constexpr int64_t kLeftOfEach = 2;
// A way back is a second copy of as many letters. Of shorter ones, reads may have three or more: a longer k tells.
constexpr int64_t kLeastCopied = 50;

// Where a detour differs from the reference.
class Differences {
public:
    Differences(int64_t start, Stretch reference, std::vector<Candidate>& found)
        : start_(start), reference_(reference), found_(found) {}

    // A detour whose first letter replaces that of the reference at `from`; `cigar` aligns them.
    void add(int64_t from, const uint8_t* letters, const std::vector<uint32_t>& cigar) {
        lowest_ = 0;
        int64_t position = from;
        for (const uint32_t packed : cigar) {
            const int64_t length = packed >> 4;
            switch (packed & 15) {
                case kMatched:
                    for (int64_t i = 0; i < length; ++i, ++position, ++letters)
                        if (*letters != reference_.letter[position]) add_snv(position, *letters);
                    break;
                case kInserted:
                    add_insertion(position - 1, std::string(letters, letters + length));
                    letters += length;
                    break;
                default: add_deletion(position - 1, length); position += length;
            }
        }
    }

private:
    void add_snv(int64_t position, uint8_t letter) {
        found_.push_back({start_ + position, 1, false, std::string(1, char(letter))});
        lowest_ = position;
    }

    void add_insertion(int64_t anchor, std::string letters) {
        const int64_t end = anchor + 1, length = static_cast<int64_t>(letters.size());
        int64_t turns = 0;
        for (; anchor > lowest_ && reference_.letter[anchor] == uint8_t(letters[length - 1 - turns % length]); --anchor)
            ++turns;
        std::rotate(letters.begin(), letters.end() - turns % length, letters.end());
        found_.push_back({start_ + anchor, 0, true, std::move(letters)});
        lowest_ = end;
    }

    void add_deletion(int64_t anchor, int64_t length) {
        const int64_t end = anchor + 1 + length;
        while (anchor > lowest_ && reference_.letter[anchor] == reference_.letter[anchor + length]) --anchor;
        found_.push_back({start_ + anchor, static_cast<int32_t>(length), true, std::string()});
        lowest_ = end;
    }

    int64_t start_;
    Stretch reference_;
    std::vector<Candidate>& found_;
    int64_t lowest_ = 0;  // no indel is shifted to before it: the reference alone lies in between
};

// What at least weighs as so many reads, to the nearest: of a few reads, poor letters leave parts.
uint32_t weight_of_reads(int count) { return kWhole * static_cast<uint32_t>(count) - kWhole / 2; }

// Alignments show SNVs that stand alone: for them parts of reads do not count.
bool is_supported(const Candidate& allele, const KmerGraph::Detour& detour, bool has_indels,
                  const CandidateThresholds& thresholds) {
    const int count = allele.indel ? thresholds.min_indel_count : thresholds.min_snv_count;
    const double fraction = allele.indel ? thresholds.min_indel_fraction : thresholds.min_snv_fraction;
    const bool has_reads = has_indels ? detour.weight >= weight_of_reads(count)
                                      : !detour.is_united && detour.weight >= kWhole * static_cast<uint32_t>(count);
    return has_reads && detour.weight >= fraction * detour.leaving;
}

bool is_short_copy(const KmerGraph::Detour& detour) { return detour.copied() > 0 && detour.copied() < kLeastCopied; }

// A way that leads back, followed by the reference up to where it left: the letters of both.
void follow_back(Stretch reference, int k, KmerGraph::Detour& detour) {
    detour.letters.append(reference.letter + detour.to + k, reference.letter + detour.from + k);
    detour.to = detour.from;
}

// One behind the last reference base that a difference replaces.
int64_t end_of(const Candidate& one) { return one.position + one.indel + one.ref_length; }

// Whether an insertion and a deletion stand behind the same base: no haplotype has both alleles of one record.
bool touch(const Candidate& one, const Candidate& next) {
    return one.indel && next.indel && one.position == next.position;
}

// Differences [first, last) as one that replaces all reference bases from the first to the last of them.
Candidate united(int64_t start, Stretch reference, std::vector<Candidate>::const_iterator first,
                 std::vector<Candidate>::const_iterator last) {
    const int64_t begin = first->position + first->indel;
    Candidate all{begin - 1, 0, true, {}};
    int64_t behind = begin;
    for (; first != last; ++first) {
        all.alt.append(reference.letter + behind - start, reference.letter + first->position + first->indel - start);
        all.alt += first->alt;
        behind = end_of(*first);
    }
    all.ref_length = static_cast<int32_t>(behind - begin);
    return all;
}

// Differences of a way, with those as one that make sense together alone.
std::vector<Candidate> with_united(int64_t start, Stretch reference, const std::vector<Candidate>& found) {
    std::vector<Candidate> fewer;
    for (auto first = found.begin(), last = first; first != found.end(); first = last) {
        int64_t indels = 0, left = 0, changed = 0;
        bool is_one = false;
        do {
            is_one |= last != first && touch(*(last - 1), *last);
            if (last != first) left += last->position + last->indel - end_of(*(last - 1));
            changed += std::max<int64_t>(last->ref_length, static_cast<int64_t>(last->alt.size()));
            indels += last->indel;
            ++last;
        } while (last != found.end() && last->position + last->indel <= end_of(*(last - 1)) + kNear);
        is_one |= last - first > kMostApart && indels > kMostIndels;
        is_one &= left < kLeftOfEach * changed;
        if (is_one) fewer.push_back(united(start, reference, first, last));
        else fewer.insert(fewer.end(), first, last);
    }
    return fewer;
}

// Where a detour differs from the reference, which begins at `start`.
std::vector<Candidate> differences(int64_t start, Stretch reference, int k, const KmerGraph::Detour& detour) {
    std::string spelled(reference.letter + detour.from, reference.letter + detour.from + k);
    spelled += detour.letters;
    const Stretch query{reinterpret_cast<const uint8_t*>(spelled.data()), static_cast<int64_t>(spelled.size())};
    const Stretch target{reference.letter + detour.from, detour.to + k - detour.from};
    std::vector<Candidate> found;
    Differences(start, reference, found).add(detour.from, query.letter, align_haplotype(query, target).cigar);
    return with_united(start, reference, found);
}

// What was decided on a detour.
JudgedWay judged(const KmerGraph::Detour& detour, const std::vector<Candidate>& shown,
                 const CandidateThresholds& thresholds) {
    const auto reads = [](uint32_t weight) { return static_cast<double>(weight) / kWhole; };
    JudgedWay way{reads(detour.weight), reads(detour.leaving), detour.is_united, shown, {}};
    const bool has_indels = std::any_of(shown.begin(), shown.end(), [](const Candidate& one) { return one.indel; });
    for (const Candidate& one : shown) way.is_supported.push_back(is_supported(one, detour, has_indels, thresholds));
    return way;
}

// Adds the differences of a detour that enough reads have.
void add_alleles(const KmerGraph::Detour& detour, const std::vector<Candidate>& shown,
                 const CandidateThresholds& thresholds, std::vector<Candidate>& alleles) {
    const size_t first = alleles.size();
    const bool has_indels = std::any_of(shown.begin(), shown.end(), [](const Candidate& one) { return one.indel; });
    for (const Candidate& one : shown)
        if (is_supported(one, detour, has_indels, thresholds)) alleles.push_back(one);
    for (size_t i = first; i < alleles.size(); ++i) alleles[i].joined_until = alleles.back().position + 1;
}

}  // namespace

bool Assembly::spells(Stretch letters) const {
    const std::vector<uint64_t> hashes = hashes_of_edges(letters, k);
    return std::all_of(hashes.begin(), hashes.end(), [&](uint64_t hash) { return edges.has(hash); });
}

void sort_distinct(std::vector<Candidate>& candidates) {
    std::sort(candidates.begin(), candidates.end());
    size_t kept = 0;
    for (size_t i = 1; i < candidates.size(); ++i) {
        if (candidates[i] == candidates[kept]) {
            candidates[kept].joined_until = std::max(candidates[kept].joined_until, candidates[i].joined_until);
            candidates[kept].artefact = std::max(candidates[kept].artefact, candidates[i].artefact);
        } else if (++kept < i) {
            candidates[kept] = std::move(candidates[i]);
        }
    }
    if (!candidates.empty()) candidates.resize(kept + 1);
}

Assembly assembled(int64_t start, Stretch reference, const std::vector<Stretch>& reads,
                   const CandidateThresholds& thresholds, int64_t least_deleted, AssemblySteps* steps) {
    Assembly assembly;
    // Notes why a k is not taken.
    const auto passes_over = [&](int k, TriedK why) {
        if (steps) steps->tried.emplace_back(k, why);
        return true;
    };
    int64_t longest = 0;
    for (const Stretch& read : reads) longest = std::max(longest, read.length);
    const uint32_t least = weight_of_reads(std::min(thresholds.min_snv_count, thresholds.min_indel_count));
    const int64_t most_k = std::min<int64_t>({kMostK, longest - kStepK, reference.length / 2});
    for (int k = kLeastK; k <= most_k; k += kStepK) {
        KmerGraph graph(k, thresholds.min_base_quality);
        if (!graph.add_reference(reference) && passes_over(k, TriedK::kRepeatedInReference)) continue;
        for (const Stretch& read : reads) graph.add(read);
        graph.prune(least);
        if (graph.is_cyclic() && passes_over(k, TriedK::kCircle)) continue;
        auto [detours, is_whole] = graph.detours(kMostDetours);
        if (std::any_of(detours.begin(), detours.end(), is_short_copy) && passes_over(k, TriedK::kShortCopy)) continue;
        assembly.k = k;
        for (KmerGraph::Detour& detour : detours) {
            if (detour.copied() > 0) follow_back(reference, k, detour);
            std::vector<Candidate> shown = differences(start, reference, k, detour);
            if (detour.deleted() >= least_deleted) add_alleles(detour, shown, thresholds, assembly.alleles);
            if (steps) steps->ways.push_back(judged(detour, shown, thresholds));
            std::move(shown.begin(), shown.end(), std::back_inserter(assembly.shown));
        }
        assembly.is_whole = is_whole;
        assembly.edges = graph.kept_edges();
        break;
    }
    sort_distinct(assembly.alleles);
    sort_distinct(assembly.shown);
    return assembly;
}

}  // namespace pairhmm
