// Python bindings of calling/records.hpp and calling/reference_walk.hpp.
#include "calling/records.hpp"

#include <algorithm>
#include <limits>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/reference.hpp"
#include "bind/scored_regions.hpp"
#include "bind/variants.hpp"
#include "calling/genotyping.hpp"
#include "calling/reference_walk.hpp"
#include "calling/region_sources.hpp"
#include "calling/site_statistics.hpp"

namespace {

using pairhmm::PlacedBlock;
using pairhmm::RecordFormat;
using pairhmm::RecordLines;
using pairhmm::ReferenceBlock;
using pairhmm::ReferenceWalk;

// A tuple of numbers; none for None.
template <class Number>
std::vector<Number> numbers_of(nb::handle object, const char* name) {
    return field<std::optional<std::vector<Number>>>(object, name).value_or(std::vector<Number>());
}

// Of each allele of a mixture; NaN for None.
std::vector<pairhmm::AlleleFraction> fractions_of(nb::handle sample, size_t alternatives) {
    using Given = std::optional<std::tuple<double, double, double>>;
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    std::vector<pairhmm::AlleleFraction> fractions;
    for (const Given& one : field<std::vector<Given>>(sample, "fractions")) {
        const auto [fraction, low, high] = one.value_or(std::tuple(kUnknown, kUnknown, kUnknown));
        fractions.push_back({fraction, low, high});
    }
    checks::require(fractions.empty() || fractions.size() == alternatives + 1, "fractions", "not one of each allele");
    return fractions;
}

pairhmm::SampleGenotype to_genotype(nb::handle sample, size_t alternatives) {
    pairhmm::SampleGenotype genotype;
    genotype.alleles = numbers_of<int>(sample, "alleles");
    checks::lie_below(genotype.alleles, static_cast<int64_t>(alternatives) + 1, "alleles");
    genotype.is_called = !sample.attr("alleles").is_none();
    genotype.depths = numbers_of<int64_t>(sample, "depths");
    genotype.depth = field<int64_t>(sample, "depth");
    genotype.quality = field<int>(sample, "quality");
    genotype.likelihoods = numbers_of<int64_t>(sample, "likelihoods");
    genotype.ploidy = field<int>(sample, "ploidy");
    const auto strands = numbers_of<int64_t>(sample, "strands");
    checks::require(strands.size() == genotype.strands.size(), "strands", "not four numbers");
    std::copy(strands.begin(), strands.end(), genotype.strands.begin());
    genotype.phased = numbers_of<int>(sample, "phased");
    genotype.phase_set = field<std::optional<int64_t>>(sample, "phase_set");
    genotype.with_others = numbers_of<int64_t>(sample, "with_others");
    genotype.fractions = fractions_of(sample, alternatives);
    return genotype;
}

pairhmm::Site to_site(const PythonVariant& variant, double quality, nb::handle samples, nb::handle statistics) {
    pairhmm::Site site;
    site.variant = from_python(variant);
    site.quality = quality;
    for (const nb::handle sample : samples) site.samples.push_back(to_genotype(sample, site.variant.alts.size()));
    if (statistics.is_none()) return site;
    site.unfit = field<double>(statistics, "unfit");
    const nb::object known = statistics.attr("annotations");
    for (const pairhmm::SiteAnnotation& annotation : pairhmm::site_annotations()) {
        const auto value = nb::cast<std::optional<double>>(known.attr("get")(annotation.id));
        site.annotations.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    return site;
}

nb::str to_text(const std::string& lines) { return nb::str(lines.data(), lines.size()); }

void bind_walk(nb::module_& module) {
    nb::class_<ReferenceWalk>(module, "ReferenceWalk", "The reference blocks of one sample, in order.")
        .def(
            "__init__",
            [](ReferenceWalk* self, PythonReference& reference, std::vector<std::string> contigs, Array<int32_t> contig,
               Array<int64_t> start, Array<int64_t> end, Array<int32_t> ploidy, int min_base_quality,
               std::vector<int> limits, const pairhmm::ContigLengths& circles) {
                const int64_t count = checks::size_of(contig);
                checks::lie_below(contig, static_cast<int64_t>(contigs.size()), "contig");
                checks::has(start, count, "start");
                checks::has(end, count, "end");
                checks::has(ploidy, count, "ploidy");
                checks::lie_in(ploidy.data(), count, 1, 3, "ploidy");
                std::vector<pairhmm::PloidyInterval> intervals;
                for (int64_t i = 0; i < count; ++i)
                    intervals.push_back({contig.data()[i], start.data()[i], end.data()[i], ploidy.data()[i]});
                new (self) ReferenceWalk(reference, std::move(contigs), std::move(intervals), min_base_quality,
                                         std::move(limits), {circles.begin(), circles.end()});
            },
            "reference"_a, "contigs"_a, "contig"_a, "start"_a, "end"_a, "ploidy"_a, "min_base_quality"_a, "limits"_a,
            "circles"_a, nb::keep_alive<1, 2>(), "The intervals are disjoint, and in the order of the contigs.")
        .def(
            "add",
            [](ReferenceWalk& self, const std::string& chrom, const pairhmm::Reads& reads, Array<int64_t> read_end,
               nb::bytes names, Array<int64_t> name_end) {
                checks::has(read_end, reads.count, "read_end");
                checks::has(name_end, reads.count, "name_end");
                checks::has_ends(name_end, static_cast<int64_t>(names.size()), "name_end");
                nb::gil_scoped_release release;
                self.add(chrom, reads, read_end.data(), {names.c_str(), names.size()}, name_end.data());
            },
            "chrom"_a, "reads"_a, "read_end"_a, "names"_a, "name_end"_a,
            "Count reads of one contig, in order of start.");
}

}  // namespace

void bind_records(nb::module_& module) {
    // Python has it, too. tests/cpu/test_constants.py compares them.
    module.attr("MANY_UNFIT") = pairhmm::kManyUnfit;
    bind_walk(module);

    module.def(
        "info_fields",
        []() -> ListOf<TupleOf<nb::str, nb::str>> {
            nb::list fields;
            for (const pairhmm::InfoField& one : pairhmm::info_fields())
                fields.append(nb::make_tuple(one.id, one.description));
            return fields;
        },
        "The INFO fields behind the counts, in the order of a record: ID and description. All are one Float.");

    nb::class_<RecordFormat>(module, "RecordFormat", "Makes records of sites.")
        .def(
            "__init__",
            [](RecordFormat* self, double min_quality, bool gvcf, std::optional<double> min_qd,
               std::optional<double> max_fs, std::optional<double> max_sor, std::optional<double> min_mq) {
                new (self) RecordFormat({min_quality, gvcf, min_qd, max_fs, max_sor, min_mq});
            },
            "min_quality"_a, "gvcf"_a, "min_qd"_a.none(), "max_fs"_a.none(), "max_sor"_a.none(), "min_mq"_a.none(),
            "The limits of filters, as RecordOptions has them.")
        .def(
            "line",
            [](const RecordFormat& format, const PythonVariant& variant, double quality, nb::object samples,
               nb::object statistics) {
                std::string line;
                format.append(to_site(variant, quality, samples, statistics), line);
                return to_text(line);
            },
            "variant"_a, "quality"_a, "samples"_a, "statistics"_a.none(),
            "The line of a site, of which `pairhmm.Site` has the parts.");

    nb::class_<RecordLines>(module, "RecordLines",
                            "Lines of a part of a run. The blocks at both ends stay open, for those beside.")
        .def(nb::init<>())
        .def(
            "add_regions",
            [](RecordLines& lines, const RecordFormat& format, pairhmm::Genotyper& genotyper,
               const ScoredRegions& batch, ReferenceWalk* walk) -> TupleOf<int64_t, int64_t, int64_t, nb::str> {
                pairhmm::SiteCounts counts;
                {
                    nb::gil_scoped_release release;
                    for (const pairhmm::ScoredRegion& region : batch.regions) {
                        checks::lie_below(region.sample, genotyper.samples(), "sample");
                        const std::vector<pairhmm::Site> sites = genotyper.genotype(region);
                        counts.add(sites);
                        pairhmm::append_records(sites, format, walk, lines);
                        lines.haplotypes += genotyper.take_haplotypes();
                    }
                }
                return nb::make_tuple(counts.sites, counts.limited, counts.unfit, counts.first_unfit);
            },
            "format"_a, "genotyper"_a, "batch"_a, "walk"_a.none(),
            "Append the records of scored regions, and the blocks before each. Gives the fields of SiteCounts.")
        .def(
            "add_rest", [](RecordLines& lines, ReferenceWalk& walk) { walk.rest(lines); }, "walk"_a,
            nb::call_guard<nb::gil_scoped_release>(), "Append all blocks that the walk has not given yet.")
        .def(
            "add", [](RecordLines& lines, const RecordLines& next) { lines.append(next); }, "next"_a,
            nb::call_guard<nb::gil_scoped_release>(), "Append the lines of the part that follows.")
        .def(
            "take", [](RecordLines& lines) { return to_text(lines.take()); },
            "Take the lines that are whole where no part comes before.")
        .def(
            "take_all", [](RecordLines& lines) { return to_text(lines.take_all()); },
            "Take all lines: no part follows.")
        .def(
            "take_haplotypes",
            [](RecordLines& lines) { return to_text(std::exchange(lines.haplotypes, std::string())); },
            "Take the lines of the table of haplotypes.")
        .def_prop_ro("size", [](const RecordLines& lines) { return lines.text.size(); }, "Bytes of whole lines.");
}
