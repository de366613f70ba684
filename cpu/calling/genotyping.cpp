#include "calling/genotyping.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "calling/genotypes.hpp"
#include "calling/haplotype_errors.hpp"
#include "calling/haplotype_pairs.hpp"
#include "calling/mixed_haplotypes.hpp"
#include "calling/mixtures.hpp"
#include "calling/neighbouring_sites.hpp"
#include "calling/phase_sets.hpp"
#include "calling/site_genotypes.hpp"
#include "calling/site_statistics.hpp"

namespace pairhmm {

namespace {

// A difference in log10 that is larger than any between two likelihoods that can be told apart.
constexpr double kNoFloor = 300;
// The least weight of a haplotype by which alleles of a mixture are compared.
constexpr double kLeastWeight = 1e-4;
// Letters that an SNV may have: its prior is that of all of them.
constexpr double kOtherLetters = 3;

// A site with what it was genotyped from.
struct Genotyped {
    size_t number;  // that of its candidate in the region, the first one where several are joined
    Site site;
    SiteReads reads;
    std::vector<int64_t> allele_of;  // [haplotypes]; -1 for another allele
    Extent extent;
    std::vector<double> priors;  // [alternative alleles] of each, those that are not listed among them
    bool has_unlisted = false;   // some sample has an allele that is not listed
};

// The alternative alleles that samples have.
std::set<int> called_alleles(const Site& site) {
    std::set<int> called;
    for (const SampleGenotype& sample : site.samples) called.insert(sample.alleles.begin(), sample.alleles.end());
    called.erase(0);
    return called;
}

// The variant with only some of its alternative alleles, and with no more reference bases than these need.
Variant with_alleles(const Variant& variant, const std::set<int>& kept) {
    Variant fewer = variant;
    fewer.alts.clear();
    for (const int allele : kept) fewer.alts.push_back(variant.alts[allele - 1]);
    const auto ends_as_reference = [&](const std::string& alt) {
        return alt.size() > 1 && alt.back() == fewer.ref.back();
    };
    while (fewer.ref.size() > 1 && std::all_of(fewer.alts.begin(), fewer.alts.end(), ends_as_reference)) {
        fewer.ref.pop_back();
        for (std::string& alt : fewer.alts) alt.pop_back();
    }
    return fewer;
}

// A genotype of listed alleles: chromosomes with the allele behind them, which is not listed, have none.
void leave_out_unlisted(int listed, SampleGenotype& sample) {
    sample.depths.resize(static_cast<size_t>(listed));
    const auto unlisted = std::remove(sample.alleles.begin(), sample.alleles.end(), listed);
    if (unlisted == sample.alleles.end()) {
        // In VCF's order, genotypes of the first alleles come first.
        const auto genotypes = static_cast<size_t>(count_genotypes(listed, sample.ploidy));
        sample.likelihoods.resize(std::min(sample.likelihoods.size(), genotypes));
        return;
    }
    sample.alleles.erase(unlisted, sample.alleles.end());
    sample.likelihoods.clear();
    sample.is_called = !sample.alleles.empty();
}

// What errors look like each allele: substitutions of a context, and gaps of few bases. Others are of no strand.
std::vector<ErrorsLike> errors_like(const Variant& variant, size_t alleles, const std::string& reference,
                                    int64_t start) {
    constexpr size_t kLongestError = 2;
    std::vector<ErrorsLike> errors(alleles);
    for (size_t i = 0; i < variant.alts.size(); ++i) {
        const std::string& alt = variant.alts[i];
        ErrorsLike& own = errors[i + 1];
        own.may_be =
            std::max(alt.size(), variant.ref.size()) - std::min(alt.size(), variant.ref.size()) <= kLongestError;
        const TrimmedAllele trimmed = trim_allele(variant.ref, alt);
        if (trimmed.ref.size() == 1 && trimmed.alt.size() == 1)
            own.context = error_contexts(reference, variant.pos + trimmed.head - start, trimmed.alt.front());
    }
    return errors;
}

// Whether most molecules of a mixture have an alternative allele: errors of one strand, or of some cycles, are fewer.
bool most_have(const std::vector<SampleGenotype>& samples) {
    const auto is_more = [](const AlleleFraction& one) { return one.low > 0.5; };
    return std::any_of(samples.begin(), samples.end(), [&](const SampleGenotype& sample) {
        return !sample.fractions.empty() && std::any_of(sample.fractions.begin() + 1, sample.fractions.end(), is_more);
    });
}

// The same reads at sites with gaps. Reads with a gap map worse; contexts and misread letters are those of SNVs.
ReadOrigins at_gaps(ReadOrigins origins) {
    origins.mapq = nullptr;
    origins.rates.of_context = nullptr;
    origins.rates.unpromised = 0;
    origins.have_gaps = true;
    return origins;
}

// Genotypes the candidates of one region.
class RegionGenotyper {
public:
    RegionGenotyper(const ScoredRegion& region, const GenotypingOptions& options, GenotypeTables& tables)
        : region_(region),
          options_(options),
          tables_(tables),
          fragment_(region.fragment),
          origins_{region.flag.data(),
                   region.start.data(),
                   region.end.data(),
                   region.mapq.data(),
                   region.neighbours ? &*region.neighbours : nullptr,
                   &names_,
                   options.contamination.data(),
                   options.rates},
          origins_at_gaps_(at_gaps(origins_)),
          set_aside_(region.set_aside) {
        if (region.neighbours) {
            name_fragments();
            if (!options.is_mixture) take_ends(ends_of(region.neighbours->reads));
        }
        if (options.is_mixture) weigh_haplotypes();
    }

    // The candidates that are written. Also those that were not asked for: the phase of the others depends on them.
    // `left_out` gets the others, if it is not null.
    std::vector<Genotyped> candidates(std::vector<Genotyped>* left_out = nullptr) {
        std::vector<Genotyped> found;
        for (Genotyped& one : all_candidates()) {
            if (options_.is_discovered && called_alleles(one.site).empty()) {
                if (left_out) left_out->push_back(std::move(one));
                continue;
            }
            found.push_back(options_.is_discovered ? with_called(std::move(one)) : std::move(one));
        }
        if (options_.is_discovered && options_.joins_snvs) found = with_joined_snvs(std::move(found));
        add_spanned(found);
        return found;
    }

    // Candidates of one sample, of which no two begin at the same base: a gVCF has one record there.
    std::vector<Genotyped> one_a_base(std::vector<Genotyped> candidates) const {
        std::vector<Genotyped> all;
        for (Genotyped& one : candidates) {
            if (all.empty() || all.back().site.variant.pos != one.site.variant.pos) all.push_back(std::move(one));
            else all.back() = with_indel(all.back(), one);
        }
        std::map<std::optional<int64_t>, int> members;
        for (const Genotyped& one : all) ++members[one.site.samples.front().phase_set];
        for (Genotyped& one : all) {
            // The two of a phase set may have become one.
            SampleGenotype& sample = one.site.samples.front();
            if (members[sample.phase_set] > 1) continue;
            sample.phased.clear();
            sample.phase_set.reset();
        }
        return all;
    }

    // Adds what its reads say of errors.
    void add_statistics(Genotyped& candidate) const {
        SiteStatistics found = site_statistics(
            candidate.reads, {region_.flag.data(), region_.mapq.data(), region_.from_end.data() + candidate.number,
                              static_cast<int64_t>(region_.region.variants.size())});
        Site& site = candidate.site;
        for (size_t sample = 0; sample < site.samples.size(); ++sample)
            site.samples[sample].strands = found.strands[sample];
        site.annotations = std::move(found.annotations);
        site.mapqs = found.mapqs;
        site.unfit = unfit(candidate.extent);
    }

    // Adds likelihoods of one allele more, which stands for all others.
    void add_others(Genotyped& candidate) const {
        const SiteReads more = candidate.reads.with_non_reference();
        const std::vector<double> priors(candidate.site.variant.alts.size() + 1, options_.snv_prior);
        for (size_t sample = 0; sample < candidate.site.samples.size(); ++sample) {
            SampleGenotype& own = candidate.site.samples[sample];
            own.with_others = call_sample(more, static_cast<int>(sample), priors, own.ploidy, tables_).likelihoods;
            // Genotypes without that allele come first, and are as likely as without it.
            if (!own.with_others.empty())
                std::copy(own.likelihoods.begin(), own.likelihoods.end(), own.with_others.begin());
        }
    }

    // What the genotypes of a sample at a candidate are weighed by.
    WeighedGenotypes weighed(const Genotyped& candidate, int sample) {
        WeighedGenotypes weighed;
        const int ploidy = candidate.site.samples[sample].ploidy;
        const int64_t alleles = static_cast<int64_t>(candidate.priors.size()) + 1;
        if (candidate.reads.reads_of(sample) == 0 || count_genotypes(alleles, ploidy) > kMaxGenotypes) return weighed;
        const Genotypes& genotypes = tables_.of(candidate.priors, ploidy);
        for (auto at = genotypes.table.begin(); at != genotypes.table.end(); at += ploidy)
            weighed.alleles.emplace_back(at, at + ploidy);
        weighed.prior = genotypes.prior;
        const auto with = [&](const SourceRates& rates, bool is_contaminated) {
            return likelihoods_with(rates, is_contaminated, candidate.reads, sample, genotypes);
        };
        const SourceRates& own = options_.rates;
        SourceRates without_errors = own, without_foreign = own;
        without_errors.errors = {0, 0}, without_errors.of_context = nullptr;
        without_foreign.copies = 0;
        weighed.likelihood = with(own, true);
        weighed.without_strand_errors = with(without_errors, true);
        weighed.without_foreign = likelihoods_with(without_foreign, true, uncorrected(candidate), sample, genotypes);
        weighed.without_contamination = with(own, false);
        without_errors.copies = 0;
        weighed.alone = with(without_errors, false);
        return weighed;
    }

    // Links the alleles of mixtures. Gives the lines of the table of haplotypes, if it is written.
    std::string link(std::vector<Genotyped>& candidates) const {
        std::string lines;
        for (size_t sample = 0; sample < mixtures_.size(); ++sample) {
            if (candidates.size() < 2 && options_.names.empty()) continue;
            std::vector<MixedHaplotype> present = present_haplotypes(mixtures_[sample], region_);
            if (options_.errors) leave_out_errors(region_, *options_.errors, static_cast<int32_t>(sample), present);
            std::vector<MixedSite> sites;
            for (Genotyped& one : candidates)
                sites.push_back({one.site.variant.pos, &one.allele_of, &one.site.samples[sample]});
            link_alleles(sites, present);
            if (!options_.names.empty())
                lines += mixture_lines(region_, static_cast<int32_t>(sample), options_.names[sample], present);
        }
        return lines;
    }

private:
    // log10 P(reads of a sample | genotype) with other rates of other sources: [genotypes]
    std::vector<double> likelihoods_with(const SourceRates& rates, bool is_contaminated, const SiteReads& reads,
                                         int sample, const Genotypes& genotypes) {
        const std::pair<ReadOrigins, ReadOrigins> own{origins_, origins_at_gaps_};
        const std::vector<double> none(options_.contamination.size(), 0.0);
        origins_.rates = rates;
        if (!is_contaminated) origins_.contamination = none.data();
        origins_at_gaps_ = at_gaps(origins_);
        std::vector<double> likelihoods = reads.likelihoods(sample, genotypes);
        std::tie(origins_, origins_at_gaps_) = own;
        return likelihoods;
    }

    // Hashes the name of each fragment once. A fragment's number is that of its first read.
    void name_fragments() {
        for (int64_t read = 0; read < region_.reads(); ++read)
            names_.push_back(region_.fragment[read] == read ? fragment_name(region_.name(read)) : 0);
    }

    // Joins the copies of molecules, and leaves out what primers may be of.
    void take_ends(const EndsOfFragments& ends) {
        join_copies(ends, names_, region_.sample, fragment_);
        if (!options_.rates.of_amplicons) return;
        between_primers_ = between_primers(*region_.neighbours, ends);
        origins_.neighbours = origins_at_gaps_.neighbours = &between_primers_;
    }

    // The mixture of each sample. Alleles are compared by haplotypes that some fragment may be of.
    void weigh_haplotypes() {
        ScoredReads reads = scored_reads(false);
        std::vector<double> scores;
        if (options_.errors) scores = scores_with_errors(region_, *options_.errors), reads.log10 = scores.data();
        for (int sample = 0; sample < static_cast<int>(options_.ploidies.size()); ++sample) {
            mixtures_.emplace_back(mixture_rows(reads, sample, options_.score_floor.value_or(kNoFloor)),
                                   fragment_lengths(region_, sample));
            for (const double weight : mixtures_.back().weights()) are_likely_.push_back(weight >= kLeastWeight);
        }
    }

    // likely: [samples][haplotypes] that samples may have; none: all of them.
    ScoredReads scored_reads(bool has_gaps, const std::vector<uint8_t>& likely = {}) const {
        return {region_.reads(),
                static_cast<int64_t>(region_.haplotypes.size()),
                region_.log10.data(),
                reinterpret_cast<const bool*>(set_aside_.data()),
                region_.start.data(),
                region_.end.data(),
                region_.sample.data(),
                fragment_.data(),
                has_gaps ? &origins_at_gaps_ : &origins_,
                likely.empty() ? nullptr : likely.data()};
    }

    std::vector<int> ploidies_at(const std::string& chrom, int64_t position) const {
        std::vector<int> ploidies;
        for (const SamplePloidy& ploidy : options_.ploidies) ploidies.push_back(ploidy.at(chrom, position));
        return ploidies;
    }

    // Where reads that end in a gap show SNVs.
    Extent around_gaps() const {
        Extent around{0, 0};
        for (size_t number = 0; number < region_.region.variants.size(); ++number) {
            if (!has_gap(region_.region.variants[number])) continue;
            const auto [start, end] = region_.region.extents[number];
            around = {around.end == 0 ? start - kUnsureEnd : around.start, std::max(around.end, end + kUnsureEnd)};
        }
        return around;
    }

    // The reads set aside, and those of copies: no chromosome explains them.
    std::vector<uint8_t> with_foreign(const std::vector<int>& ploidies) const {
        std::vector<uint8_t> aside = set_aside_;
        if (!region_.neighbours) return aside;
        const Extent unsure = around_gaps();
        for (size_t sample = 0; sample < ploidies.size(); ++sample) {
            if (ploidies[sample] == 0) continue;
            FragmentNames names;
            for (size_t read = 0; read < aside.size(); ++read)
                if (region_.sample[read] == static_cast<int32_t>(sample)) names.push_back(name_of(read));
            const FragmentNames foreign =
                foreign_fragments(*origins_.neighbours, static_cast<int>(sample), unsure.start, unsure.end,
                                  ascending(std::move(names)), options_.rates, ploidies[sample]);
            for (size_t read = 0; read < aside.size(); ++read)
                if (region_.sample[read] == static_cast<int32_t>(sample) && is_in(name_of(read), foreign))
                    aside[read] = 1;
        }
        return aside;
    }

    int64_t name_of(size_t read) const { return names_[static_cast<size_t>(region_.fragment[read])]; }

    // Whether reads could take alleles from several chromosomes: those of several candidates, or unlisted ones.
    bool needs_pairs() const {
        const auto is_unlisted = [](const Haplotype& one) {
            return std::find(one.alleles.begin(), one.alleles.end(), kUnlistedAllele) != one.alleles.end();
        };
        return region_.region.variants.size() > 1 ||
               std::any_of(region_.haplotypes.begin(), region_.haplotypes.end(), is_unlisted);
    }

    // All candidates.
    std::vector<Genotyped> all_candidates() {
        const std::vector<Variant>& variants = region_.region.variants;
        if (!needs_pairs() || options_.is_mixture) return each_candidate();
        const std::vector<int> ploidies = ploidies_at(variants.front().chrom, variants.front().pos);
        const std::vector<uint8_t> not_of_pairs = with_foreign(ploidies);
        ScoredReads of_pairs = scored_reads(false);
        of_pairs.set_aside = reinterpret_cast<const bool*>(not_of_pairs.data());
        pairs_.emplace(of_pairs, ploidies);
        std::vector<Genotyped> found = each_candidate();
        bool is_corrected = false;
        for (size_t sample = 0; sample < options_.ploidies.size(); ++sample) {
            std::vector<std::vector<int>> called(variants.size());
            for (const Genotyped& one : found) {
                called[one.number] = one.site.samples[sample].alleles;
                // A discovered candidate without a record is the reference.
                if (options_.is_discovered && called[one.number].empty()) called[one.number] = {0};
            }
            is_corrected |= pairs_->correct(sample, scored_reads(false), region_.haplotypes, called, set_aside_);
        }
        if (!is_corrected) return found;
        uncorrected_ = std::move(found);
        return each_candidate();
    }

    // A candidate's reads before those of other haplotypes, as foreign ones are, were set aside.
    const SiteReads& uncorrected(const Genotyped& candidate) const {
        for (const Genotyped& one : uncorrected_)
            if (one.number == candidate.number && one.reads.alleles() == candidate.reads.alleles()) return one.reads;
        return candidate.reads;
    }

    std::vector<Genotyped> each_candidate() const {
        std::vector<Genotyped> found;
        for (size_t number = 0; number < region_.region.variants.size(); ++number)
            if (region_.region.variants[number].role != Role::kNuisance) found.push_back(candidate(number));
        return found;
    }

    Genotyped genotyped(size_t number, Variant variant, std::vector<int64_t> allele_of, const Extent& extent) const {
        return genotyped(number, std::move(variant), std::move(allele_of), extent, extent);
    }

    // whole: the extent with those of deletions that take the site away. Reads with them lie at their ends.
    Genotyped genotyped(size_t number, Variant variant, std::vector<int64_t> allele_of, const Extent& extent,
                        const Extent& whole) const {
        const RunAlleles run =
            run_alleles(variant, region_.haplotypes.front().sequence, region_.region.haplotype_start);
        std::vector<double> priors = run_priors(run, options_.indel_prior);
        for (size_t i = 0; i < priors.size(); ++i)
            if (variant.alts[i].size() == variant.ref.size()) priors[i] = options_.snv_prior / kOtherLetters;
        const int listed = static_cast<int>(priors.size()) + 1;
        std::vector<int64_t> numbers = allele_of;
        // An allele that is not listed competes with the others.
        const bool has_unlisted = std::find(numbers.begin(), numbers.end(), kUnlistedAllele) != numbers.end();
        if (has_unlisted) {
            std::replace<std::vector<int64_t>::iterator, int64_t>(numbers.begin(), numbers.end(), kUnlistedAllele,
                                                                  listed);
            priors.push_back(options_.snv_prior);
        }
        SiteReads over = site_reads(variant, numbers, static_cast<int>(priors.size()) + 1, extent, whole, has_unlisted);
        over.set_slips(run_slips(run, options_.slips));
        SiteGenotypes called = options_.is_mixture ? mixed_site(over, allele_of, listed)
                                                   : call_site(over, priors, ploidies_at(variant.chrom, variant.pos),
                                                               options_.families, tables_);
        Site site;
        site.variant = std::move(variant);
        if (most_have(called.samples)) site.variant.artefact = Artefact::kNone;
        site.quality = called.quality;
        site.samples = std::move(called.samples);
        const bool is_called = has_unlisted && called_alleles(site).count(listed) > 0;
        for (SampleGenotype& sample : site.samples)
            if (has_unlisted) leave_out_unlisted(listed, sample);
        for (const SampleGenotype& sample : site.samples) site.left_out = std::max(site.left_out, sample.left_out);
        return {number, std::move(site), std::move(over), std::move(allele_of), extent, std::move(priors), is_called};
    }

    // What reads say of a variant's alleles. numbers: [haplotypes] the allele of each.
    SiteReads site_reads(const Variant& variant, const std::vector<int64_t>& numbers, int alleles, const Extent& extent,
                         const Extent& whole, bool has_unlisted) const {
        const std::optional<int64_t> unlisted = has_unlisted ? std::optional<int64_t>(alleles - 1) : std::nullopt;
        const std::vector<uint8_t> likely =
            pairs_ ? pairs_->are_likely(numbers, region_.haplotypes, unlisted) : are_likely_;
        SiteReads over(scored_reads(has_gap(variant), likely), extent, whole, numbers, alleles,
                       static_cast<int>(options_.ploidies.size()),
                       options_.score_floor.value_or(std::numeric_limits<double>::infinity()),
                       options_.score_floor.value_or(kNoFloor), has_unlisted);
        over.set_errors(errors_like(variant, static_cast<size_t>(alleles), region_.haplotypes.front().sequence,
                                    region_.region.haplotype_start));
        return over;
    }

    // The fractions of the first alleles of a site in each sample. Those whose interval excludes 0 are present, an
    // alternative one where all samples together show it.
    SiteGenotypes mixed_site(const SiteReads& over, const std::vector<int64_t>& allele_of, int alleles) const {
        SiteGenotypes mixed{{}, 0};
        for (size_t sample = 0; sample < mixtures_.size(); ++sample) {
            SampleGenotype& own = mixed.samples.emplace_back();
            own.depths = over.depths(static_cast<int>(sample));
            own.depth = over.reads_of(static_cast<int>(sample));
            own.ploidy = 0;
            constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
            own.fractions.assign(static_cast<size_t>(alleles), {kUnknown, kUnknown, kUnknown});
        }
        for (int allele = 0; allele < alleles; ++allele) {
            const double quality = add_fractions(allele_of, allele, mixed.samples);
            if (allele > 0) mixed.quality = std::max(mixed.quality, quality);
        }
        return mixed;
    }

    // Adds the fraction of one allele. Gives its QUAL.
    double add_fractions(const std::vector<int64_t>& allele_of, int allele,
                         std::vector<SampleGenotype>& samples) const {
        std::vector<uint8_t> has_allele;
        for (const int64_t one : allele_of) has_allele.push_back(one == allele);
        std::vector<double> ratios;
        for (size_t sample = 0; sample < samples.size(); ++sample) {
            if (samples[sample].depth == 0 || !mixtures_[sample].has_reads()) continue;
            const MixedShare share = mixtures_[sample].share(has_allele);
            samples[sample].fractions[static_cast<size_t>(allele)] = {share.fraction, share.low, share.high};
            ratios.push_back(share.ratio);
        }
        const double quality = mixture_quality(ratios);
        for (SampleGenotype& sample : samples) {
            if (!(sample.fractions[static_cast<size_t>(allele)].low > 0) || (allele > 0 && quality == 0)) continue;
            sample.alleles.push_back(allele);
            ++sample.ploidy;
            sample.is_called = true;
        }
        return quality;
    }

    // A candidate with all its alternative alleles.
    Genotyped candidate(size_t number) const {
        std::vector<int64_t> allele_of;
        for (const Haplotype& haplotype : region_.haplotypes) allele_of.push_back(haplotype.alleles[number]);
        const Extent& extent = region_.region.extents[number];
        Genotyped own = genotyped(number, region_.region.variants[number], allele_of, extent);
        if (region_.with_unlisted.empty()) return own;
        const Extent& whole = region_.with_unlisted[number];
        if (whole.start == extent.start && whole.end == extent.end) return own;
        Genotyped more = genotyped(number, own.site.variant, std::move(allele_of), extent, whole);
        return more.has_unlisted ? beside_deletions(own, std::move(more)) : own;
    }

    // A candidate as the reads at the ends of deletions over it say too. QUAL stays that of the alleles that are not
    // deletions elsewhere.
    static Genotyped beside_deletions(const Genotyped& own, Genotyped more) {
        more.site.quality = own.site.quality;
        more.site.left_out = own.site.left_out;
        return more;
    }

    // A candidate with only the alternative alleles that samples have.
    Genotyped with_called(Genotyped candidate) const {
        const std::set<int> kept = called_alleles(candidate.site);
        if (kept.size() == candidate.site.variant.alts.size()) return candidate;
        std::vector<int64_t> place(candidate.site.variant.alts.size() + 1, -1), allele_of;
        place[0] = 0;
        int64_t next = 1;
        for (const int allele : kept) place[allele] = next++;
        for (const int64_t allele : candidate.allele_of) allele_of.push_back(allele < 0 ? -1 : place[allele]);
        Genotyped fewer = genotyped(candidate.number, with_alleles(candidate.site.variant, kept), std::move(allele_of),
                                    candidate.extent);
        fewer.site.left_out = candidate.site.left_out;
        // A genotype may be wrong as that of an allele which is left out is right.
        for (size_t sample = 0; sample < fewer.site.samples.size(); ++sample) {
            const SampleGenotype& with_all = candidate.site.samples[sample];
            int& quality = fewer.site.samples[sample].quality;
            if (with_all.is_called) quality = std::min(quality, with_all.quality);
        }
        return fewer;
    }

    // Candidates, with neighbouring SNVs as one where samples have all of them on the same chromosomes.
    std::vector<Genotyped> with_joined_snvs(std::vector<Genotyped> candidates) const {
        std::vector<const Variant*> variants;
        for (const Genotyped& one : candidates) variants.push_back(&one.site.variant);
        std::vector<std::optional<Genotyped>> joined(candidates.size());
        std::vector<uint8_t> is_taken(candidates.size(), 0);
        for (const auto& [first, last] : snv_runs(variants)) {
            const auto begin = is_taken.begin() + first, end = is_taken.begin() + last;
            if (std::find(begin, end, 1) != end) continue;
            joined[first] = this->joined({candidates.data() + first, candidates.data() + last});
            if (joined[first]) std::fill(begin, end, uint8_t{1});
        }
        std::vector<Genotyped> result;
        for (size_t i = 0; i < candidates.size(); ++i) {
            if (joined[i]) result.push_back(std::move(*joined[i]));
            else if (!is_taken[i]) result.push_back(std::move(candidates[i]));
        }
        return result;
    }

    // Neighbouring SNVs as one candidate; none where a sample has one without the others.
    std::optional<Genotyped> joined(const std::pair<const Genotyped*, const Genotyped*>& snvs) const {
        std::vector<const Variant*> variants;
        std::vector<const std::vector<int64_t>*> allele_of;
        Extent extent = snvs.first->extent;
        for (const Genotyped* one = snvs.first; one < snvs.second; ++one) {
            variants.push_back(&one->site.variant);
            allele_of.push_back(&one->allele_of);
            extent = span_of(extent, one->extent);
        }
        JoinedSnvs all = join_snvs(variants, allele_of);
        Genotyped one = genotyped(snvs.first->number, std::move(all.variant), std::move(all.allele_of), extent);
        const std::set<int> called = called_alleles(one.site);
        if (called.empty() || !std::includes(all.changed.begin(), all.changed.end(), called.begin(), called.end()))
            return {};
        return with_called(std::move(one));
    }

    // An SNV with the insertion or deletion behind its base. Its genotype is that of both, as sure as the less sure
    // one.
    Genotyped with_indel(const Genotyped& snv, const Genotyped& indel) const {
        const SampleGenotype &own = snv.site.samples.front(), &other = indel.site.samples.front();
        std::vector<int> alleles;
        Genotyped joined = both(snv, indel, likelier_pairs(snv, indel), alleles);
        joined.site.quality = std::max(snv.site.quality, indel.site.quality);
        joined.site.left_out = std::max(snv.site.left_out, indel.site.left_out);
        SampleGenotype& sample = joined.site.samples.front();
        if (own.phase_set || other.phase_set) sample.phased = alleles;
        sample.phase_set = own.phase_set ? own.phase_set : other.phase_set;
        std::sort(alleles.begin(), alleles.end());
        sample.alleles = std::move(alleles);
        sample.quality = std::min(own.quality, other.quality);
        sample.is_called = true;
        return joined;
    }

    // Which of their alleles lie together: by phase, or as is likelier.
    AllelePairs likelier_pairs(const Genotyped& snv, const Genotyped& indel) const {
        std::vector<AllelePairs> possible = possible_pairs(snv.site.samples.front(), indel.site.samples.front());
        if (possible.size() == 1) return possible.front();
        AllelePairs all = possible.front();
        all.insert(all.end(), possible.back().begin(), possible.back().end());
        std::vector<int> alleles;
        const std::vector<int64_t> likelihoods = both(snv, indel, all, alleles).site.samples.front().likelihoods;
        const auto likelihood = [&](int one, int two) {
            const auto high = static_cast<size_t>(std::max(one, two)), low = static_cast<size_t>(std::min(one, two));
            return likelihoods[high * (high + 1) / 2 + low];
        };
        return possible[likelihood(alleles[2], alleles[3]) < likelihood(alleles[0], alleles[1])];
    }

    // Both as one candidate with the alleles of these pairs, whose numbers `alleles` gets.
    Genotyped both(const Genotyped& snv, const Genotyped& indel, const AllelePairs& pairs,
                   std::vector<int>& alleles) const {
        JoinedSites joined =
            join_sites({snv.site.variant, snv.allele_of, {}}, {indel.site.variant, indel.allele_of, {}}, pairs);
        alleles = std::move(joined.alleles);
        return genotyped(snv.number, std::move(joined.variant), std::move(joined.allele_of),
                         span_of(snv.extent, indel.extent));
    }

    // Adds the allele of chromosomes on which a deletion takes a candidate away where a sample has it.
    void add_spanned(std::vector<Genotyped>& candidates) const {
        if (candidates.size() < 2 || std::none_of(candidates.begin(), candidates.end(),
                                                  [](const Genotyped& one) { return has_deletion(one.site.variant); }))
            return;
        std::vector<CalledVariant> sites;
        for (const Genotyped& one : candidates)
            sites.push_back({one.site.variant, one.allele_of, called_alleles(one.site)});
        std::vector<SpanningDeletions> spanning;
        for (size_t i = 0; i < sites.size(); ++i) spanning.push_back(deletions_over(i, sites));
        for (size_t i = 0; i < sites.size(); ++i) {
            if (spanning[i].haplotypes.empty()) continue;
            Extent whole = candidates[i].extent;
            for (const size_t other : spanning[i].sites) whole = span_of(whole, candidates[other].extent);
            add_spanned_allele(candidates[i], spanning[i].haplotypes, whole);
        }
    }

    // Of a discovered candidate, every allele has to be one of a sample. whole: with the deletions.
    void add_spanned_allele(Genotyped& candidate, const std::set<size_t>& haplotypes, const Extent& whole) const {
        Variant variant = candidate.site.variant;
        variant.alts.push_back(kSpannedAllele);
        const size_t last = variant.alts.size();
        std::vector<int64_t> allele_of = candidate.allele_of;
        for (const size_t haplotype : haplotypes) allele_of[haplotype] = static_cast<int64_t>(last);
        Genotyped more = genotyped(candidate.number, std::move(variant), std::move(allele_of), candidate.extent, whole);
        const std::set<int> called = called_alleles(more.site);
        if (!called.count(static_cast<int>(last)) || (options_.is_discovered && called.size() < last)) return;
        candidate = beside_deletions(candidate, std::move(more));
    }

    // The share of the reads over a site that fit no haplotype, in thousandths. One read alone is none.
    double unfit(const Extent& extent) const {
        int64_t reads = 0, count = 0;
        for (int64_t read = 0; read < region_.reads(); ++read) {
            if (!region_.is_over(read, extent)) continue;
            ++reads;
            count += region_.is_unfit(read);
        }
        // Whole numbers round the same way everywhere.
        return count > 1 ? static_cast<double>((2000 * count + reads) / (2 * reads)) / 1000 : 0.0;
    }

    const ScoredRegion& region_;
    const GenotypingOptions& options_;
    GenotypeTables& tables_;
    std::vector<int64_t> fragment_;  // [reads] the first read that is of the same molecule
    std::vector<int64_t> names_;     // [reads] of the first read of each fragment, as neighbours have them
    Mismatches between_primers_;     // the neighbours of amplicons
    ReadOrigins origins_, origins_at_gaps_;
    std::vector<uint8_t> set_aside_;       // [reads] those of the region, and those of haplotypes that a sample lacks
    std::optional<HaplotypePairs> pairs_;  // where there are several candidates
    std::vector<Genotyped> uncorrected_;   // where reads were set aside by pairs
    std::vector<Mixture> mixtures_;        // [samples] where they are mixtures
    std::vector<uint8_t> are_likely_;      // [samples][haplotypes] of mixtures
};

void add_phase(std::vector<Genotyped>& candidates, int samples) {
    for (int sample = 0; sample < samples; ++sample) {
        std::vector<SampleSite> sites;
        for (Genotyped& one : candidates)
            sites.push_back({one.site.variant.pos, &one.reads, &one.site.samples[sample]});
        phase(sites, sample);
    }
}

}  // namespace

Genotyper::Genotyper(GenotypingOptions options) : options_(std::move(options)) {}

std::vector<Site> Genotyper::genotype(const ScoredRegion& region) {
    tables_.forget_some();
    RegionGenotyper genotyper(region, options_, tables_);
    std::vector<Genotyped> candidates = genotyper.candidates();
    if (options_.is_mixture) haplotypes_ += genotyper.link(candidates);
    else add_phase(candidates, samples());
    if (options_.has_others && options_.is_discovered && samples() == 1)
        candidates = genotyper.one_a_base(std::move(candidates));
    std::vector<Site> sites;
    for (Genotyped& one : candidates) {
        if (one.site.variant.role != Role::kAsked) continue;
        genotyper.add_statistics(one);
        if (options_.has_others) genotyper.add_others(one);
        for (SampleGenotype& sample : one.site.samples)
            if (sample.phase_set) sample.phase_set = region.region.on_contig(*sample.phase_set);
        sites.push_back(std::move(one.site));
    }
    return sites;
}

std::vector<WeighedSite> Genotyper::weigh(const ScoredRegion& region) {
    tables_.forget_some();
    RegionGenotyper genotyper(region, options_, tables_);
    std::vector<Genotyped> left_out;
    std::vector<Genotyped> candidates = genotyper.candidates(&left_out);
    add_phase(candidates, samples());
    const size_t written = candidates.size();
    std::move(left_out.begin(), left_out.end(), std::back_inserter(candidates));
    std::vector<WeighedSite> sites;
    for (size_t i = 0; i < candidates.size(); ++i) {
        genotyper.add_statistics(candidates[i]);
        WeighedSite& site = sites.emplace_back(WeighedSite{{}, i >= written, {}});
        for (int sample = 0; sample < samples(); ++sample)
            site.samples.push_back(genotyper.weighed(candidates[i], sample));
        site.site = std::move(candidates[i].site);
    }
    return sites;
}

}  // namespace pairhmm
