// Python bindings of calling/candidate_finder.hpp and region_sources.hpp.
#include "calling/region_sources.hpp"

#include <map>

#include "bind/checks.hpp"
#include "bind/reference.hpp"
#include "bind/variants.hpp"
#include "calling/candidate_finder.hpp"
#include "calling/error_rates.hpp"
#include "calling/evidence_text.hpp"
#include "calling/letters.hpp"
#include "calling/local_evidence.hpp"
#include "calling/variant.hpp"

namespace {

using Places = std::vector<std::pair<int64_t, int64_t>>;
// Intervals of several contigs; without a value, everywhere.
using GenomePlaces = std::optional<std::vector<std::tuple<std::string, int64_t, int64_t>>>;

pairhmm::GenomeIntervals intervals(const GenomePlaces& places) {
    if (!places) return {};
    std::map<std::string, Places> of_contig;
    for (const auto& [chrom, start, end] : *places) of_contig[chrom].emplace_back(start, end);
    return pairhmm::GenomeIntervals(std::move(of_contig));
}

// Of mixtures alone.
std::shared_ptr<const pairhmm::ErrorRates> error_rates(nb::handle options) {
    const nb::object rates = options.attr("errors");
    return rates.is_none() ? nullptr : std::make_shared<pairhmm::ErrorRates>(nb::cast<pairhmm::ErrorRates>(rates));
}

// `options` are `CandidateOptions` in pairhmm/calling/discovery.py.
pairhmm::CandidateThresholds thresholds(nb::handle options) {
    return {field<int>(options, "min_base_quality"),      field<int>(options, "min_snv_count"),
            field<int>(options, "min_indel_count"),       field<double>(options, "min_snv_fraction"),
            field<double>(options, "min_indel_fraction"), error_rates(options)};
}

pairhmm::CandidateFinder finder(PythonReference& reference, int samples, nb::handle options) {
    checks::require(samples > 0, "samples", "at least one");
    return {reference, samples, thresholds(options), field<bool>(options, "assembly")};
}

// `options` are `RegionOptions` in pairhmm/variants/regions.py.
pairhmm::RegionBuilder builder(PythonReference& reference, const pairhmm::ContigLengths& contigs, nb::handle options) {
    const auto bases = [&](const char* name) { return field<int64_t>(options, name); };
    return {reference,
            {contigs.begin(), contigs.end()},
            {bases("join_distance"), bases("max_span"), bases("max_alleles"), bases("flank"), bases("min_flank"),
             bases("pad"), bases("window")}};
}

// Takes candidates from an iterator of Python, some at a time: each time takes the interpreter's lock.
pairhmm::ListedRegions::Next chunks(nb::object iterator) {
    return [iterator = std::move(iterator)] {
        constexpr size_t kChunk = 256;
        nb::gil_scoped_acquire lock;
        std::vector<pairhmm::Variant> variants;
        while (variants.size() < kChunk) {
            const nb::object next = nb::steal(PyIter_Next(iterator.ptr()));
            if (!next.is_valid()) {
                if (PyErr_Occurred()) throw nb::python_error();
                break;
            }
            variants.push_back(from_python(nb::borrow<PythonVariant>(next)));
        }
        return variants;
    };
}

// The position, reference bases and letters of an allele of discovery: SNVs replace a base, others follow their anchor.
nb::tuple allele_fields(const pairhmm::Candidate& one) {
    std::string letters = one.alt;
    for (char& letter : letters) letter = pairhmm::kBases[static_cast<size_t>(letter)];
    return nb::make_tuple(one.position, one.ref_length, one.indel, letters);
}

nb::list alleles_fields(const std::vector<pairhmm::Candidate>& alleles) {
    nb::list list;
    for (const pairhmm::Candidate& one : alleles) list.append(allele_fields(one));
    return list;
}

// The fields of `SampleAssembly` in pairhmm/explain/discovery.py.
nb::dict assembly_fields(const pairhmm::Assembly& assembly, const pairhmm::AssemblySteps& steps) {
    nb::list tried, ways;
    for (const auto& [k, decision] : steps.tried) tried.append(nb::make_tuple(k, pairhmm::tried_text(decision)));
    for (const pairhmm::JudgedWay& one : steps.ways) {
        nb::dict way;
        way["reads"] = one.weight;
        way["leaving"] = one.leaving;
        way["is_united"] = one.is_united;
        way["alleles"] = alleles_fields(one.shown);
        way["are_supported"] = std::vector<bool>(one.is_supported.begin(), one.is_supported.end());
        ways.append(way);
    }
    nb::dict fields;
    fields["k"] = assembly.k;
    fields["is_whole"] = assembly.is_whole;
    fields["tried"] = tried;
    fields["ways"] = ways;
    return fields;
}

using WindowFields = nb::typed<nb::dict, nb::str, nb::any>;

// The fields of `Window` in pairhmm/explain/discovery.py.
nb::dict window_fields(const pairhmm::WindowDecision& window) {
    nb::list samples, explained, changes, told_by_clips;
    for (size_t i = 0; i < window.assemblies.size(); ++i)
        samples.append(assembly_fields(window.assemblies[i], window.steps[i]));
    for (const auto& [candidate, reads] : window.explained)
        explained.append(nb::make_tuple(allele_fields(candidate), reads));
    for (const pairhmm::Candidate& change : window.changes) changes.append(allele_fields(change));
    for (const auto& [candidate, reads] : window.told_by_clips)
        told_by_clips.append(nb::make_tuple(allele_fields(candidate), reads));
    nb::dict fields;
    fields["start"] = window.start;
    fields["end"] = window.end;
    fields["events"] = window.events;
    fields["reads"] = window.reads;
    fields["is_active"] = window.is_active;
    fields["samples"] = samples;
    fields["explained"] = explained;
    fields["twins"] = window.twins;
    fields["changes"] = changes;
    fields["told_by_clips"] = told_by_clips;
    return fields;
}

void bind_sources(nb::module_& module) {
    using pairhmm::RegionSource;
    nb::class_<RegionSource>(module, "RegionSource", "Gives regions in order of position while reads arrive.")
        .def("needed", &RegionSource::needed, "chrom"_a, "reads"_a, nb::call_guard<nb::gil_scoped_release>(),
             "The intervals whose reads are needed, in order; None for everywhere.")
        .def(
            "advance",
            [](RegionSource& source, const std::string& chrom, const pairhmm::Reads& reads, int64_t frontier) {
                return to_list(unlocked([&] { return source.advance(chrom, reads, frontier); }));
            },
            "chrom"_a, "reads"_a, "frontier"_a,
            "The regions that are complete once all reads up to `frontier` have arrived. The reads are the newest.")
        .def(
            "finish",
            [](RegionSource& source, const std::string& chrom) {
                return to_list(unlocked([&] { return source.finish(chrom); }));
            },
            "chrom"_a, "The last regions of a contig whose reads have all arrived, and of contigs before it.")
        .def_prop_ro("open_start", &RegionSource::open_start,
                     "Where the region that is not complete begins; None without one.");

    nb::class_<pairhmm::DiscoveredRegions, RegionSource>(module, "DiscoveredRegions",
                                                         "Gives regions of candidates that the reads show.")
        .def(
            "__init__",
            [](pairhmm::DiscoveredRegions* self, PythonReference& reference, const pairhmm::ContigLengths& contigs,
               int samples, nb::object discovery, nb::object joining, const GenomePlaces& requested,
               const GenomePlaces& padded) {
                new (self) pairhmm::DiscoveredRegions(finder(reference, samples, discovery),
                                                      builder(reference, contigs, joining), intervals(requested),
                                                      intervals(padded));
            },
            "reference"_a, "contigs"_a, "samples"_a, "discovery"_a, "joining"_a, "requested"_a = nb::none(),
            "padded"_a = nb::none(), nb::keep_alive<1, 2>(),
            "Each region has a candidate in the requested intervals. Candidates are sought in the padded ones.");

    nb::class_<pairhmm::ListedRegions, RegionSource>(
        module, "ListedRegions", "Gives regions of listed candidates, with unlisted ones that reads show.")
        .def(
            "__init__",
            [](pairhmm::ListedRegions* self, PythonReference& reference, const pairhmm::ContigLengths& contigs,
               int samples, nb::object discovery, nb::object joining, nb::typed<nb::iterator, PythonVariant> listed,
               const GenomePlaces& requested) {
                new (self) pairhmm::ListedRegions(chunks(std::move(listed)), finder(reference, samples, discovery),
                                                  builder(reference, contigs, joining), reference, contigs,
                                                  intervals(requested));
            },
            "reference"_a, "contigs"_a, "samples"_a, "discovery"_a, "joining"_a, "listed"_a, "requested"_a = nb::none(),
            nb::keep_alive<1, 2>(), "The candidates come in the order of the contigs, then by position.");

    nb::class_<pairhmm::GivenRegion, RegionSource>(module, "GivenRegion", "Gives a region that is known beforehand.")
        .def(
            "__init__",
            [](pairhmm::GivenRegion* self, const PythonRegion& region, const pairhmm::ContigLengths& contigs) {
                new (self) pairhmm::GivenRegion(from_python(region), contigs);
            },
            "region"_a, "contigs"_a);
}

using GivenAllele = std::tuple<int64_t, std::string, std::string>;
using Counts = nb::typed<nb::dict, nb::str, int>;
using CountFields = TupleOf<int, int, int, int, int, std::vector<int>, Counts, int, double>;
using ShownFields = TupleOf<GivenAllele, bool, bool, bool, ListOf<CountFields>>;

Counts counts_of(const pairhmm::LeftOutReads& left_out) {
    nb::dict counts;
    for (const auto& [reason, count] : left_out) counts[reason.c_str()] = count;
    return Counts(counts);
}

// The fields of `ShownAllele` in pairhmm/explain/facts.py.
nb::tuple shown_fields(const pairhmm::ShownAllele& shown) {
    nb::list samples;
    for (const pairhmm::AlleleCount& one : shown.samples)
        samples.append(nb::make_tuple(one.good, one.poor, one.depth, one.forward, one.reverse, one.qualities,
                                      counts_of(one.left_out), one.least_count, one.least_share));
    const GivenAllele allele{shown.allele.position, shown.allele.ref, shown.allele.alt};
    return nb::make_tuple(allele, shown.is_here, shown.is_candidate, shown.is_listed, samples);
}

void bind_evidence(nb::module_& module) {
    module.def(
        "local_evidence",
        [](const std::string& chrom, const pairhmm::AlignedReads& reads, std::vector<std::string> reasons,
           const pairhmm::Reads& used, const std::vector<std::string>& samples, int64_t position,
           const std::vector<GivenAllele>& listed, bool is_listed_run, nb::object options, PythonReference& reference,
           int64_t circle) {
            checks::require(static_cast<int64_t>(reasons.size()) == reads.reads.count, "reasons", "one a read");
            std::set<pairhmm::AltAllele> alleles;
            for (const auto& [at, ref, alt] : listed) alleles.insert({at, ref, alt});
            const pairhmm::LocalReads local{chrom, reads, std::move(reasons), static_cast<int>(samples.size())};
            pairhmm::LocalEvidence evidence(local, used, position, alleles,
                                            {thresholds(options), field<bool>(options, "assembly")}, reference);
            if (circle) {
                evidence.turn_back(circle);
                position %= circle;
            }
            nb::list there, shown, windows;
            for (const pairhmm::ReadsThere& one : evidence.reads())
                there.append(nb::make_tuple(one.over, one.used, counts_of(one.left_out)));
            for (const pairhmm::ShownAllele& one : evidence.alleles()) shown.append(shown_fields(one));
            for (const pairhmm::WindowDecision& one : evidence.windows()) windows.append(window_fields(one));
            return std::tuple(ListOf<TupleOf<int, int, Counts>>(there), ListOf<ShownFields>(shown),
                              ListOf<WindowFields>(windows),
                              std::tuple(reads_text(evidence, samples), alleles_text(evidence, samples),
                                         windows_text(evidence, samples, position, chrom, reference)),
                              std::tuple(reason_of_reads(evidence), reason_of_alleles(evidence, is_listed_run),
                                         reason_of_discovery(evidence, is_listed_run, chrom, reference)));
        },
        "chrom"_a, "reads"_a, "reasons"_a, "used"_a, "samples"_a, "position"_a, "listed"_a, "is_listed_run"_a,
        "options"_a, "reference"_a, "circle"_a,
        "What the reads around a position show, of which some are left out for a reason: the reads of each sample over "
        "it, alleles, windows of assembly, the text of each, and what keeps each from a call. On a circle of so many bases (0: on none), "
        "`position` and `listed` are unrolled, and what is told is on the contig.");
}

}  // namespace

void bind_region_sources(nb::module_& module) {
    nb::class_<PythonReference>(module, "ReferenceBases", "The reference genome; parts of it are kept.")
        .def(nb::init<PythonReference::Fetch>(), "fetch"_a,
             "`fetch(chrom, start, end)` gives upper-case bases of [start, end), clamped to the contig.")
        .def("fetch", &PythonReference::fetch, "chrom"_a, "start"_a, "end"_a);

    // Python has it, too: tests/cpu/test_constants.py.
    module.attr("MAX_SHIFT") = pairhmm::kMaxShift;
    module.attr("REPEAT_REACH") = pairhmm::kRepeatReach;
    module.def(
        "variant_extent",
        [](const PythonVariant& variant, PythonReference& reference) {
            const pairhmm::Extent extent = pairhmm::variant_extent(from_python(variant), reference);
            return std::pair(extent.start, extent.end);
        },
        "variant"_a, "reference"_a,
        "The extent of a candidate: its reference bases, and those to which its insertions and deletions can be "
        "shifted.");

    nb::class_<pairhmm::CandidateFinder>(module, "CandidateFinder", "Finds candidates in blocks of reads.")
        .def(
            "__init__",
            [](pairhmm::CandidateFinder* self, PythonReference& reference, int samples, nb::object options) {
                new (self) pairhmm::CandidateFinder(finder(reference, samples, options));
            },
            "reference"_a, "samples"_a, "options"_a, nb::keep_alive<1, 2>())
        .def_prop_ro("settled", &pairhmm::CandidateFinder::settled,
                     "All candidates of the contig before this position were given.")
        .def(
            "scan",
            [](pairhmm::CandidateFinder& self, const std::string& chrom, const pairhmm::Reads& reads,
               const std::optional<Places>& places) {
                return to_list(unlocked([&] { return self.scan(chrom, reads, places ? &*places : nullptr); }));
            },
            "chrom"_a, "reads"_a, "places"_a = nb::none(),
            "Counts the reads of the next block. Gives the candidates that no later read can change.\n\n"
            "They are sought in `places`: disjoint intervals in order, all those behind `settled` that the reads may "
            "reach. By default they are sought everywhere.")
        .def(
            "finish", [](pairhmm::CandidateFinder& self) { return to_list(unlocked([&] { return self.finish(); })); },
            "The last candidates of a contig, once all its reads were counted.");

    bind_sources(module);
    bind_evidence(module);
}
