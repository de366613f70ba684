// Python bindings of calling/genotypes.hpp, site_statistics.hpp and phasing.hpp: arrays in, tuples out.
#include "calling/genotypes.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "calling/families.hpp"
#include "calling/phasing.hpp"
#include "calling/shared_alleles.hpp"
#include "calling/site_statistics.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Positions = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Counts = TupleOf<int64_t, nb::ellipsis>;
// (alleles, depths, depth, quality, likelihoods, log10 posterior of the reference, ploidy)
using Call = TupleOf<std::optional<Counts>, Counts, int, int, Counts, double, int>;
using Known = std::optional<double>;

template <class Number>
nb::tuple to_tuple(const Number* values, size_t count) {
    nb::list list;
    for (size_t i = 0; i < count; ++i) list.append(static_cast<int64_t>(values[i]));
    return nb::tuple(list);
}

// A number, or None in place of NaN.
nb::object known(double value) { return std::isnan(value) ? nb::none() : nb::object(nb::float_(value)); }

nb::object alleles_of(const pairhmm::CalledGenotype& called, const pairhmm::Genotypes& genotypes) {
    if (called.best < 0) return nb::none();
    return to_tuple(&genotypes.table[called.best * genotypes.ploidy], static_cast<size_t>(genotypes.ploidy));
}

Call called_tuple(const pairhmm::CalledGenotype& called, const pairhmm::Genotypes& genotypes) {
    return nb::make_tuple(alleles_of(called, genotypes), to_tuple(called.depths.data(), called.depths.size()),
                          called.depth, called.quality, to_tuple(called.likelihoods.data(), called.likelihoods.size()),
                          called.log10_reference, genotypes.ploidy);
}

// As many as the highest number of a read needs.
int64_t reads_of_region(const pairhmm::SiteReads& reads) {
    int64_t count = 0;
    for (int sample = 0; sample < reads.samples(); ++sample)
        for (int64_t row = reads.first(sample); row < reads.last(sample); ++row)
            count = std::max(count, reads.read(row) + 1);
    return count;
}

void check_sample(const pairhmm::SiteReads& reads, int64_t sample) {
    checks::lie_in(&sample, 1, 0, reads.samples(), "sample");
}

// Genotypes of the alleles of a site.
void check_alleles(const pairhmm::SiteReads& reads, const pairhmm::Genotypes* genotypes) {
    checks::require(genotypes != nullptr && genotypes->alleles == reads.alleles(), "genotypes",
                    "not those of the site's alleles");
}

void check_family(const pairhmm::Family& family, int64_t samples) {
    checks::lie_in(&family.father, 1, 0, samples, "families");
    checks::lie_in(&family.mother, 1, 0, samples, "families");
    checks::lie_below(family.children, samples, "families");
}

}  // namespace

void bind_genotypes(nb::module_& module) {
    using pairhmm::Family;
    using pairhmm::Genotypes;
    using pairhmm::SiteReads;

    // Python has these, too. tests/cpu/test_constants.py compares them.
    module.attr("INFORMATIVE") = pairhmm::kInformative;
    module.attr("MAX_GQ") = pairhmm::kMaxGq;
    module.attr("MAX_QUAL") = pairhmm::kMaxQual;

    nb::class_<Family>(module, "Family", "Two parents and their children, as numbers of samples.")
        .def(nb::init<int, int, std::vector<int>>(), "father"_a, "mother"_a, "children"_a);

    nb::class_<Genotypes>(module, "Genotypes", "All genotypes of some alleles at a ploidy.")
        .def(
            "__init__",
            [](Genotypes* self, int alleles, int ploidy, Array<int16_t> table, Array<double> prior) {
                checks::require(alleles > 0 && ploidy >= 0, "alleles", "at least one, at a ploidy of 0 or more");
                checks::require(checks::size_of(table) == checks::size_of(prior) * ploidy, "table",
                                "the alleles of each genotype, one a copy");
                checks::lie_below(table, alleles, "table");
                new (self) Genotypes(alleles, ploidy, {table.data(), table.data() + table.shape(0)},
                                     {prior.data(), prior.data() + prior.shape(0)});
            },
            "alleles"_a, "ploidy"_a, "table"_a, "prior"_a);

    nb::class_<SiteReads>(module, "SiteReads", "What the reads over a site say of its alleles.")
        .def(
            "__init__",
            [](SiteReads* self, Matrix log10, Array<bool> set_aside, Array<int64_t> start, Array<int64_t> end,
               Array<int32_t> sample, Array<int64_t> fragment, int64_t first, int64_t last,
               const std::vector<int64_t>& allele_of, int alleles, int samples, double score_floor, double floor) {
                const int64_t count = checks::size_of(log10);
                checks::has(set_aside, count, "set_aside");
                checks::has(start, count, "start");
                checks::has(end, count, "end");
                checks::has(sample, count, "sample");
                checks::has(fragment, count, "fragment");
                checks::require(alleles > 0 && samples >= 0, "alleles", "at least one");
                checks::lie_in(sample.data(), count, 0, samples, "sample");
                checks::require(allele_of.size() == log10.shape(1) && !allele_of.empty(), "allele_of",
                                "one a haplotype");
                checks::lie_in(allele_of.data(), static_cast<int64_t>(allele_of.size()), -1, alleles, "allele_of");
                const pairhmm::ScoredReads reads{count,         static_cast<int64_t>(log10.shape(1)),
                                                 log10.data(),  set_aside.data(),
                                                 start.data(),  end.data(),
                                                 sample.data(), fragment.data()};
                new (self) SiteReads(reads, first, last, allele_of, alleles, samples, score_floor, floor);
            },
            "log10"_a, "set_aside"_a, "start"_a, "end"_a, "sample"_a, "fragment"_a, "first"_a, "last"_a, "allele_of"_a,
            "alleles"_a, "samples"_a, "score_floor"_a, "floor"_a)
        .def(
            "call",
            [](const SiteReads& reads, int sample, const Genotypes& genotypes) {
                check_sample(reads, sample);
                check_alleles(reads, &genotypes);
                return called_tuple(reads.call(sample, genotypes), genotypes);
            },
            "sample"_a, "genotypes"_a,
            "The genotype of a sample: (alleles, or None where its reads do not tell genotypes apart, depths, depth, "
            "quality, likelihoods, log10 posterior of the reference, ploidy).")
        .def(
            "call_together",
            [](const SiteReads& reads, const std::vector<const Genotypes*>& genotypes, const std::vector<double>& theta,
               const std::vector<Family>& families) -> TupleOf<ListOf<Call>, double> {
                checks::require(static_cast<int>(genotypes.size()) == reads.samples(), "genotypes", "one a sample");
                for (const Genotypes* of_sample : genotypes) check_alleles(reads, of_sample);
                checks::require(static_cast<int>(theta.size()) + 1 == reads.alleles(), "theta",
                                "one an alternative allele");
                for (const Family& family : families) check_family(family, reads.samples());
                const pairhmm::SharedAlleles shared = pairhmm::share_alleles(reads, genotypes, theta, families);
                nb::list called;
                for (size_t sample = 0; sample < genotypes.size(); ++sample)
                    called.append(
                        called_tuple(reads.call(static_cast<int>(sample), *genotypes[sample], shared.prior[sample]),
                                     *genotypes[sample]));
                return nb::make_tuple(called, shared.log10_reference);
            },
            "genotypes"_a, "theta"_a, "families"_a,
            "The genotypes of all samples, as `call` gives them, and the log10 posterior that none of those whose reads "
            "tell genotypes apart has an alternative allele.")
        .def(
            "statistics",
            [](const SiteReads& reads, Array<uint16_t> flag, Array<uint8_t> mapq, Positions from_end,
               int64_t column) -> TupleOf<ListOf<Counts>, nb::typed<nb::dict, nb::str, Known>> {
                const int64_t count = reads_of_region(reads);
                checks::has(flag, count, "flag");
                checks::has(mapq, count, "mapq");
                checks::has(from_end, count, "from_end");
                checks::lie_in(&column, 1, 0, static_cast<int64_t>(from_end.shape(1)), "column");
                const pairhmm::SiteStatistics found = pairhmm::site_statistics(
                    reads,
                    {flag.data(), mapq.data(), from_end.data() + column, static_cast<int64_t>(from_end.shape(1))});
                nb::list strands;
                for (const pairhmm::Strands& one : found.strands) strands.append(to_tuple(one.data(), one.size()));
                nb::dict annotations;
                for (size_t i = 0; i < found.annotations.size(); ++i)
                    annotations[pairhmm::site_annotations()[i].id] = known(found.annotations[i]);
                return nb::make_tuple(strands, annotations);
            },
            "flag"_a, "mapq"_a, "from_end"_a, "column"_a,
            "Strands of each sample's informative reads (reference forward and reverse, others forward and reverse), "
            "and the value of each of `site_annotations` by its ID, which is None where it is not known.")
        .def(
            "depths",
            [](const SiteReads& reads, int sample) {
                check_sample(reads, sample);
                return reads.depths(sample);
            },
            "sample"_a, "The informative reads of each allele.")
        .def(
            "with_alleles",
            [](const SiteReads& reads, const std::vector<int64_t>& kept) {
                checks::require(!kept.empty(), "kept", "at least one allele");
                checks::lie_below(kept, reads.alleles(), "kept");
                return reads.with_alleles(kept);
            },
            "kept"_a, "The same reads for some of the alleles.")
        .def("with_non_reference", &SiteReads::with_non_reference, "The same reads with one allele for all others.")
        .def(
            "rows",
            [](const SiteReads& reads, int sample) {
                check_sample(reads, sample);
                return reads.rows(sample);
            },
            "sample"_a, "log10 P(read | allele) of a sample's reads, end to end.");

    nb::class_<pairhmm::Phaser>(module, "Phaser", "Phases the heterozygous sites of one sample in a region.")
        .def(nb::init<>())
        .def(
            "add",
            [](pairhmm::Phaser& phaser, const SiteReads& reads, int sample, int one, int other) -> TupleOf<int, bool> {
                check_sample(reads, sample);
                checks::lie_in(&one, 1, 0, reads.alleles(), "one");
                checks::lie_in(&other, 1, 0, reads.alleles(), "other");
                const pairhmm::Phaser::Assignment assignment = phaser.add(reads, sample, one, other);
                return nb::make_tuple(assignment.set, assignment.swapped);
            },
            "reads"_a, "sample"_a, "one"_a, "other"_a,
            "The next site with its two alleles: the number of its phase set, and whether `other` comes first.");

    module.def(
        "site_annotations",
        []() -> ListOf<TupleOf<nb::str, int, nb::str>> {
            nb::list fields;
            for (const pairhmm::SiteAnnotation& field : pairhmm::site_annotations())
                fields.append(nb::make_tuple(field.id, field.decimals, field.description));
            return fields;
        },
        "The INFO fields that the reads of a site give: ID, decimals, description.");

    module.def(
        "number_names",
        [](nb::bytes text, Array<int64_t> end, Output<int64_t> number) {
            checks::has_ends(end, static_cast<int64_t>(text.size()), "end");
            checks::has(number, checks::size_of(end), "number");
            pairhmm::number_names({text.c_str(), text.size()}, static_cast<int64_t>(end.shape(0)), end.data(),
                                  number.data());
        },
        "text"_a, "end"_a, "number"_a, "Give each name the number of the first one that is the same, in place.");
}
