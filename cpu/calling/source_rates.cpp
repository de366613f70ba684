#include "calling/source_rates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "calling/genotypes.hpp"
#include "calling/letters.hpp"

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
// Rates are tried in steps of this factor, up to the highest. A rate is believed as far down as the logarithm of its
// likelihood is lower by this much (two standard deviations).
constexpr double kStep = 1.7782794100389228, kHighest = 30, kLower = 2;
constexpr int kRounds = 5;
// Rates of a context alone are tried further, as few bases have it. They count where the logarithm of the likelihood of
// its SNVs is higher by this much: two standard deviations, for the likeliest of 512 contexts.
constexpr double kHighestOfContext = 3000, kSureContext = 8;
// What SNVs may be: of no variant, of chromosomes, or of a source; errors of the forward strand, then of the other one.
enum Kind { kNone, kChromosomes, kForeign, kGrowing, kStrand = kGrowing + 2 };

// Reads with more mismatches that no other read shows are of a copy, or misaligned.
constexpr int kFewErrors = 2;

const std::array<double, 256>& error_of_phred() {
    static const std::array<double, 256> table = [] {
        std::array<double, 256> made{};
        for (size_t phred = 0; phred < made.size(); ++phred) made[phred] = std::pow(10.0, -0.1 * double(phred));
        return made;
    }();
    return table;
}

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
    for (size_t i = first; i < likelihoods.size(); ++i) {
        const double one = likelihoods[i] + genotypes.prior[i], top = std::max(total, one);
        if (std::isfinite(top)) total = top + std::log10(std::pow(10.0, total - top) + std::pow(10.0, one - top));
    }
    return total;
}

}  // namespace

void SourceRateFinder::add(const std::string& chrom, const AlignedReads& reads, ReferenceBases& reference) {
    std::vector<int64_t> all(static_cast<size_t>(reads.reads.count));
    if (all.empty()) return;
    std::iota(all.begin(), all.end(), 0);
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
    for (const Neighbour& snv : shown.snvs) {
        if (snv.covering.size() < kFewestOver || snv.position < next[snv.sample]) continue;
        next[snv.sample] = snv.position + kBetween;
        add_site(reads, snv, error_contexts(letters, snv.position - before, kBases[snv.letter]));
    }
}

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
            promised_ += error_of_phred()[reads.reads.quality[base]];
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
    const SeenFragments seen = seen_fragments(reads, snv, genotypes);
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
    foreign_ += foreign_reads_are_seen(seen.fragments);
    for (const bool is_reverse : {false, true}) {
        const ErrorShares own{errors_are_seen(seen.fragments, is_reverse, false),
                              errors_are_seen(seen.fragments, is_reverse, true)};
        anywhere_ = {anywhere_.strand + own.strand, anywhere_.growing + own.growing};
        if (snvs_.back().is_told[is_reverse]) told_ = {told_.strand + own.strand, told_.growing + own.growing};
    }
}

// Where nothing tells errors from alleles, only a context shows them: by having many.
ErrorShares SourceRateFinder::Rates::errors_of(const Snv& snv, int strand) const {
    const auto found = of_context.find(snv.contexts[strand]);
    if (found != of_context.end()) return found->second;
    return snv.is_told[strand] ? errors : ErrorShares{0, 0};
}

// The likelihood of an SNV's reads.
double SourceRateFinder::Rates::of(const Snv& snv) const {
    const Likelihoods& of = snv.likelihoods;
    double sum = of[kNone] + chromosomes * of[kChromosomes] + foreign * of[kForeign];
    for (int strand = 0; strand < 2; ++strand) {
        const ErrorShares own = errors_of(snv, strand);
        sum += own.growing * of[kGrowing + strand] + own.strand * of[kStrand + strand];
    }
    return sum;
}

std::map<int, std::vector<SourceRateFinder::Snv>> SourceRateFinder::by_context() const {
    std::map<int, std::vector<Snv>> found;
    for (const Snv& snv : snvs_)
        for (const int context : snv.contexts)
            if (context >= 0) found[context].push_back(snv);
    return found;
}

// Of some SNVs. As many are seen as the rates promise for the bases that reads cover.
double SourceRateFinder::log_likelihood(const Rates& rates, const std::vector<Snv>& snvs) const {
    const auto of_errors = [](const ErrorShares& one, const ErrorShares& seen) {
        return one.growing * seen.growing + one.strand * seen.strand;
    };
    const double everywhere = of_errors(rates.errors, told_), count = static_cast<double>(snvs_.size());
    // None is seen in the bases behind another one.
    const double alone = bases_ - static_cast<double>(kBetween) * count;
    double seen = alone * (rates.chromosomes * count + rates.foreign * foreign_ + everywhere);
    // One of three letters, on one of two strands.
    for (const auto& [context, own] : rates.of_context)
        seen += alone / bases_ * bases_of_[static_cast<size_t>(context)] / 6 * (of_errors(own, anywhere_) - everywhere);
    double sum = -kSnvPrior * seen / count;
    for (const Snv& snv : snvs) sum += std::log(rates.of(snv));
    return sum;
}

// Gives a rate, one of `rates`, the value at which SNVs are likeliest. Gives the logarithm of their likelihood there.
double SourceRateFinder::raise(double& rate, const Rates& rates, const std::vector<Snv>& snvs, double lowest,
                               double highest) const {
    double most = log_likelihood(rates, snvs), best = rate;
    for (rate = lowest; rate <= highest; rate *= kStep) {
        const double found = log_likelihood(rates, snvs);
        if (found <= most) continue;
        most = found;
        best = rate;
    }
    rate = best;
    return most;
}

// Gives a context a rate of its own, of one kind of errors, if its SNVs are much likelier with it.
void SourceRateFinder::raise_context(int context, const std::vector<Snv>& snvs, Rates& rates) const {
    rates.of_context.erase(context);
    Rates best = rates;
    double most = log_likelihood(rates, snvs) + kSureContext;
    for (double ErrorShares::* const kind : {&ErrorShares::growing, &ErrorShares::strand}) {
        Rates tried = rates;
        double& rate = tried.of_context.emplace(context, rates.errors).first->second.*kind;
        const double found = raise(rate, tried, snvs, rate, kHighestOfContext);
        if (found <= most) continue;
        most = found;
        best = tried;
    }
    rates = best;
}

double SourceRateFinder::lower_limit(Rate of, Rates rates) const {
    Rates lowest;
    const double least = log_likelihood(rates, snvs_) - kLower;
    double& rate = of(rates);
    for (rate = of(lowest); log_likelihood(rates, snvs_) < least;) rate *= kStep;
    return rate;
}

SourceRates SourceRateFinder::rates() const {
    SourceRates rates;
    // Less two standard deviations.
    rates.unpromised = std::max(0.0, errors_ - 2 * std::sqrt(errors_) - promised_) / std::max(1.0, sure_);
    if (snvs_.empty()) return rates;
    constexpr Rate kAll[] = {
        [](Rates& of) -> double& { return of.chromosomes; }, [](Rates& of) -> double& { return of.errors.growing; },
        [](Rates& of) -> double& { return of.errors.strand; }, [](Rates& of) -> double& { return of.foreign; }};
    Rates found, lowest;
    const std::map<int, std::vector<Snv>> contexts = by_context();
    for (int round = 0; round < kRounds; ++round) {
        for (const Rate of : kAll) raise(of(found), found, snvs_, of(lowest), kHighest);
        for (const auto& [context, snvs] : contexts) raise_context(context, snvs, found);
    }
    // As a share of alleles, which the library may have more of.
    const auto beside_alleles = [&](const ErrorShares& of) {
        return ErrorShares{std::max(rates.errors.strand, of.strand / found.chromosomes),
                           std::max(rates.errors.growing, of.growing / found.chromosomes)};
    };
    rates.foreign = lower_limit(kAll[3], found);
    rates.divergence = kSnvPrior * found.chromosomes;
    rates.errors = beside_alleles({lower_limit(kAll[2], found), lower_limit(kAll[1], found)});
    if (found.of_context.empty()) return rates;
    auto of_context = std::make_shared<ContextShares>();
    of_context->fill(rates.errors);
    for (const auto& [context, own] : found.of_context)
        (*of_context)[static_cast<size_t>(context)] = beside_alleles(own);
    rates.of_context = std::move(of_context);
    return rates;
}

}  // namespace pairhmm
