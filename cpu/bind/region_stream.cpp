// Python bindings of calling/region_stream.hpp and haplotypes.hpp.
#include "calling/region_stream.hpp"

#include <algorithm>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/haplotypes.hpp"
#include "bind/joined_reads.hpp"
#include "bind/reference.hpp"
#include "bind/scored_regions.hpp"
#include "bind/variants.hpp"
#include "calling/letters.hpp"

namespace {

using pairhmm::RegionBatch;
using pairhmm::RegionStream;
using pairhmm::ScoredRegion;

// The letters of all haplotypes of a batch, where each begins, and where those of each region begin.
using Letters = TupleOf<Owned<uint8_t>, Owned<int64_t>, Owned<int64_t>>;
Letters letters_of(const RegionBatch& batch) {
    std::vector<uint8_t> letters;
    std::vector<int64_t> offset{0}, group{0};
    nb::gil_scoped_release release;
    for (const ScoredRegion& region : batch.regions) {
        for (const pairhmm::Haplotype& haplotype : region.haplotypes) {
            std::transform(haplotype.sequence.begin(), haplotype.sequence.end(), std::back_inserter(letters),
                           pairhmm::code_of);
            offset.push_back(static_cast<int64_t>(letters.size()));
        }
        group.push_back(static_cast<int64_t>(offset.size()) - 1);
    }
    nb::gil_scoped_acquire lock;
    return nb::make_tuple(to_array(std::move(letters)), to_array(std::move(offset)), to_array(std::move(group)));
}

void bind_batch(nb::module_& module) {
    nb::class_<RegionBatch>(module, "RegionBatch", "Regions that are scored in one call. Its arrays are views.")
        .def_prop_ro("offset", array_of<int64_t>(&RegionBatch::cut_offset), "Where the bases of each cut read begin.")
        .def_prop_ro("bases", array_of<uint8_t>(&RegionBatch::bases))
        .def_prop_ro("quals", array_of<uint8_t>(&RegionBatch::quals))
        .def_prop_ro("mapq", array_of<uint8_t>(&RegionBatch::mapq))
        .def_prop_ro("insertion", array_of<uint8_t>(&RegionBatch::insertion), "Empty where no read has its own.")
        .def_prop_ro("deletion", array_of<uint8_t>(&RegionBatch::deletion))
        .def_prop_ro(
            "again",
            [](const RegionBatch& self) {
                nb::list again;
                for (const auto& clipped : self.clipped) again.append(clipped.size());
                return ListOf<int64_t>(again);
            },
            "The reads of each region that are scored once more without their soft clips, behind the others.")
        .def_prop_ro(
            "reads_of",
            [](const RegionBatch& self) {
                nb::list rows;
                for (size_t i = 0; i < self.regions.size(); ++i) rows.append(self.rows(i));
                return ListOf<int64_t>(rows);
            },
            "What is scored of each region: its reads, or the profiles that they become, and some reads without clips.")
        .def("letters", &letters_of, "Of all haplotypes: letters, where each begins, and where each region's begin.")
        .def(
            "take_joined",
            [](RegionBatch& self) -> std::optional<JoinedTuple> {
                if (!self.joined) return {};
                auto joined = to_python(std::move(*self.joined));
                self.joined.reset();
                return joined;
            },
            "The fields of JoinedReads, once; None where reads are not joined.");
}

// A stream, and the reads that it is at: their arrays are not copied before they are buffered.
struct BoundStream {
    RegionStream stream;
    nb::object reads;
};

pairhmm::StreamOptions to_options(nb::handle options, nb::handle model, nb::handle molecules, bool of_mixture,
                                  bool finds_neighbours, const pairhmm::ContigLengths& circles) {
    pairhmm::QualityOptions qualities;
    qualities.cap_by_mapping_quality = field<bool>(model, "cap_by_mapping_quality");
    qualities.threshold = field<std::optional<int>>(model, "base_quality_threshold").value_or(-1);
    return {field<int64_t>(options, "max_haplotypes"),
            field<int64_t>(options, "max_depth"),
            field<int64_t>(options, "max_cells"),
            field<std::optional<double>>(model, "error_rate"),
            std::move(qualities),
            !molecules.is_none(),
            !molecules.is_none() && field<bool>(molecules, "join_mates"),
            of_mixture,
            finds_neighbours,
            {circles.begin(), circles.end()}};
}

void bind_stream(nb::module_& module) {
    nb::class_<BoundStream>(module, "RegionStream", "Gives batches of regions while reads arrive, and takes scores.")
        .def(
            "__init__",
            [](BoundStream* self, PythonReference& reference, pairhmm::RegionSource& source, nb::handle options,
               nb::handle model, nb::handle molecules, nb::handle given, bool of_mixture, bool finds_neighbours,
               const pairhmm::ContigLengths& circles) {
                std::optional<std::vector<pairhmm::Haplotype>> haplotypes;
                if (!given.is_none()) haplotypes = haplotypes_from(given);
                new (self) BoundStream{
                    RegionStream(reference, source,
                                 to_options(options, model, molecules, of_mixture, finds_neighbours, circles),
                                 std::move(haplotypes)),
                    {}};
            },
            "reference"_a, "source"_a, "options"_a, "model"_a, "molecules"_a.none(), "given"_a.none(),
            "of_mixture"_a = false, "finds_neighbours"_a = true, "circles"_a = pairhmm::ContigLengths(),
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def(
            "push",
            [](BoundStream& self, const std::string& chrom, nb::handle_t<pairhmm::AlignedReads> reads) {
                self.reads = nb::borrow(reads);
                self.stream.push(chrom, *nb::inst_ptr<pairhmm::AlignedReads>(reads));
            },
            "chrom"_a, "reads"_a, "Take the next reads, once `next` gave all that is ready.")
        .def(
            "finish", [](BoundStream& self) { self.stream.finish(); }, "There are no more reads.")
        .def(
            "next", [](BoundStream& self) { return self.stream.next(); }, nb::call_guard<nb::gil_scoped_release>(),
            "The next regions that are ready; None where more reads are needed, and at the end.")
        .def(
            "scored",
            [](BoundStream& self, RegionBatch& batch, Array<double> log10, Array<uint8_t> precision) {
                checks::require(checks::size_of(log10) == batch.pairs(), "log10", "not a score for each pair");
                checks::has(precision, batch.pairs(), "precision");
                nb::gil_scoped_release release;
                return ScoredRegions(self.stream.scored(std::move(batch), log10.data(), precision.data()));
            },
            "batch"_a, "log10"_a, "precision"_a,
            "The regions of a batch with the scores of their pairs: region after region, [reads][haplotypes].")
        .def_prop_ro(
            "counts",
            [](const BoundStream& self) -> TupleOf<int64_t, int64_t, int64_t, int64_t, int64_t, int> {
                const pairhmm::RegionCounts& counts = self.stream.counts();
                return nb::make_tuple(counts.regions, counts.reads, counts.pairs, counts.capped_regions,
                                      counts.capped_reads, counts.highest_quality);
            },
            "The fields of RegionCounts; -1 for no quality.");
}

}  // namespace

void bind_region_stream(nb::module_& module) {
    bind_batch(module);
    bind_stream(module);
    module.def(
        "build_haplotypes",
        [](const PythonRegion& given, const std::string& reference, int64_t most,
           const std::optional<std::function<Array<int16_t>(nb::object)>>& carried, bool are_discovered) {
            const auto ask = [&](const pairhmm::Region& region) {
                const Array<int16_t> alleles = (*carried)(to_python(region));
                checks::require(alleles.shape(0) % region.variants.size() == 0, "carried", "not an allele a candidate");
                return std::vector<int16_t>(alleles.data(), alleles.data() + alleles.shape(0));
            };
            return to_python(pairhmm::build_haplotypes(from_python(given), reference, most,
                                                       carried ? pairhmm::CarriedAlleles(ask) : nullptr, nullptr,
                                                       are_discovered));
        },
        "region"_a, "reference"_a, "most"_a, "carried"_a.none(), "are_discovered"_a = false,
        "The haplotypes of a region: the reference first, those with a nuisance last. No two have the same sequence. "
        "`carried` gives the alleles that reads carry, where there are too many combinations, or where several spell one "
        "haplotype of discovered candidates.");
}
