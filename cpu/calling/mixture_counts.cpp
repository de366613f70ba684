#include "calling/mixture_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "calling/allele_evidence.hpp"
#include "calling/cigar.hpp"
#include "calling/run_slips.hpp"

namespace pairhmm {

namespace {

// Phred: an allele of less evidence is taken for errors, one of a single read or of copies. Rates of copies vary less
// from place to place, and QUAL decides.
constexpr double kLeastEvidence = 56, kLeastEvidenceOfCopies = 30;
// Single reads that show a letter by so many standard deviations more often than their errors do, and so many times as
// often as copies, show other errors: copies have an allele as often.
constexpr double kDeviations = 3, kMoreThanCopies = 10;
// The share of the reads that gain or lose bases anywhere, and the variance of a repeat's rate around that of its
// class, as a share of its square. Each further unit is rarer.
constexpr double kGapRate = 3e-5, kRepeatSpread = 0.25, kFurtherUnit = 0.15;

// The shortest unit of some letters.
int64_t unit_of(const std::string& letters) {
    const auto size = static_cast<int64_t>(letters.size());
    for (int64_t unit = 1; unit <= std::min<int64_t>(kLongestUnit, size); ++unit)
        if (size % unit == 0 && std::equal(letters.begin() + unit, letters.end(), letters.begin())) return unit;
    return 0;
}

// Bases of a repeat of some letters from a position on.
int64_t repeat_length(const ReferenceWindow& reference, int64_t position, int64_t end, const std::string& letters) {
    const auto size = static_cast<int64_t>(letters.size());
    int64_t length = 0;
    while (position + length < end && reference.at(position + length) == uint8_t(letters[length % size])) ++length;
    return length;
}

std::string moved_letters(const Indel& indel, const ReferenceWindow& reference) {
    if (indel.deleted == 0) return indel.inserted;
    std::string letters;
    for (int64_t i = 1; i <= indel.deleted; ++i) letters.push_back(char(reference.at(indel.anchor + i)));
    return letters;
}

// Whether most of some bases are those of copies.
bool are_copies(const std::array<uint32_t, kCells>& seen) {
    int64_t more = 0;
    for (size_t cell = 0; cell < seen.size(); ++cell)
        more += cell % kQualityClasses < kCopiesClass ? -int64_t{seen[cell]} : int64_t{seen[cell]};
    return more > 0;
}

// Whether errors of single reads explain a letter, which copies at the same place have not got.
bool is_of_singles(std::array<uint32_t, kCells> depth, const std::array<uint32_t, kCells>& seen,
                   const std::array<int, kStrands>& contexts, int letter, const ErrorRates& rates) {
    double singles = 0, copies = 0, of_singles = 0, of_copies = 0;
    for (size_t cell = 0; cell < depth.size(); ++cell) {
        const bool is_copy = cell % kQualityClasses >= kCopiesClass;
        (is_copy ? copies : singles) += depth[cell];
        (is_copy ? of_copies : of_singles) += seen[cell];
        if (is_copy) depth[cell] = 0;
    }
    if (copies == 0) return false;
    const ExpectedErrors expected = expected_errors(depth, contexts, letter, rates);
    const double errors = expected.total[0] + expected.total[1], more = of_singles - errors;
    return more > kDeviations * std::sqrt(errors + rates.spread * errors * errors) &&
           more * copies > kMoreThanCopies * (of_copies + 1) * singles;
}

// Which artefact reads show, if they show more than errors.
std::optional<Artefact> judged(const std::array<uint32_t, kCells>& depth, const std::array<uint32_t, kCells>& seen,
                               const ExpectedErrors& expected, double spread) {
    const double least = are_copies(seen) ? kLeastEvidenceOfCopies : kLeastEvidence;
    if (tail_evidence(of_strands(seen), expected, spread) < least) return {};
    return artefact_of(depth, seen, expected, spread);
}

}  // namespace

void MixtureCounts::add(const Reads& reads, int64_t read, int64_t end, const ReferenceWindows& reference,
                        const std::vector<Indel>& indels) {
    counter_.take(reads, read);
    each_aligned(reads, read, [&](int64_t query, int64_t position, int64_t length) {
        count_aligned(reads, read, query, position, length, reference.of(position));
    });
    for (const Indel& indel : indels) count_indel(reads, read, end, reference.of(indel.anchor), indel);
    if (!reads.molecule(read).empty()) molecules_.add(reads, read, counter_, indels);
}

void MixtureCounts::count_indel(const Reads& reads, int64_t read, int64_t end, const ReferenceWindow& reference,
                                const Indel& indel) {
    IndelReads& found = indels_[IndelKey(indel.anchor, indel.deleted, indel.inserted)];
    found.cells.resize(static_cast<size_t>(samples_));
    const std::string letters = moved_letters(indel, reference);
    found.unit = static_cast<int>(unit_of(letters));
    if (found.unit > 0)
        found.copies = std::max(
            found.copies, static_cast<int>(repeat_length(reference, indel.anchor + 1, end, letters) / found.unit));
    if (!reads.molecule(read).empty()) return;
    const int cell = counter_.cell(std::max<int64_t>(0, query_at(reads, read, indel.anchor)));
    ++found.cells[static_cast<size_t>(reads.sample[read])][static_cast<size_t>(cell)];
}

void MixtureCounts::take_molecules(int64_t frontier) {
    molecules_.take(
        frontier,
        [&](int32_t sample, int64_t position, int letter, int cell) {
            Page& page = pages_[position / kSitesOfPage];
            ++page.sites[static_cast<size_t>(sample * kSitesOfPage + position % kSitesOfPage)].count[letter][cell];
        },
        [&](int32_t sample, const IndelKey& indel, int cell) {
            ++indels_[indel].cells[static_cast<size_t>(sample)][static_cast<size_t>(cell)];
        });
}

void MixtureCounts::count_aligned(const Reads& reads, int64_t read, int64_t query, int64_t position, int64_t length,
                                  const ReferenceWindow& reference) {
    for (int64_t done = 0; done < length;) {
        const int64_t number = (position + done) / kSitesOfPage, first = number * kSitesOfPage;
        const int64_t within = position + done - first, part = std::min(length - done, kSitesOfPage - within);
        Page& page = pages_[number];
        if (page.sites.empty()) {
            page.sites.resize(static_cast<size_t>(kSitesOfPage * samples_));
            page.reference.assign(kSitesOfPage + 2 * kContextReach, kCodeOfN);
        }
        if (reads.molecule(read).empty())
            counter_.count(query + done, part, page.sites.data() + reads.sample[read] * kSitesOfPage + within);
        for (int64_t i = within - kContextReach; i < within + part + kContextReach; ++i)
            page.reference[static_cast<size_t>(i + kContextReach)] = reference.at(first + i);
        done += part;
    }
}

const SiteCells* MixtureCounts::site(int64_t position, int sample) const {
    const auto page = pages_.find(position / kSitesOfPage);
    return page == pages_.end() ? nullptr : page->second.sites.data() + sample * kSitesOfPage + position % kSitesOfPage;
}

std::optional<Artefact> MixtureCounts::snv(int64_t position, int letter, int sample) const {
    const SiteCells* cells = site(position, sample);
    if (cells == nullptr) return {};
    const uint8_t* reference =
        pages_.at(position / kSitesOfPage).reference.data() + position % kSitesOfPage + kContextReach;
    const auto contexts = contexts_at(reference);
    auto depth = all_letters(*cells), seen = cells->count[static_cast<size_t>(letter)];
    if (is_of_singles(depth, seen, contexts, letter, *errors_)) return {};
    std::optional<Artefact> found;
    // Poor bases may hide what good ones show.
    for (int least = 0; least < kQualityClasses && found != Artefact::kNone; ++least) {
        const ExpectedErrors expected = expected_errors(depth, contexts, letter, *errors_);
        const std::optional<Artefact> artefact = judged(depth, seen, expected, errors_->spread);
        if (artefact) found = artefact;
        for (size_t cell = static_cast<size_t>(least); cell < depth.size(); cell += kQualityClasses)
            depth[cell] = seen[cell] = 0;
    }
    return found;
}

double MixtureCounts::slip_rate(const IndelKey& indel, const IndelReads& reads) const {
    const auto& [anchor, deleted, inserted] = indel;
    const std::vector<double>& rates = deleted > 0 ? errors_->loss : errors_->gain;
    if (reads.unit == 0 || rates.empty()) return kGapRate;
    const auto most = static_cast<int>(rates.size()) / kLongestUnit;
    const auto units = (deleted > 0 ? deleted : static_cast<int>(inserted.size())) / reads.unit;
    const double rate = rates[static_cast<size_t>((reads.unit - 1) * most + std::clamp(reads.copies, 1, most) - 1)];
    return kGapRate + rate * std::pow(kFurtherUnit, units - 1);
}

std::optional<Artefact> MixtureCounts::indel(const IndelKey& indel, int sample) const {
    const auto found = indels_.find(indel);
    const SiteCells* cells = site(std::get<0>(indel), sample);
    if (found == indels_.end() || cells == nullptr) return {};
    const auto depth = all_letters(*cells);
    const auto& seen = found->second.cells[static_cast<size_t>(sample)];
    const double rate = slip_rate(indel, found->second);
    ExpectedErrors expected;
    for (int strand = 0; strand < kStrands; ++strand)
        expected.total[strand] = expected.of_context[strand] = rate * of_strands(depth)[strand];
    for (size_t cell = 0; cell < depth.size(); ++cell)
        expected.of_context_of_bin[cell / kQualityClasses] += rate * depth[cell];
    return judged(depth, seen, expected, kRepeatSpread);
}

void MixtureCounts::forget(int64_t before) {
    pages_.erase(pages_.begin(), pages_.lower_bound(before / kSitesOfPage));
    indels_.erase(indels_.begin(), indels_.lower_bound(IndelKey(before, 0, std::string())));
}

void MixtureCounts::reset() {
    pages_.clear();
    indels_.clear();
    molecules_.clear();
}

}  // namespace pairhmm
