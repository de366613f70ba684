#include "calling/error_rates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "calling/allele_evidence.hpp"
#include "calling/cigar.hpp"

namespace pairhmm {

namespace {

// Sites that are kept.
constexpr size_t kMostSites = 40'000;
// A letter of more of the reads is an allele, at first; then, one of this evidence (Phred).
constexpr double kHighestShare = 0.1, kAllele = 40;
constexpr int kRounds = 4;
// What is expected of a class before any is seen, in sites, and in bases.
constexpr double kPriorSites = 4, kPriorBases = 1000;
// The same in errors, [kind]: of a context, and of its places in the read. Contexts of single reads differ: where a
// gene has few sites of one, a larger number would make these seem alleles. Copies leave what damage does, which is
// alike.
constexpr double kPriorErrorsOfContext[] = {0.5, 40, 40}, kPriorErrors[] = {4, 16, 16};
constexpr double kLeastRate = 1e-6;
constexpr double kLeastSpread = 0.05, kMostSpread = 1;

// A sum of errors over bases.
struct Errors {
    double bases = 0, errors = 0, promised = 0, sites = 0;

    void add(const Errors& other, double times = 1) {
        bases += times * other.bases, errors += times * other.errors;
        promised += times * other.promised, sites += times * other.sites;
    }

    // The rate beyond what is promised, where `prior` is expected, with the weight of so many errors.
    double beyond(double prior, double prior_errors) const {
        const double expected = std::max(kLeastRate, prior);
        return (std::max(0.0, errors - promised) + prior_errors) / (bases + prior_errors / expected);
    }

    // The same where a class of few sites is taken for like others.
    double drawn_to(double prior, double prior_errors) const {
        const double weight = sites / (sites + kPriorSites);
        return weight * beyond(prior, prior_errors) + (1 - weight) * prior;
    }
};

int substitution(int context, int letter) { return (context & 3) * 4 + letter; }

// A letter of the reference as the sequencer reads it.
int read_as(int strand, int letter) { return strand ? 3 - letter : letter; }

// The rates of a way of reading a base: [places in the read].
float* rates_at(ErrorRates& rates, int kind, int context, int letter) {
    return rates.of_context.data() + static_cast<size_t>(((kind * kContexts + context) * 4 + letter) * kCycleBins);
}

}  // namespace

std::array<int, kStrands> contexts_at(const uint8_t* letters) {
    int forward = 0, reverse = 0;
    for (int i = -3; i <= 0; ++i) forward = forward * 4 + (letters[i] & 3);
    for (int i = 3; i >= 0; --i) reverse = reverse * 4 + (3 - (letters[i] & 3));
    return {forward, reverse};
}

ExpectedErrors expected_errors(const std::array<uint32_t, kCells>& depth, const std::array<int, kStrands>& contexts,
                               int letter, const ErrorRates& rates) {
    ExpectedErrors expected;
    for (int strand = 0; strand < kStrands; ++strand)
        for (int bin = 0; bin < kCycleBins; ++bin) {
            const uint32_t* bases = depth.data() + cell_of(strand, bin, 0);
            double promised = 0, beyond = 0;
            for (int i = 0; i < kQualityClasses; ++i) {
                if (bases[i] == 0) continue;
                promised += bases[i] * rates.of_quality[i];
                beyond += bases[i] * rates.beyond(strand, contexts[strand], letter, bin, kind_of(i));
            }
            expected.promised_of_bin[static_cast<size_t>(strand * kCycleBins + bin)] = promised;
            expected.of_context_of_bin[static_cast<size_t>(strand * kCycleBins + bin)] = beyond;
            expected.total[strand] += promised + beyond;
            expected.of_context[strand] += beyond;
        }
    return expected;
}

void ErrorRateFinder::add(const std::string& chrom, const AlignedReads& aligned_reads, ReferenceBases& reference) {
    const Reads& reads = aligned_reads.reads;
    if (chrom != chrom_) finish(reference);
    chrom_ = chrom;
    for (int64_t read = 0; read < reads.count && sites_.size() < kMostSites; ++read) {
        const int64_t start = reads.start[read];
        if (start < newest_) finish(reference);
        if (start / kSitesOfPage != newest_ / kSitesOfPage) keep_before(start, reference);
        newest_ = start;
        count(reads, read);
    }
}

void ErrorRateFinder::finish(ReferenceBases& reference) {
    keep_before(std::numeric_limits<int64_t>::max() / 2, reference);
    newest_ = 0;
}

void ErrorRateFinder::keep_before(int64_t position, ReferenceBases& reference) {
    take_molecules(position);
    while (!pages_.empty() && (pages_.begin()->first + 1) * kSitesOfPage <= position) {
        keep(pages_.begin()->first, pages_.begin()->second, reference);
        pages_.erase(pages_.begin());
    }
}

void ErrorRateFinder::count(const Reads& reads, int64_t read) {
    counter_.take(reads, read);
    if (!reads.molecule(read).empty()) return molecules_.add(reads, read, counter_, {});
    each_aligned(reads, read, [&](int64_t query, int64_t position, int64_t length) {
        for (int64_t done = 0; done < length;) {
            const int64_t within = (position + done) % kSitesOfPage,
                          part = std::min(length - done, kSitesOfPage - within);
            counter_.count(query + done, part, page_of(position + done).data() + within);
            done += part;
        }
    });
}

std::vector<SiteCells>& ErrorRateFinder::page_of(int64_t position) {
    auto& page = pages_[position / kSitesOfPage];
    page.resize(kSitesOfPage);
    return page;
}

void ErrorRateFinder::take_molecules(int64_t frontier) {
    molecules_.take(
        frontier,
        [&](int32_t, int64_t position, int letter, int cell) {
            ++page_of(position)[static_cast<size_t>(position % kSitesOfPage)].count[letter][cell];
        },
        [](int32_t, const MoleculeBases::IndelKey&, int) {});
}

void ErrorRateFinder::keep(int64_t page, const std::vector<SiteCells>& sites, ReferenceBases& reference) {
    const int64_t start = page * kSitesOfPage, before = std::min<int64_t>(3, start);
    std::string letters = reference.fetch(chrom_, start - before, start + kSitesOfPage + 3);
    letters.insert(0, static_cast<size_t>(3 - before), 'N');
    letters.resize(kSitesOfPage + 6, 'N');
    for (char& letter : letters) letter = static_cast<char>(code_of(letter));
    const auto* codes = reinterpret_cast<const uint8_t*>(letters.data()) + 3;
    for (int64_t i = 0; i < kSitesOfPage && sites_.size() < kMostSites; ++i) {
        if (codes[i] >= kCodeOfN) continue;
        Site site{sites[i], all_letters(sites[i]), contexts_at(codes + i), codes[i]};
        const double depth = std::accumulate(site.depth.begin(), site.depth.end(), 0.0);
        if (depth == 0) continue;
        for (int letter = 0; letter < 4; ++letter)
            site.is_error[letter] = letter != site.ref &&
                                    std::accumulate(sites[i].count[letter].begin(), sites[i].count[letter].end(), 0.0) <
                                        kHighestShare * depth;
        sites_.push_back(site);
    }
}

namespace {

using OfClasses = std::array<std::array<Errors, 16>, kQualityClasses>;

// Sums by what stands before a base: of the base alone, then of one, two and three bases before it; and by bins.
struct OfContexts {
    std::array<std::vector<Errors>, kContextReach + 1> level;
    std::vector<Errors> bin{kContexts * 4 * kCycleBins};

    OfContexts() {
        for (int i = 0; i <= kContextReach; ++i) level[i].resize(size_t{16} << 2 * i);
    }
    Errors& of(int i, int context, int letter) { return level[i][(context & ((4 << 2 * i) - 1)) * 4 + letter]; }
};

// The rates of quality classes: those of the twelve ways of reading a base as another of which a quarter are rarer.
void fit_qualities(const OfClasses& of_class, ErrorRates& rates) {
    for (int i = 0; i < kQualityClasses; ++i) {
        std::vector<double> found;
        for (const Errors& one : of_class[i])
            if (one.bases > 0)
                found.push_back((one.errors + rates.of_quality[i] * kPriorBases) / (one.bases + kPriorBases));
        if (found.empty()) continue;
        std::nth_element(found.begin(), found.begin() + found.size() / 4, found.end());
        rates.of_quality[i] = std::max(kLeastRate, found[found.size() / 4]);
    }
}

// The rate of a context, drawn towards those of fewer bases before it.
double rate_of(OfContexts& sums, int kind, int context, int letter) {
    double rate = sums.of(0, context, letter).beyond(kLeastRate, kPriorErrorsOfContext[0]);
    for (int i = 1; i <= kContextReach; ++i)
        rate = sums.of(i, context, letter).drawn_to(rate, kPriorErrorsOfContext[kind]);
    return rate;
}

// Sets the rates of a way of reading a base: [places in the read]. Of amplicons, a place has few sites, where a rare
// allele would look like the errors of that place.
void fit_context(OfContexts& sums, int kind, int context, int letter, float* rates) {
    const double rate = rate_of(sums, kind, context, letter);
    const Errors* bins = sums.bin.data() + (context * 4 + letter) * kCycleBins;
    for (int bin = 0; bin < kCycleBins; ++bin)
        rates[bin] = static_cast<float>(bins[bin].drawn_to(rate, kPriorErrors[kind]));
}

}  // namespace

struct ContextSums {
    std::array<OfContexts, kKinds> of_kind;
};

template <class Visit>
void ErrorRateFinder::each_error(const Visit& visit) {
    for (Site& site : sites_)
        for (int letter = 0; letter < 4; ++letter)
            if (letter != site.ref) visit(site, letter);
}

void ErrorRateFinder::fit_rates(ErrorRates& rates, ContextSums& sums) {
    OfClasses of_class{};
    each_error([&](const Site& site, int letter) {
        for (int cell = 0; site.is_error[letter] && cell < kCells; ++cell) {
            const int strand = cell / (kCells / kStrands);
            Errors& sum =
                of_class[cell % kQualityClasses][substitution(site.contexts[strand], read_as(strand, letter))];
            sum.bases += site.depth[cell];
            sum.errors += site.cells.count[letter][cell];
        }
    });
    fit_qualities(of_class, rates);
    each_error([&](const Site& site, int letter) {
        if (site.is_error[letter]) add_site(site, letter, 1, rates, sums);
    });
    rates.of_context.resize(size_t{kKinds} * kContexts * 4 * kCycleBins);
    for (int kind = 0; kind < kKinds; ++kind)
        for (int context = 0; context < kContexts; ++context)
            for (int letter = 0; letter < 4; ++letter)
                fit_context(sums.of_kind[kind], kind, context, letter, rates_at(rates, kind, context, letter));
}

// Adds the errors of a letter at a site to the sums of its contexts, so many times.
void ErrorRateFinder::add_site(const Site& site, int letter, double times, const ErrorRates& rates, ContextSums& sums) {
    for (int cell = 0; cell < kCells; cell += kQualityClasses) {
        const int strand = cell / (kCells / kStrands), bin = cell / kQualityClasses % kCycleBins;
        std::array<Errors, kKinds> found{};
        for (int i = 0; i < kQualityClasses; ++i)
            found[kind_of(i)].add({double(site.depth[cell + i]), double(site.cells.count[letter][cell + i]),
                                   site.depth[cell + i] * rates.of_quality[i]});
        const int context = site.contexts[strand], read = read_as(strand, letter);
        for (int kind = 0; kind < kKinds; ++kind) {
            if (kind > 0 && found[kind].bases == 0) continue;
            found[kind].sites = found[kind].bases > 0 ? 1 : 0;
            sums.of_kind[kind].bin[(context * 4 + read) * kCycleBins + bin].add(found[kind], times);
            found[kind].sites = bin == 0 ? 1 : 0;
            for (int i = 0; i <= kContextReach; ++i) sums.of_kind[kind].of(i, context, read).add(found[kind], times);
        }
    }
}

// The errors that are expected of a letter at a site by all others: an allele is no error of its own context.
ExpectedErrors ErrorRateFinder::expected_by_others(const Site& site, int letter, ErrorRates& rates, ContextSums& sums) {
    if (!site.is_error[letter]) return expected_errors(site.depth, site.contexts, letter, rates);
    const auto fit = [&] {
        for (int strand = 0; strand < kStrands; ++strand)
            for (int kind = 0; kind < kKinds; ++kind) {
                const int context = site.contexts[strand], read = read_as(strand, letter);
                fit_context(sums.of_kind[kind], kind, context, read, rates_at(rates, kind, context, read));
            }
    };
    add_site(site, letter, -1, rates, sums);
    fit();
    const ExpectedErrors expected = expected_errors(site.depth, site.contexts, letter, rates);
    add_site(site, letter, 1, rates, sums);
    fit();
    return expected;
}

// Tells alleles from errors by the rates, and fits the spread of the errors.
void ErrorRateFinder::fit_spread(ErrorRates& rates, ContextSums& sums) {
    double squares = 0, expected = 0;
    each_error([&](Site& site, int letter) {
        const auto seen = of_strands(site.cells.count[letter]);
        const ExpectedErrors by_others = expected_by_others(site, letter, rates, sums);
        site.is_error[letter] = tail_evidence(seen, by_others, rates.spread) < kAllele;
        const ExpectedErrors errors = expected_errors(site.depth, site.contexts, letter, rates);
        for (int strand = 0; site.is_error[letter] && strand < kStrands; ++strand) {
            const double mean = errors.total[strand];
            squares += (seen[strand] - mean) * (seen[strand] - mean) - mean;
            expected += errors.of_context[strand] * errors.of_context[strand];
        }
    });
    rates.spread = std::clamp(expected > 0 ? squares / expected : 0, kLeastSpread, kMostSpread);
}

ErrorRates ErrorRateFinder::rates() {
    ErrorRates rates;
    for (int round = 0; round < kRounds; ++round) {
        ContextSums sums;
        fit_rates(rates, sums);
        fit_spread(rates, sums);
    }
    return rates;
}

}  // namespace pairhmm
