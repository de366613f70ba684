#include "calling/source_rates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "calling/genotypes.hpp"
#include "calling/letters.hpp"
#include "calling/log10_sums.hpp"
#include "calling/phred.hpp"
#include "calling/rate_grid.hpp"

namespace pairhmm {

namespace {

constexpr double kSnvPrior = 1e-3;
// The probability that a base is read as another one, for SNVs whose reads' errors are independent: no lower than it
// is, or pairs of such errors would count.
constexpr double kError = 1e-3;
// The fewest reads over an SNV that counts. Two of them show it, or more.
constexpr size_t kFewestOver = 5;
// Bases between two SNVs that count: nearer ones are seen in the same reads.
constexpr int64_t kBetween = 100;
// The highest rate that is tried.
constexpr double kHighest = 100;
constexpr int kRounds = 5;
// Places that have a copy, at most, for each rate of foreign SNVs: three times those of copies with SNVs in 3% of their
// bases.
constexpr double kMostOfForeign = 0.1;
// Reads with more mismatches that no other read shows are of a copy, or misaligned.
constexpr int kFewErrors = 2;
// Rates of errors are known beforehand as if so many bases of a usual library, without a motif, had been seen.
constexpr double kUsualBases = 60'000;
// Reads of amplicons begin at so few places, as a share of those of random fragments.
constexpr double kFewBegins = 0.5;
// What SNVs may be: of no variant, of chromosomes, or of a source; errors of the forward strand, then of the other one.
enum Kind { kNone, kChromosomes, kForeign, kGrowing, kStrand = kGrowing + 2 };

// Reads of an SNV as fragments over a site with two alleles.
SeenFragments seen_fragments(const AlignedReads& reads, const Neighbour& snv, const Genotypes& genotypes) {
    ReadOrigins origins{reads.flag, reads.reads.start, reads.end, nullptr, nullptr, nullptr, nullptr, {}};
    std::map<int64_t, std::pair<Fragment, bool>> fragments;
    for (const int64_t read : snv.covering) {
        const int64_t name = fragment_name(reads.name(read));
        const Fragment own = origins.fragment(read, name, snv.position);
        auto& [fragment, has_allele] = fragments.try_emplace(name, own, false).first->second;
        fragment.add(own);
        has_allele |= std::binary_search(snv.with.begin(), snv.with.end(), read);
    }
    SeenFragments seen{2, {}, {}, {}, {}, {}};
    for (const auto& [name, one] : fragments) {
        const double alternative = one.second ? 1 - kError : kError, of[] = {1 - alternative, alternative};
        seen.fragments.push_back(one.first);
        seen.informative_for.push_back(one.second);
        seen.of_allele.insert(seen.of_allele.end(), of, of + 2);
        for (int64_t genotype = 0; genotype < genotypes.count(); ++genotype)
            seen.of_genotype.push_back(of[0] * genotypes.share[genotype] +
                                       of[1] * genotypes.share[genotypes.count() + genotype]);
    }
    return seen;
}

// The probability that two fragments or more, of which each shows an allele by a share of its weight, show it.
double is_seen(const std::vector<double>& weights, double share) {
    double none = 1, one = 0;
    for (const double weight : weights) {
        none *= 1 - share * weight;
        one += share * weight / (1 - share * weight);
    }
    return 1 - none * (1 + one);
}

// Whether errors of a strand can be told from alleles: by fragments of the other strand.
bool are_told(const std::vector<Fragment>& fragments, bool is_reverse) {
    return std::any_of(fragments.begin(), fragments.end(), [&](const Fragment& one) { return one.is_on(!is_reverse); });
}

// The same for errors of a strand, at a rate of 1 for both, and for foreign reads.
double errors_are_seen(const std::vector<Fragment>& fragments, bool is_reverse, bool grow) {
    double seen = 0;
    for (const double share : kErrorShares) seen += is_seen(error_weights(fragments, is_reverse, grow), share);
    return seen / 2 / std::size(kErrorShares);
}

double foreign_reads_are_seen(const std::vector<Fragment>& fragments) {
    double seen = 0;
    for (const auto& [share, probability] : kForeignShares)
        seen += probability * is_seen(std::vector<double>(fragments.size(), 1.0), share / 2);
    return seen;
}

// log10 of the probability of the fragments, over genotypes from one on.
double log10_of_all(const std::vector<double>& likelihoods, const Genotypes& genotypes, size_t first) {
    double total = kLowest;
    for (size_t i = first; i < likelihoods.size(); ++i) total = log10_add(total, likelihoods[i] + genotypes.prior[i]);
    return total;
}

// Whether the first base of a read is not known, as where its primer was cut off.
bool lacks_begin(const Reads& reads, int64_t read, bool is_reverse) {
    const int64_t first = reads.base_offset[read], last = reads.base_offset[read + 1] - 1;
    return first > last || reads.base[is_reverse ? last : first] >= kCodeOfN;
}

}  // namespace

void SourceRateFinder::add(const std::string& chrom, const AlignedReads& reads, ReferenceBases& reference) {
    std::vector<int64_t> all(static_cast<size_t>(reads.reads.count));
    if (all.empty()) return;
    std::iota(all.begin(), all.end(), 0);
    add_begins(reads);
    const int64_t first = reads.reads.start[0], last = *std::max_element(reads.end, reads.end + all.size());
    const int64_t before = std::max<int64_t>(0, first - kErrorReach);
    const std::string letters = reference.fetch(chrom, before, last + kErrorReach);
    std::map<int32_t, int64_t> covered;
    for (const int64_t read : all) {
        int64_t& end = covered[reads.reads.sample[read]];
        const int64_t start = std::max(end, reads.reads.start[read]);
        end = std::max(end, reads.end[read]);
        add_bases(letters, start - before, end - before);
    }
    std::map<int32_t, int64_t> next;  // of each sample, where the next SNV may lie
    const Mismatches shown = shown_mismatches(reads, all, chrom, reference, first, last, kUnsureEnd);
    add_errors(reads, shown.lone);
    clusters_.add(reads, shown, first, last, are_of_amplicons());
    for (const Neighbour& snv : shown.snvs) {
        if (snv.covering.size() < kFewestOver || snv.position < next[snv.sample]) continue;
        next[snv.sample] = snv.position + kBetween;
        add_site(reads, snv, error_contexts(letters, snv.position - before, kBases[snv.letter]));
    }
}

// Counts where reads begin, by strand, but for those whose primers are cut off, beside where so many reads would on the
// bases that they cover.
void SourceRateFinder::add_begins(const AlignedReads& reads) {
    struct Begins {
        std::set<std::pair<bool, int64_t>> places;
        int64_t reads = 0, bases = 0, end = 0;
    };
    std::map<int32_t, Begins> of_sample;
    for (int64_t read = 0; read < reads.reads.count; ++read) {
        const bool is_reverse = reads.flag[read] & 16;
        if (lacks_begin(reads.reads, read, is_reverse)) continue;
        Begins& own = of_sample[reads.reads.sample[read]];
        own.places.emplace(is_reverse, is_reverse ? reads.end[read] : reads.reads.start[read]);
        own.bases += std::max<int64_t>(0, reads.end[read] - std::max(own.end, reads.reads.start[read]));
        own.end = std::max(own.end, reads.end[read]);
        ++own.reads;
    }
    for (const auto& [sample, own] : of_sample) {
        const double places = 2 * static_cast<double>(own.bases);
        begins_ += static_cast<double>(own.places.size());
        random_begins_ += places * -std::expm1(-static_cast<double>(own.reads) / places);
    }
}

bool SourceRateFinder::are_of_amplicons() const { return begins_ < kFewBegins * random_begins_; }

// Counts mismatches of single reads beside the errors that qualities promise.
void SourceRateFinder::add_errors(const AlignedReads& reads, const std::vector<LoneMismatch>& lone) {
    std::vector<int> of_read(static_cast<size_t>(reads.reads.count), 0);
    for (const LoneMismatch& one : lone) ++of_read[static_cast<size_t>(one.fragment)];
    for (int64_t read = 0; read < reads.reads.count; ++read) {
        const int errors = of_read[static_cast<size_t>(read)];
        if (errors > kFewErrors) continue;
        errors_ += errors;
        const int64_t last = reads.reads.base_offset[read + 1] - kUnsureEnd;
        for (int64_t base = reads.reads.base_offset[read] + kUnsureEnd; base < last; ++base) {
            if (reads.reads.quality[base] < kMinQuality) continue;
            promised_ += error_of(reads.reads.quality[base]);
            ++sure_;
        }
    }
}

// Counts covered bases [start, end) of some letters.
void SourceRateFinder::add_bases(const std::string& letters, int64_t start, int64_t end) {
    bases_ += static_cast<double>(std::max<int64_t>(0, end - start));
    for (int64_t place = start; place < end; ++place) {
        const auto [forward, reverse] = error_contexts(letters, place, kBases[0]);
        for (int letter = 0; letter < 4 && forward >= 0 && reverse >= 0; ++letter) {
            if (letters[place] == kBases[letter]) continue;
            ++bases_of_[forward + letter];
            ++bases_of_[reverse - letter];
        }
    }
}

void SourceRateFinder::add_site(const AlignedReads& reads, const Neighbour& snv, const std::array<int, 2>& contexts) {
    const Genotypes& genotypes = tables_.of({kSnvPrior}, 2);
    SeenFragments seen = seen_fragments(reads, snv, genotypes);
    if (are_of_amplicons()) seen = without_primers(seen, genotypes);
    const auto count = static_cast<size_t>(genotypes.count());
    std::vector<double> alone(count, 0.0);
    for (size_t i = 0; i < seen.of_genotype.size(); ++i) alone[i % count] += std::log10(seen.of_genotype[i]);
    const auto of_errors = [&](bool is_reverse, const ErrorShares& shares) {
        std::vector<double> likelihoods(count, kLowest);
        add_strand_errors(seen, genotypes, 1, is_reverse, shares, likelihoods);
        return log10_of_all(likelihoods, genotypes, 0);
    };
    // What most reads show is of chromosomes.
    const auto with = static_cast<size_t>(std::count(seen.informative_for.begin(), seen.informative_for.end(), 1));
    const std::vector<double> of_foreign = 2 * with < seen.fragments.size() ? foreign_likelihoods(seen, genotypes, 1)
                                                                            : std::vector<double>(count, kLowest);
    Likelihoods found{
        alone[0] + genotypes.prior[0], log10_of_all(alone, genotypes, 1), log10_of_all(of_foreign, genotypes, 0),
        of_errors(false, {0, 1}),      of_errors(true, {0, 1}),           of_errors(false, {1, 0}),
        of_errors(true, {1, 0})};
    const double most = *std::max_element(found.begin(), found.end());
    for (double& one : found) one = std::pow(10.0, std::max(kLowestLog10, one - most));
    snvs_.push_back({found, contexts, {are_told(seen.fragments, false), are_told(seen.fragments, true)}});
    add_seen(seen.fragments, snvs_.back().is_told);
}

// Counts how likely two of the fragments over an SNV would show each source.
void SourceRateFinder::add_seen(const std::vector<Fragment>& fragments, const std::array<bool, 2>& is_told) {
    foreign_ += foreign_reads_are_seen(fragments);
    for (const bool is_reverse : {false, true}) {
        const ErrorShares own{errors_are_seen(fragments, is_reverse, false),
                              errors_are_seen(fragments, is_reverse, true)};
        anywhere_ = {anywhere_.strand + own.strand, anywhere_.growing + own.growing};
        if (is_told[is_reverse]) told_ = {told_.strand + own.strand, told_.growing + own.growing};
    }
}

// The likelihood of errors of a strand. Where nothing tells them from alleles, only frequent ones count.
double SourceRateFinder::Snv::of_errors(int strand, const ErrorShares& shares) const {
    if (!is_told[strand] && !shares.are_frequent()) return 0;
    return shares.growing * likelihoods[kGrowing + strand] + shares.strand * likelihoods[kStrand + strand];
}

double SourceRateFinder::Rates::of_errors(const Snv& snv, int strand) const {
    const int context = snv.contexts[strand];
    return snv.of_errors(strand, context < 0 ? ErrorShares{} : of_context[static_cast<size_t>(context)]);
}

// The likelihood of an SNV's reads, and that without errors.
double SourceRateFinder::Rates::of(const Snv& snv) const {
    return without_errors(snv) + of_errors(snv, 0) + of_errors(snv, 1);
}

double SourceRateFinder::Rates::without_errors(const Snv& snv) const {
    const Likelihoods& of = snv.likelihoods;
    return of[kNone] + chromosomes * of[kChromosomes] + foreign * of[kForeign];
}

// Of all SNVs, but for a factor that only errors change. As many are seen as the rates let expect of the bases that
// reads cover.
double SourceRateFinder::log_likelihood(const Rates& rates) const {
    const double count = static_cast<double>(snvs_.size());
    double sum = -kSnvPrior * alone() * (rates.chromosomes + rates.foreign * foreign_ / count);
    for (const Snv& snv : snvs_) sum += std::log(rates.of(snv));
    return sum;
}

// Gives a rate, one of `rates`, the value at which SNVs are likeliest.
void SourceRateFinder::raise(double& rate, const Rates& rates) const {
    const double lowest = rate;
    double most = log_likelihood(rates), best = rate;
    for (rate = lowest; rate <= kHighest; rate *= kRateStep) {
        const double found = log_likelihood(rates);
        if (found <= most) continue;
        most = found;
        best = rate;
    }
    rate = best;
}

// How likely the SNVs of a context are at each rate of its errors, beside all other sources.
AtRates SourceRateFinder::at_rates(int context, const std::vector<const Snv*>& snvs, const Rates& rates) const {
    const int strand = context / (kErrorContexts / 2);
    // One of three letters, on one of two strands.
    const double covered =
        alone() / bases_ * bases_of_[static_cast<size_t>(context)] / 6 + kUsualBases / kErrorContexts;
    AtRates found;
    for (size_t i = 0; i < found.size(); ++i) {
        const ErrorShares& own = context_rates()[i];
        const ErrorShares& seen = own.are_frequent() ? anywhere_ : told_;
        found[i] = -kSnvPrior * covered * (own.growing * seen.growing + own.strand * seen.strand) /
                   static_cast<double>(snvs_.size());
        for (const Snv* snv : snvs)
            found[i] +=
                std::log(rates.without_errors(*snv) + rates.of_errors(*snv, 1 - strand) + snv->of_errors(strand, own));
    }
    return found;
}

ContextShares SourceRateFinder::expected_errors(const Rates& rates) const {
    std::array<std::vector<const Snv*>, kErrorContexts> snvs;
    for (const Snv& snv : snvs_)
        for (const int context : snv.contexts)
            if (context >= 0) snvs[static_cast<size_t>(context)].push_back(&snv);
    std::vector<AtRates> of_context;
    for (int context = 0; context < kErrorContexts; ++context)
        of_context.push_back(at_rates(context, snvs[static_cast<size_t>(context)], rates));
    return expected_rates(of_context);
}

// None is seen in the bases behind another one.
double SourceRateFinder::alone() const {
    return bases_ - static_cast<double>(kBetween) * static_cast<double>(snvs_.size());
}

SourceRates SourceRateFinder::rates() const {
    SourceRates rates;
    rates.of_amplicons = are_of_amplicons();
    // Less two standard deviations.
    rates.unpromised = on_grid(std::max(0.0, errors_ - 2 * std::sqrt(errors_) - promised_) / std::max(1.0, sure_));
    if (snvs_.empty()) return rates;
    Rates found;
    for (int round = 0; round < kRounds; ++round) {
        found.chromosomes = Rates{}.chromosomes, found.foreign = Rates{}.foreign;
        raise(found.chromosomes, found);
        raise(found.foreign, found);
        found.of_context = expected_errors(found);
    }
    // As a share of alleles, which the library may have more of.
    ContextShares of_context;
    for (size_t context = 0; context < of_context.size(); ++context) {
        const ErrorShares& own = found.of_context[context];
        of_context[context] = {on_grid(std::max(rates.errors.strand, own.strand / found.chromosomes)),
                               on_grid(std::max(rates.errors.growing, own.growing / found.chromosomes))};
    }
    rates.divergence = kSnvPrior * found.chromosomes;
    clusters_.set(rates);
    // Errors of a strand make clusters, too.
    rates.copies = std::min(rates.copies, on_grid(kMostOfForeign * found.foreign));
    rates.of_context = std::make_shared<ContextShares>(of_context);
    return rates;
}

}  // namespace pairhmm
