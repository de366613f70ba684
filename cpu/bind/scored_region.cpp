// Python binding of calling/scored_region.hpp.
#include <nanobind/make_iterator.h>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/haplotypes.hpp"
#include "bind/scored_regions.hpp"
#include "bind/variants.hpp"
#include "calling/filtered_reads.hpp"
#include "calling/scored_region.hpp"
#include "formats/region_lines.hpp"

namespace {

using pairhmm::ScoredRegion;

template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Values of all reads.
template <class Value, class Given>
std::vector<Value> of_reads(const Given& given, int64_t reads, const char* name) {
    checks::has(given, reads, name);
    return {given.data(), given.data() + reads};
}

template <class T>
std::vector<T> rows_of(const Table<T>& given, int64_t reads, size_t columns, const char* name) {
    checks::has(given, reads, name);
    checks::require(given.shape(1) == columns, name, "another number of columns");
    return {given.data(), given.data() + reads * columns};
}

using Self = nb::handle_t<ScoredRegion>;

// The haplotypes of a region with these candidates.
std::vector<pairhmm::Haplotype> haplotypes_of(nb::handle given, const std::vector<pairhmm::Variant>& variants) {
    std::vector<pairhmm::Haplotype> haplotypes = haplotypes_from(given);
    for (const pairhmm::Haplotype& one : haplotypes) {
        const std::vector<int16_t>& alleles = one.alleles;
        checks::require(alleles.size() == variants.size(), "haplotypes", "not an allele at each candidate");
        for (size_t i = 0; i < alleles.size(); ++i)
            checks::lie_in(&alleles[i], 1, pairhmm::kUnlistedAllele, static_cast<int64_t>(variants[i].alts.size()) + 1,
                           "haplotypes");
    }
    checks::require(!haplotypes.empty(), "haplotypes", "at least one");
    return haplotypes;
}

std::vector<uint8_t> flags(const Array<bool>& given, int64_t reads, const char* name) {
    return of_reads<uint8_t>(given, reads, name);
}

using Filtered = TupleOf<int64_t, int64_t, int64_t, int64_t, int64_t, std::optional<std::pair<std::string, int32_t>>,
                         int64_t, nb::bytes>;

Filtered filtered_reads(const ScoredRegions& given) {
    pairhmm::FilteredReads counts;
    {
        nb::gil_scoped_release release;
        for (const ScoredRegion& region : given.regions) counts.add(region);
    }
    return nb::make_tuple(counts.reads, counts.set_aside, counts.bases, counts.sites, counts.emptied,
                          counts.first_emptied, counts.namesakes,
                          nb::bytes(counts.first_namesake.data(), counts.first_namesake.size()));
}

using SpanList = ListOf<TupleOf<nb::str, int64_t, int64_t, int64_t, int64_t>>;

SpanList to_spans(const std::vector<pairhmm::RegionSpan>& spans) {
    nb::list list;
    for (const pairhmm::RegionSpan& one : spans)
        list.append(nb::make_tuple(one.chrom, one.start, one.end, one.rows, one.size));
    return SpanList(list);
}

using LinesList = ListOf<TupleOf<nb::bytes, nb::bytes, SpanList, SpanList>>;

void check_table(const ScoredRegions& given, const pairhmm::RegionTable& table) {
    for (const ScoredRegion& region : given.regions) {
        checks::lie_below(region.sample, static_cast<int64_t>(table.samples.size()), "samples");
        checks::lie_below(region.precision, static_cast<int64_t>(table.precision_names.size()), "precision_names");
    }
}

LinesList lines_of_regions(const ScoredRegions& given, const std::vector<std::string>& samples,
                           const std::vector<std::string>& precision_names, bool is_prepared,
                           std::optional<double> floor, int64_t at_once, int64_t deep) {
    const pairhmm::RegionTable table{samples, precision_names, is_prepared, floor, at_once, deep};
    std::vector<pairhmm::RegionLines> parts;
    {
        nb::gil_scoped_release release;
        check_table(given, table);
        parts = pairhmm::region_lines(given.regions, table);
    }
    nb::list list;
    for (const pairhmm::RegionLines& one : parts)
        list.append(nb::make_tuple(to_bytes(one.table), to_bytes(one.haplotypes), to_spans(one.in_table),
                                   to_spans(one.in_haplotypes)));
    return LinesList(list);
}

using PackedNames = TupleOf<nb::bytes, Owned<int64_t>>;

PackedNames to_names(pairhmm::PackedTexts&& texts) {
    const nb::bytes text(texts.text.data(), texts.text.size());
    return nb::make_tuple(text, to_array(std::move(texts.end)));
}

using ColumnsTuple = TupleOf<Owned<int64_t>, Owned<int64_t>, Owned<int64_t>, Owned<int64_t>, PackedNames, PackedNames,
                             PackedNames, PackedNames, PackedNames, Owned<uint8_t>, Owned<int32_t>, PackedNames,
                             Owned<uint8_t>, Owned<double>, Owned<uint8_t>, Owned<int64_t>>;

ColumnsTuple columns_of_regions(const ScoredRegions& given, const std::vector<std::string>& samples,
                                const std::vector<std::string>& precision_names, bool is_prepared,
                                std::optional<double> floor) {
    const pairhmm::RegionTable table{samples, precision_names, is_prepared, floor, 0, 0};
    pairhmm::RegionColumns columns;
    {
        nb::gil_scoped_release release;
        check_table(given, table);
        columns = pairhmm::region_columns(given.regions, table);
    }
    pairhmm::WrittenReads& written = columns.written;
    return nb::make_tuple(to_array(std::move(columns.start)), to_array(std::move(columns.end)),
                          to_array(std::move(columns.reads)), to_array(std::move(columns.haplotypes)),
                          to_names(std::move(columns.chrom)), to_names(std::move(columns.variants)),
                          to_names(std::move(columns.names)), to_names(std::move(columns.sequences)),
                          to_names(std::move(columns.alleles)), to_array(std::move(columns.nuisance)),
                          to_array(std::move(written.sample)), to_names(std::move(written.names)),
                          to_array(std::move(written.mate)), to_array(std::move(written.log10)),
                          to_array(std::move(written.precision)), to_array(std::move(written.members)));
}

template <ScoredRegion (*Change)(const ScoredRegion&)>
ScoredRegions changed(const ScoredRegions& given) {
    std::vector<ScoredRegion> regions;
    for (const ScoredRegion& region : given.regions) regions.push_back(Change(region));
    return ScoredRegions(std::move(regions));
}

// Takes the regions: most stay as they are, and a copy takes as long as to make them.
ScoredRegions with_many_unfit(ScoredRegions& given) {
    std::vector<ScoredRegion> regions = std::move(given.regions);
    for (ScoredRegion& region : regions) region = pairhmm::with_many_unfit(std::move(region));
    return ScoredRegions(std::move(regions));
}

void bind_scored_regions(nb::module_& module) {
    nb::class_<ScoredRegions>(module, "ScoredRegions", "The scored regions of a batch, in order.")
        .def(
            "__init__",
            [](ScoredRegions* self, std::vector<ScoredRegion> regions) {
                new (self) ScoredRegions(std::move(regions));
            },
            "regions"_a)
        .def("__len__", [](const ScoredRegions& self) { return self.regions.size(); })
        .def(
            "__iter__",
            [](ScoredRegions& self) -> nb::typed<nb::iterator, ScoredRegion> {
                return nb::make_iterator<nb::rv_policy::reference_internal>(nb::type<ScoredRegions>(), "Regions",
                                                                            self.regions.begin(), self.regions.end());
            },
            nb::keep_alive<0, 1>())
        .def("on_listed_alleles", &changed<pairhmm::on_listed_alleles>, nb::call_guard<nb::gil_scoped_release>(),
             "The regions on the haplotypes of listed alleles alone, for genotypes.")
        .def(
            "with_many_unfit", &with_many_unfit, nb::call_guard<nb::gil_scoped_release>(),
            "The regions with reads that fit no haplotype where they are many, for genotypes. They are taken from here.")
        .def("without_unlisted", &changed<pairhmm::without_unlisted>, nb::call_guard<nb::gil_scoped_release>(),
             "The regions without haplotypes of unlisted variants. The reads that are set aside stay the same.")
        .def(
            "table_lines", &lines_of_regions, "samples"_a, "precision_names"_a, "is_prepared"_a, "floor"_a.none(),
            "at_once"_a, "deep"_a,
            "Lines of a likelihood table and of its companion, of several regions at a time but for deep ones, and the "
            "place, rows and bytes of each region in both.")
        .def("table_columns", &columns_of_regions, "samples"_a, "precision_names"_a, "is_prepared"_a, "floor"_a.none(),
             "The rows of regions as columns: the fields of RegionRows behind the first.")
        .def("filtered_reads", &filtered_reads,
             "Reads, those that fit no haplotype, and bases of these; sites that reads cover, those at which a sample "
             "has no read left, and the first of these with the sample.");
}

}  // namespace

void bind_scored_region(nb::module_& module) {
    nb::class_<ScoredRegion>(module, "ScoredRegion", "A scored region, as Evidence of pairhmm.calling.scored_region.")
        .def(
            "__init__",
            [](ScoredRegion* self, const PythonRegion& region, nb::handle haplotypes, nb::bytes names,
               Array<int64_t> name_end, Array<int32_t> sample, Array<uint16_t> flag, Array<uint8_t> mapq,
               Array<int64_t> start, Array<int64_t> end, Array<int64_t> length, Table<int32_t> from_end,
               Table<double> log10, Table<uint8_t> precision, Array<bool> set_aside, std::optional<Array<bool>> unfit,
               std::optional<Array<int64_t>> members, std::optional<Array<int64_t>> fragment) {
                const int64_t reads = checks::size_of(log10);
                ScoredRegion made;
                made.region = from_python(region);
                made.haplotypes = haplotypes_of(haplotypes, made.region.variants);
                checks::has_ends(name_end, static_cast<int64_t>(names.size()), "name_end");
                made.names.assign(names.c_str(), names.size());
                made.name_end = of_reads<int64_t>(name_end, reads, "name_end");
                made.sample = of_reads<int32_t>(sample, reads, "sample");
                checks::lie_in(made.sample.data(), reads, 0, int64_t{1} << 31, "sample");
                made.flag = of_reads<uint16_t>(flag, reads, "flag");
                made.mapq = of_reads<uint8_t>(mapq, reads, "mapq");
                made.start = of_reads<int64_t>(start, reads, "start");
                made.end = of_reads<int64_t>(end, reads, "end");
                made.length = of_reads<int64_t>(length, reads, "length");
                made.from_end = rows_of(from_end, reads, made.region.variants.size(), "from_end");
                made.log10 = rows_of(log10, reads, made.haplotypes.size(), "log10");
                made.precision = rows_of(precision, reads, made.haplotypes.size(), "precision");
                made.set_aside = flags(set_aside, reads, "set_aside");
                if (unfit) made.unfit = flags(*unfit, reads, "unfit");
                if (members) made.members = of_reads<int64_t>(*members, reads, "members");
                if (fragment) made.fragment = of_reads<int64_t>(*fragment, reads, "fragment");
                else number_fragments(made);
                // Without members, a fragment's number is that of one of its reads.
                if (!members) checks::lie_below(made.fragment, reads, "fragment");
                new (self) ScoredRegion(std::move(made));
            },
            "region"_a, "haplotypes"_a, "names"_a, "name_end"_a, "sample"_a, "flag"_a, "mapq"_a, "start"_a, "end"_a,
            "length"_a, "from_end"_a, "log10"_a, "precision"_a, "set_aside"_a, "unfit"_a.none(), "members"_a.none(),
            "fragment"_a.none())
        .def("on_listed_alleles", &pairhmm::on_listed_alleles, nb::call_guard<nb::gil_scoped_release>())
        .def("without_unlisted", &pairhmm::without_unlisted, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("region", [](const ScoredRegion& self) { return to_python(self.region); })
        .def_prop_ro("haplotypes", [](const ScoredRegion& self) { return to_python(self.haplotypes); })
        .def_prop_ro("names", [](const ScoredRegion& self) { return to_bytes(self.names); })
        .def_prop_ro("name_end", array_of<int64_t>(&ScoredRegion::name_end))
        .def_prop_ro("sample", array_of<int32_t>(&ScoredRegion::sample))
        .def_prop_ro("flag", array_of<uint16_t>(&ScoredRegion::flag))
        .def_prop_ro("mapq", array_of<uint8_t>(&ScoredRegion::mapq))
        .def_prop_ro("start", array_of<int64_t>(&ScoredRegion::start))
        .def_prop_ro("end", array_of<int64_t>(&ScoredRegion::end))
        .def_prop_ro("length", array_of<int64_t>(&ScoredRegion::length))
        .def_prop_ro("from_end",
                     [](Self self) {
                         const auto* region = nb::inst_ptr<ScoredRegion>(self);
                         return view(region->from_end, region->sample.size(), region->region.variants.size(), self);
                     })
        .def_prop_ro("log10",
                     [](Self self) {
                         const auto* region = nb::inst_ptr<ScoredRegion>(self);
                         return view(region->log10, region->sample.size(), region->haplotypes.size(), self);
                     })
        .def_prop_ro("precision",
                     [](Self self) {
                         const auto* region = nb::inst_ptr<ScoredRegion>(self);
                         return view(region->precision, region->sample.size(), region->haplotypes.size(), self);
                     })
        .def_prop_ro("set_aside", array_of<bool>(&ScoredRegion::set_aside))
        .def_prop_ro("reads", array_of<int64_t>(&ScoredRegion::members),
                     "Of each profile; none where they were not joined.")
        .def_prop_ro("fragment", array_of<int64_t>(&ScoredRegion::fragment));

    bind_scored_regions(module);
}
