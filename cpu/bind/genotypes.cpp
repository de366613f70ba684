// Python bindings of calling/genotyping.hpp: scored regions in, sites out.
#include "calling/genotyping.hpp"

#include <cmath>
#include <stdexcept>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/reference.hpp"
#include "bind/variants.hpp"
#include "calling/genotypes.hpp"
#include "calling/site_genotypes.hpp"
#include "calling/site_statistics.hpp"
#include "calling/site_text.hpp"
#include "calling/source_rates.hpp"

namespace {

using pairhmm::Genotyper;
using pairhmm::SlipRates;
using pairhmm::SourceRateFinder;
using pairhmm::SourceRates;

using Fields = TupleOf<nb::any, nb::ellipsis>;
using SiteFields =
    TupleOf<Fields, double, ListOf<Fields>, int, nb::typed<nb::dict, nb::str, std::optional<double>>, double>;
using GivenRule = std::tuple<std::string, int64_t, int64_t, int>;
using GivenPloidy = std::tuple<int, std::vector<GivenRule>>;
using GivenFamily = std::tuple<int, int, std::vector<int>>;

template <class Values>
nb::tuple to_tuple(const Values& values) {
    nb::list list;
    for (const auto value : values) list.append(static_cast<int64_t>(value));
    return nb::tuple(list);
}

// A number, or None in place of NaN.
nb::object known(double value) { return std::isnan(value) ? nb::none() : nb::object(nb::float_(value)); }

nb::object if_any(bool is_known, const std::vector<int>& alleles) {
    return is_known ? nb::object(to_tuple(alleles)) : nb::none();
}

// (fraction, low, high) of each allele of a mixture, None where it is not known.
nb::tuple fractions_of(const pairhmm::SampleGenotype& one) {
    nb::list list;
    for (const pairhmm::AlleleFraction& allele : one.fractions)
        list.append(std::isnan(allele.fraction) ? nb::none()
                                                : nb::object(nb::make_tuple(allele.fraction, allele.low, allele.high)));
    return nb::tuple(list);
}

// The fields of `SampleGenotype` in pairhmm/variants/genotypes.py.
nb::tuple genotype_fields(const pairhmm::SampleGenotype& one) {
    return nb::make_tuple(if_any(one.is_called, one.alleles), to_tuple(one.depths), one.depth, one.quality,
                          to_tuple(one.likelihoods), one.log10_reference, one.ploidy, one.left_out,
                          to_tuple(one.strands), if_any(!one.phased.empty(), one.phased), one.phase_set,
                          to_tuple(one.with_others), fractions_of(one));
}

// The fields of `Site` in pairhmm/calling/genotyping.py, without names of samples, and those of its statistics.
SiteFields site_fields(const pairhmm::Site& site) {
    nb::list samples;
    for (const pairhmm::SampleGenotype& one : site.samples) samples.append(genotype_fields(one));
    nb::dict annotations;
    for (size_t i = 0; i < site.annotations.size(); ++i)
        annotations[pairhmm::site_annotations()[i].id] = known(site.annotations[i]);
    return nb::make_tuple(variant_fields(site.variant), site.quality, samples, site.left_out, annotations, site.unfit);
}

using GivenAllele = std::tuple<int64_t, std::string, std::string>;
using Told = std::tuple<std::string, double, double, double, double>;
using Without = nb::typed<nb::dict, nb::str, nb::str>;

// What is told of a sample's genotypes, and the best ones without other sources.
std::pair<std::vector<Told>, Without> told_fields(const pairhmm::WeighedGenotypes& weighed) {
    std::vector<Told> genotypes;
    for (const pairhmm::ToldGenotype& one : told_genotypes(weighed))
        genotypes.emplace_back(one.genotype, one.prior, one.likelihood, one.posterior, one.other_sources);
    nb::dict without;
    for (const auto& [source, genotype] : best_without(weighed)) without[source.c_str()] = genotype;
    return {std::move(genotypes), Without(without)};
}

void bind_weighed_sites(nb::module_& module) {
    nb::class_<pairhmm::WeighedSite>(module, "WeighedSite", "A candidate with what its genotypes were weighed by.")
        .def_prop_ro(
            "fields", [](const pairhmm::WeighedSite& site) { return site_fields(site.site); },
            "As `genotype` has them.")
        .def_ro("is_left_out", &pairhmm::WeighedSite::is_left_out, "Whether no sample has it.")
        .def_prop_ro(
            "samples",
            [](const pairhmm::WeighedSite& site) {
                std::vector<std::pair<std::vector<Told>, Without>> samples;
                for (const pairhmm::WeighedGenotypes& one : site.samples) samples.push_back(told_fields(one));
                return samples;
            },
            "Of each sample: its genotypes, the likeliest first, each with prior, likelihood, posterior and the share "
            "of other sources; and the best genotype without each source, where it is another one.")
        .def(
            "text",
            [](const pairhmm::WeighedSite& site, const std::vector<GivenAllele>& alleles,
               const std::vector<std::string>& samples, const pairhmm::RecordFormat& format, bool is_asked) {
                checks::require(samples.size() == site.samples.size(), "samples", "one of each sample");
                std::vector<pairhmm::AltAllele> given;
                for (const auto& [position, ref, alt] : alleles) given.push_back({position, ref, alt});
                return site_text(site, given, samples, format, is_asked);
            },
            "alleles"_a, "samples"_a, "format"_a, "is_asked"_a, "The same in words.");
}

pairhmm::SamplePloidy ploidy_of(const GivenPloidy& given) {
    const auto& [everywhere, rules] = given;
    pairhmm::SamplePloidy ploidy{everywhere, {}};
    for (const auto& [chrom, start, end, own] : rules) ploidy.rules.push_back({chrom, start, end, own});
    checks::require(everywhere >= 0, "ploidies", "a ploidy below 0");
    for (const pairhmm::PloidyRule& rule : ploidy.rules)
        checks::require(rule.ploidy >= 0, "ploidies", "a ploidy below 0");
    return ploidy;
}

pairhmm::Family family_of(const GivenFamily& given, int64_t samples) {
    const auto& [father, mother, children] = given;
    checks::lie_in(&father, 1, 0, samples, "families");
    checks::lie_in(&mother, 1, 0, samples, "families");
    checks::lie_below(children, samples, "families");
    return {father, mother, children};
}

}  // namespace

void bind_genotypes(nb::module_& module) {
    // Python has these, too. tests/cpu/test_constants.py compares them.
    module.attr("INFORMATIVE") = pairhmm::kInformative;
    module.attr("MAX_GENOTYPES") = pairhmm::kMaxGenotypes;
    module.attr("MAX_GQ") = pairhmm::kMaxGq;

    nb::class_<SlipRates>(module, "SlipRates", "How often reads gain and lose units of repeats: [units * copies] each.")
        .def(
            "__init__",
            [](SlipRates* self, std::vector<double> gain, std::vector<double> loss, double spread,
               std::optional<std::vector<double>> known_gain, std::optional<std::vector<double>> known_loss) {
                SlipRates rates{static_cast<int>(gain.size()) / pairhmm::kLongestUnit,
                                gain,
                                loss,
                                std::vector<double>(gain.size(), spread),
                                known_gain.value_or(gain),
                                known_loss.value_or(loss)};
                if (gain.empty() || gain.size() % pairhmm::kLongestUnit || gain.size() != loss.size() ||
                    gain.size() != rates.known_gain.size() || gain.size() != rates.known_loss.size())
                    throw std::invalid_argument("gain, loss: not of the same units and copies");
                new (self) SlipRates(std::move(rates));
            },
            "gain"_a, "loss"_a, "spread"_a = 0.0, "known_gain"_a.none() = nb::none(),
            "known_loss"_a.none() = nb::none(),
            "spread: of their logarithms (10). known_gain, known_loss: what likelihoods have of them; None: all.")
        .def_prop_ro(
            "gain", [](const SlipRates& rates) { return rates.gain; }, "P(a read has gained units).")
        .def_prop_ro(
            "loss", [](const SlipRates& rates) { return rates.loss; }, "P(a read has lost units).")
        .def_prop_ro(
            "spread", [](const SlipRates& rates) { return rates.spread; },
            "Standard deviation of the logarithms (10) of a run's two rates around these.");

    module.def(
        "slip_rates",
        [](std::vector<uint8_t> insertion, std::vector<uint8_t> deletion, std::vector<uint8_t> gap,
           const std::vector<int>& least_copies, double spread,
           std::optional<std::tuple<uint8_t, uint8_t, uint8_t, std::vector<uint8_t>>> everywhere) {
            if (least_copies.size() != pairhmm::kLongestUnit || gap.empty() || gap.size() % least_copies.size() ||
                insertion.size() != gap.size() || deletion.size() != gap.size())
                throw std::invalid_argument("insertion, deletion, gap: not of the same units and copies");
            std::optional<pairhmm::GapQualities> qualities;
            if (everywhere) {
                const auto& [of_insertion, of_deletion, of_gap, most_by_copies] = *everywhere;
                qualities = {of_insertion, of_deletion, of_gap, most_by_copies};
            }
            return pairhmm::slip_rates({std::move(insertion), std::move(deletion), std::move(gap)}, qualities,
                                       least_copies, spread);
        },
        "insertion"_a, "deletion"_a, "gap"_a, "least_copies"_a, "spread"_a, "everywhere"_a.none() = nb::none(),
        "The rates at which reads gain and lose a unit by gap qualities: [units * copies] of the repeat at a base, and "
        "three as of every base. The higher rates count.");

    nb::class_<SourceRates>(module, "SourceRates", "What reads of a library show beside its chromosomes.")
        .def_prop_ro(
            "copies", [](const SourceRates& rates) { return rates.copies; },
            "The share of all places that have a copy elsewhere.")
        .def_prop_ro(
            "shares", [](const SourceRates& rates) { return rates.shares; },
            "Of copies, the probability of each share of the reads.")
        .def_prop_ro(
            "divergences", [](const SourceRates& rates) { return rates.divergences; },
            "Of copies, the probability of each number of SNVs in a base.")
        .def_prop_ro(
            "divergent", [](const SourceRates& rates) { return rates.divergent; },
            "The share of chromosomes that differ as much as a copy.")
        .def_prop_ro(
            "unpromised", [](const SourceRates& rates) { return rates.unpromised; },
            "Errors of a base that its quality does not promise.")
        .def(
            "of_context",
            [](const SourceRates& rates, int context) {
                const pairhmm::ErrorShares& own = rates.errors_in(context);
                return std::tuple(own.strand, own.growing);
            },
            "context"_a,
            "How often errors of a strand show an allele in one of 512 contexts (cpu/calling/other_sources.hpp), as a "
            "share of how often a chromosome has it: in all cycles alike, and growing with them.")
        .def_prop_ro(
            "of_amplicons", [](const SourceRates& rates) { return rates.of_amplicons; },
            "Whether reads begin at few places.");

    bind_weighed_sites(module);
    nb::class_<Genotyper>(module, "Genotyper", "Genotypes the candidates of scored regions. One thread has it.")
        .def(
            "__init__",
            [](Genotyper* self, double snv_prior, double indel_prior, const std::vector<GivenPloidy>& ploidies,
               const std::vector<GivenFamily>& families, std::optional<double> score_floor, bool discovered, bool mnv,
               bool gvcf, const std::vector<double>& contamination, const SlipRates* slips, bool mixture,
               std::vector<std::string> names, const pairhmm::ErrorRates* errors, const SourceRates* source_rates) {
                pairhmm::GenotypingOptions options{snv_prior,
                                                   indel_prior,
                                                   {},
                                                   {},
                                                   score_floor,
                                                   discovered,
                                                   mnv,
                                                   gvcf,
                                                   slips ? *slips : SlipRates{},
                                                   contamination,
                                                   source_rates ? *source_rates : SourceRates{},
                                                   mixture,
                                                   std::move(names)};
                if (errors) options.errors = std::make_shared<pairhmm::ErrorRates>(*errors);
                checks::require(contamination.size() == ploidies.size(), "contamination", "not one of each sample");
                checks::require(options.names.empty() || options.names.size() == ploidies.size(), "names",
                                "not one of each sample");
                for (const GivenPloidy& one : ploidies) options.ploidies.push_back(ploidy_of(one));
                const auto samples = static_cast<int64_t>(ploidies.size());
                for (const GivenFamily& one : families) options.families.push_back(family_of(one, samples));
                new (self) Genotyper(std::move(options));
            },
            "snv_prior"_a, "indel_prior"_a, "ploidies"_a, "families"_a, "score_floor"_a.none(), "discovered"_a, "mnv"_a,
            "gvcf"_a, "contamination"_a, "slips"_a.none() = nb::none(), "mixture"_a = false,
            "names"_a = std::vector<std::string>(), "errors"_a.none() = nb::none(),
            "source_rates"_a.none() = nb::none(),
            "ploidies: of each sample, its ploidy, and rules (chrom, start, end, ploidy). families: numbers of "
            "samples, as (father, mother, children). contamination: of each sample, the share of another person's reads. "
            "slips: how often reads slip in repeats. mixture: samples are mixtures of haplotypes. names: of the "
            "samples, for the table of haplotypes; without them there is none. errors: of a mixture's reads. source_rates: as some reads show them.")
        .def(
            "genotype",
            [](Genotyper& genotyper, const pairhmm::ScoredRegion& region) -> ListOf<SiteFields> {
                checks::lie_below(region.sample, genotyper.samples(), "sample");
                nb::list fields;
                for (const pairhmm::Site& site : genotyper.genotype(region)) fields.append(site_fields(site));
                return fields;
            },
            "region"_a,
            "The sites of a region that are asked for. Of each: the fields of its variant, QUAL, the fields of the "
            "genotype of each sample, alleles left out, the value of each annotation by its ID, which is None "
            "where it is not known, and the share of reads that fit no haplotype.")
        .def(
            "weigh",
            [](Genotyper& genotyper, const pairhmm::ScoredRegion& region) {
                checks::lie_below(region.sample, genotyper.samples(), "sample");
                return genotyper.weigh(region);
            },
            "region"_a, "All candidates of a region.");

    nb::class_<SourceRateFinder>(module, "SourceRateFinder",
                                 "Sees how often errors of one strand share a cause, and reads are foreign.")
        .def(nb::init<>())
        .def("add", &added<SourceRateFinder>, "chrom"_a, "reads"_a, "reference"_a, kAdded)
        .def("rates", &SourceRateFinder::rates, "The rates that the reads show.");
}
