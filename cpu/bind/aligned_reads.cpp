// Python bindings of calling/aligned_reads.hpp, and of what is done with some of its reads.
#include "calling/aligned_reads.hpp"

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/joined_reads.hpp"
#include "bind/reference.hpp"
#include "bind/texts.hpp"
#include "calling/circle_reads.hpp"
#include "calling/depth.hpp"
#include "calling/introns.hpp"
#include "calling/joined_profiles.hpp"
#include "calling/reference_differences.hpp"

namespace {

using pairhmm::AlignedReads;
using IndelQualities = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

AlignedReads made(const pairhmm::Reads& reads, const Array<int64_t>& end, const Array<uint16_t>& flag,
                  const Array<uint8_t>& mapq, nb::handle names, const std::optional<IndelQualities>& indel_quals) {
    checks::has(end, reads.count, "end");
    checks::has(flag, reads.count, "flag");
    checks::has(mapq, reads.count, "mapq");
    const Texts name(names, reads.count, "names");
    AlignedReads aligned{reads, end.data(), flag.data(), mapq.data(), name.text, name.end, nullptr, nullptr};
    if (indel_quals) {
        const int64_t bases = reads.base_offset[reads.count];
        checks::require(indel_quals->shape(0) == 2 && static_cast<int64_t>(indel_quals->shape(1)) == bases,
                        "indel_quals", "not two for each base");
        aligned.insertion = indel_quals->data();
        aligned.deletion = indel_quals->data() + bases;
    }
    return aligned;
}

pairhmm::CutSlices cut_of(const AlignedReads& reads, const Array<int64_t>& read, const Array<int64_t>& first,
                          const Array<int64_t>& last, const Array<int64_t>& region_read) {
    const int64_t regions = checks::parts_of(region_read, checks::size_of(read), "region_read");
    checks::require(region_read.data()[regions] == checks::size_of(read), "region_read", "not those of all reads");
    checks::lie_below(read, reads.reads.count, "read");
    checks::has(first, checks::size_of(read), "first");
    checks::has(last, checks::size_of(read), "last");
    for (size_t i = 0; i < read.shape(0); ++i) {
        const int64_t from = first.data()[i], to = last.data()[i];
        checks::require(0 <= from && from <= to && to <= reads.length(read.data()[i]), "first, last",
                        "a slice beyond its read");
    }
    return {to_vector(read), to_vector(first), to_vector(last), to_vector(region_read)};
}

TupleOf<Owned<int64_t>, Owned<int64_t>> differences_of(const pairhmm::Reads& reads, const std::string& chrom,
                                                       const Array<int64_t>& chosen, PythonReference& reference) {
    checks::lie_below(chosen, reads.count, "chosen");
    std::vector<int64_t> compared, differing;
    {
        nb::gil_scoped_release release;
        for (const int64_t read : to_vector(chosen)) {
            const auto counts = pairhmm::reference_differences(chrom, reads, read, reference);
            compared.push_back(counts.compared);
            differing.push_back(counts.differing);
        }
    }
    return nb::make_tuple(to_array(std::move(compared)), to_array(std::move(differing)));
}

using TextTuple = TupleOf<nb::bytes, Owned<int64_t>>;
using ReadTuple = TupleOf<nb::bytes, Owned<int64_t>, Owned<int32_t>, Owned<uint16_t>, Owned<uint8_t>, Owned<int64_t>,
                          Owned<int64_t>, Owned<int64_t>, Owned<uint8_t>, Owned<uint8_t>, Owned<int64_t>,
                          Owned<uint32_t>, std::optional<TextTuple>, Owned<uint8_t>, Owned<uint8_t>>;
constexpr const char* kColumns =
    "Reads: their names, where each ends, their columns from the samples to the CIGARs, the same of molecules where "
    "they are known, and qualities of insertions and of deletions, where any read has them.";

ReadTuple to_tuple(pairhmm::ReadColumns&& reads) {
    std::optional<TextTuple> molecules;
    if (reads.has_molecules)
        molecules = nb::make_tuple(nb::bytes(reads.molecules.data(), reads.molecules.size()),
                                   to_array(std::move(reads.molecule_end)));
    return nb::make_tuple(
        nb::bytes(reads.names.data(), reads.names.size()), to_array(std::move(reads.name_end)),
        to_array(std::move(reads.sample)), to_array(std::move(reads.flag)), to_array(std::move(reads.mapq)),
        to_array(std::move(reads.start)), to_array(std::move(reads.end)), to_array(std::move(reads.base_offset)),
        to_array(std::move(reads.base)), to_array(std::move(reads.quality)), to_array(std::move(reads.cigar_offset)),
        to_array(std::move(reads.cigar)), std::move(molecules), to_array(std::move(reads.insertion)),
        to_array(std::move(reads.deletion)));
}

ReadTuple split_at_introns(const AlignedReads& reads) {
    pairhmm::IntronSplitter splitter;
    pairhmm::ReadColumns parts;
    const auto add = [&](const AlignedReads& some) {
        if (some.reads.count) parts.append_run(some, 0, some.reads.count);
    };
    add(splitter.split(reads));
    add(splitter.rest());
    return to_tuple(std::move(parts));
}

ReadTuple turned(pairhmm::CircleReads& circle, const AlignedReads& reads, int turn, PythonReference& unrolled) {
    pairhmm::ReadColumns moved;
    {
        nb::gil_scoped_release release;
        moved = circle.turned(reads, turn, unrolled);
    }
    return to_tuple(std::move(moved));
}

void bind_circle_reads(nb::module_& module) {
    using pairhmm::CircleReads;
    nb::class_<CircleReads>(module, "CircleReads", "Reads of a circular contig, unrolled (calling/circle_reads.hpp).")
        .def(nb::init<std::string, int64_t>(), "chrom"_a, "length"_a)
        .def("near_origin", &CircleReads::near_origin, "Where alignments of reads over the origin lie.")
        .def(
            "take_near_origin",
            [](CircleReads& circle, const AlignedReads& reads, PythonReference& unrolled) {
                nb::gil_scoped_release release;
                circle.take_near_origin(reads, unrolled);
            },
            "reads"_a, "unrolled"_a, "Take the reads there, in order, before all others.")
        .def("over", &CircleReads::over, "places"_a, "The circle for a run over some places of the unrolled contig.")
        .def("on_turn", &CircleReads::on_turn, "turn"_a, "The parts of the places that lie on a turn, on the contig.")
        .def("turned", &turned, "reads"_a, "turn"_a, "unrolled"_a, kColumns)
        .def("rest", [](CircleReads& circle) { return to_tuple(circle.rest()); }, kColumns);
}

}  // namespace

void bind_aligned_reads(nb::module_& module) {
    nb::class_<pairhmm::DepthCounter>(module, "DepthCounter", "How many molecules have a base at each position.")
        .def(nb::init<int, int>(), "sample"_a, "min_quality"_a)
        .def("reset", &pairhmm::DepthCounter::reset, "The next read is on another contig.")
        .def(
            "add",
            [](pairhmm::DepthCounter& self, nb::handle_t<AlignedReads> reads, Output<uint32_t> depth) {
                const AlignedReads& added = *nb::inst_ptr<AlignedReads>(reads);
                nb::gil_scoped_release release;
                self.add(added, depth.data(), checks::size_of(depth));
            },
            "reads"_a, "depth"_a, "Add reads of one contig, in order of start, to its depth, in place.");
    module.def("reference_differences", &differences_of, "reads"_a, "chrom"_a, "chosen"_a, "reference"_a,
               "Aligned bases of each of some reads that are compared with the reference, and those that differ.");
    nb::class_<AlignedReads>(module, "AlignedReads", "Reads with their names, flags, and what else is known of them.")
        .def(
            "__init__",
            [](AlignedReads* self, const pairhmm::Reads& reads, Array<int64_t> end, Array<uint16_t> flag,
               Array<uint8_t> mapq, nb::handle names, std::optional<IndelQualities> indel_quals) {
                new (self) AlignedReads(made(reads, end, flag, mapq, names, indel_quals));
            },
            "reads"_a, "end"_a, "flag"_a, "mapq"_a, "names"_a, "indel_quals"_a.none(), nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(),
            nb::keep_alive<1, 7>())
        .def(
            "join",
            [](const AlignedReads& reads, Array<int64_t> read, Array<int64_t> first, Array<int64_t> last,
               Array<int64_t> region_read, bool join_mates) -> TupleOf<JoinedTuple, pairhmm::ScoredRegion> {
                const pairhmm::CutSlices cut = cut_of(reads, read, first, last, region_read);
                pairhmm::ScoredRegion profiles;
                pairhmm::JoinedReads joined;
                {
                    nb::gil_scoped_release release;
                    joined = pairhmm::join_slices(reads, cut, join_mates);
                    for (size_t profile = 0; profile < joined.ends.size(); ++profile)
                        pairhmm::add_profile(reads, cut, joined, static_cast<int64_t>(profile), profiles);
                }
                return nb::make_tuple(to_python(std::move(joined)), std::move(profiles));
            },
            "read"_a, "first"_a, "last"_a, "region_read"_a, "join_mates"_a,
            "Join cut reads of regions: the fields of JoinedReads, and what is known of the profiles.")
        .def("split_at_introns", &split_at_introns, kColumns);
    bind_circle_reads(module);
}
