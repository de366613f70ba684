// Python bindings of formats/alignments.hpp and formats/htslib.hpp.
#include <stdexcept>

#include "bind/addresses.hpp"
#include "bind/alignments.hpp"
#include "bind/arrays.hpp"
#include "bind/sample_block.hpp"
#include "formats/alignments.hpp"
#include "formats/htslib.hpp"

namespace {

using pairhmm::AlignmentParser;

pairhmm::ContigIntervals to_places(const Array<int32_t>& contig, const Array<int64_t>& start,
                                   const Array<int64_t>& end) {
    if (start.shape(0) != end.shape(0)) throw std::invalid_argument("intervals without an end");
    return {to_vector(contig), to_vector(start), to_vector(end)};
}

using pairhmm::PrimerList;

using AlignmentTuple =
    TupleOf<int, nb::bytes, Owned<int64_t>, Owned<int32_t>, Owned<uint16_t>, Owned<uint8_t>, Owned<int64_t>,
            Owned<int64_t>, Owned<int64_t>, Owned<uint8_t>, Owned<uint8_t>, Owned<int64_t>, Owned<uint32_t>,
            Owned<int64_t>, nb::bytes, Owned<int64_t>, nb::bytes, Owned<int64_t>, Owned<int32_t>, Owned<int32_t>,
            Owned<int32_t>, Owned<uint8_t>, Owned<uint8_t>, int64_t>;

AlignmentTuple to_python(pairhmm::AlignmentBlock&& block) {
    return nb::make_tuple(
        block.contig, to_bytes(block.names), to_array(std::move(block.name_end)), to_array(std::move(block.sample)),
        to_array(std::move(block.flag)), to_array(std::move(block.mapq)), to_array(std::move(block.start)),
        to_array(std::move(block.end)), to_array(std::move(block.base_offset)), to_array(std::move(block.bases)),
        to_array(std::move(block.quals)), to_array(std::move(block.cigar_offset)), to_array(std::move(block.cigar)),
        to_array(std::move(block.odd)), to_bytes(block.groups), to_array(std::move(block.group_end)),
        to_bytes(block.tags), to_array(std::move(block.tag_end)), to_array(std::move(block.mate_contig)),
        to_array(std::move(block.mate_start)), to_array(std::move(block.template_length)),
        to_array(std::move(block.insertion)), to_array(std::move(block.deletion)), block.unfit);
}

pairhmm::HtslibFunctions to_functions(const nb::dict& addresses) {
    pairhmm::HtslibFunctions functions;
    find_function(addresses, "hts_open", functions.hts_open);
    find_function(addresses, "hts_close", functions.hts_close);
    find_function(addresses, "hts_set_opt", functions.hts_set_opt);
    find_function(addresses, "hts_get_format", functions.hts_get_format);
    find_function(addresses, "sam_hdr_read", functions.sam_hdr_read);
    find_function(addresses, "sam_hdr_str", functions.sam_hdr_str);
    find_function(addresses, "sam_hdr_destroy", functions.sam_hdr_destroy);
    find_function(addresses, "sam_index_load3", functions.sam_index_load3);
    find_function(addresses, "hts_idx_destroy", functions.hts_idx_destroy);
    find_function(addresses, "hts_get_bgzfp", functions.hts_get_bgzfp);
    find_function(addresses, "sam_itr_queryi", functions.sam_itr_queryi);
    find_function(addresses, "hts_itr_next", functions.hts_itr_next);
    find_function(addresses, "hts_itr_destroy", functions.hts_itr_destroy);
    find_function(addresses, "sam_read1", functions.sam_read1);
    find_function(addresses, "bam_init1", functions.bam_init1);
    find_function(addresses, "bam_destroy1", functions.bam_destroy1);
    return functions;
}

const char* name_of(pairhmm::HtslibReader::Kind kind) {
    using pairhmm::HtslibReader;
    return kind == HtslibReader::kCram ? "CRAM" : kind == HtslibReader::kBam ? "BAM" : "SAM";
}

// Records that htslib reads between two looks at signals: the file may be a slow pipe.
constexpr int64_t kBetweenSignals = 1000;

// Its file may be a pipe that a thread of Python fills, for whose end threads of htslib wait.
struct Reader : pairhmm::HtslibReader {
    using HtslibReader::HtslibReader;
    ~Reader() {
        nb::gil_scoped_release release;
        close();
    }
};

void bind_htslib(nb::module_& module) {
    nb::class_<Reader>(module, "HtslibReader", "Decodes a CRAM or SAM file by htslib.")
        .def(
            "__init__",
            [](Reader* self, Addresses functions, std::string path, std::string index, std::string reference,
               int threads) {
                const pairhmm::HtslibFunctions calls = to_functions(functions);
                nb::gil_scoped_release release;
                new (self) Reader(calls, {std::move(path), std::move(index), std::move(reference), threads});
            },
            "functions"_a, "path"_a, "index"_a, "reference"_a, "threads"_a,
            "RuntimeError where the file can't be opened.")
        .def(
            "query",
            [](Reader& self, int32_t contig, int64_t start, int64_t end) { return self.query(contig, start, end); },
            "contig"_a, "start"_a, "end"_a, nb::call_guard<nb::gil_scoped_release>(),
            "Go on with the records that overlap [start, end) of a contig; False where the index does not lead there.")
        .def(
            "parse",
            [](Reader& self, AlignmentParser& parser, int64_t room) {
                auto stop = AlignmentParser::kMore;
                until_signal([&] {
                    stop = self.parse(parser, room, kBetweenSignals);
                    return stop != AlignmentParser::kMore || self.is_done();
                });
                return stop_name(stop);
            },
            "parser"_a, "room"_a, "Give the parser records until its block has `room` reads: why it stopped.")
        .def(
            "take_reads",
            [](Reader& self, int64_t room) {
                pairhmm::SampleBlock block;
                until_signal([&] { return self.take_reads(block, room, kBetweenSignals); });
                return to_python(std::move(block));
            },
            "room"_a, "The next reads, as SampleText.take has them, until they have `room` letters.")
        .def_prop_ro(
            "header", [](const Reader& self) { return to_bytes(self.header()); }, "The header's text.")
        .def_prop_ro(
            "kind", [](const Reader& self) { return name_of(self.kind()); }, "SAM, BAM or CRAM.")
        .def_prop_ro(
            "is_done", [](const Reader& self) { return self.is_done(); }, "Whether all records were read.")
        .def_prop_ro(
            "is_damaged", [](const Reader& self) { return self.is_damaged(); },
            "Whether the record after the last one that was given is damaged.");
}

}  // namespace

void bind_alignments(nb::module_& module) {
    nb::class_<AlignmentParser>(module, "AlignmentParser", "Filters and unpacks the records of an unpacked BAM.")
        .def(
            "__init__",
            [](AlignmentParser* self, Array<int32_t> rank, Array<int64_t> length, int excluded_flags, int min_mapq,
               int default_quality, int highest_quality, nb::typed<nb::dict, nb::str, int> sample_of_group,
               int default_sample, std::string tag, int64_t jump, bool indel_tags, bool trims_ends,
               std::vector<uint8_t> is_circle, const PrimerList& primers) {
                if (rank.shape(0) != length.shape(0)) throw std::invalid_argument("contigs without a length");
                pairhmm::AlignmentRules rules;
                rules.rank = to_vector(rank);
                rules.length = to_vector(length);
                rules.excluded_flags = static_cast<uint32_t>(excluded_flags);
                rules.min_mapq = min_mapq;
                rules.default_quality = default_quality;
                rules.highest_quality = highest_quality;
                for (auto [group, sample] : sample_of_group)
                    rules.sample_of_group[nb::cast<std::string>(group)] = nb::cast<int>(sample);
                rules.default_sample = default_sample;
                rules.tag = std::move(tag);
                rules.jump = jump;
                rules.indel_tags = indel_tags;
                rules.trims_ends = trims_ends;
                rules.is_circle = std::move(is_circle);
                rules.primers = pairhmm::primers_of(primers, rules.rank.size());
                new (self) AlignmentParser(std::move(rules));
            },
            "rank"_a, "length"_a, "excluded_flags"_a, "min_mapq"_a, "default_quality"_a, "highest_quality"_a,
            "sample_of_group"_a, "default_sample"_a, "tag"_a, "jump"_a, "indel_tags"_a, "trims_ends"_a = false,
            "is_circle"_a = std::vector<uint8_t>(), "primers"_a = PrimerList())
        .def(
            "set_window",
            [](AlignmentParser& self, int32_t contig, int64_t start, int64_t end, int64_t seen,
               Array<int64_t> part_start, Array<int64_t> part_end, bool may_jump) {
                if (part_start.shape(0) != part_end.shape(0)) throw std::invalid_argument("intervals without an end");
                pairhmm::ContigIntervals parts{{}, to_vector(part_start), to_vector(part_end)};
                self.set_window({contig, start, end, seen, std::move(parts)}, may_jump);
            },
            "contig"_a, "start"_a, "end"_a, "seen"_a, "part_start"_a, "part_end"_a, "may_jump"_a,
            "The records that follow are those of an index, from which those of the window are taken.")
        .def(
            "set_goals",
            [](AlignmentParser& self, Array<int32_t> contig, Array<int64_t> start, Array<int64_t> end) {
                if (contig.shape(0) != start.shape(0) || start.shape(0) != end.shape(0))
                    throw std::invalid_argument("intervals without an end");
                self.set_goals({to_vector(contig), to_vector(start), to_vector(end)});
            },
            "contig"_a, "start"_a, "end"_a, "Further wanted intervals, disjoint and in order.")
        .def(
            "take",
            [](AlignmentParser& self) {
                auto block = unlocked([&] { return self.take(); });
                return to_python(std::move(block));
            },
            "The block: contig, names and their ends, sample, flag, mapq, start, end, base_offset, bases, quals, "
            "cigar_offset, cigar, odd reads and their read groups with their ends, tags and their ends, and of mates "
            "contig, start and the template's length; insertion and deletion qualities, or none; the first read that can't be "
            "used, or -1.")
        .def(
            "left_out",
            [](const AlignmentParser& self) {
                return to_array(std::vector<int64_t>(self.left_out(), self.left_out() + pairhmm::kReasons));
            },
            "Reads that were left out, for each reason.")
        .def(
            "begun", [](const AlignmentParser& self) { return std::pair(self.begun()[0], self.begun()[1]); },
            "Of reads on contigs with primers: how many begin in none, and in one.")
        .def_prop_ro(
            "reads", [](const AlignmentParser& self) { return self.reads(); }, "Reads in the block.")
        .def_prop_ro(
            "has_met", [](const AlignmentParser& self) { return self.has_met(); },
            "Whether any read was neither filtered nor on another contig.")
        .def_prop_ro(
            "goal",
            [](const AlignmentParser& self) -> TupleOf<int, int64_t> {
                return nb::make_tuple(self.goal_contig(), self.goal_start());
            },
            "After a stop for a jump: where to.")
        .def_prop_ro(
            "place",
            [](const AlignmentParser& self) -> TupleOf<nb::bytes, int, int64_t> {
                return nb::make_tuple(to_bytes(self.name()), self.contig(), self.start());
            },
            "Of the read that `parse` stopped at: name, contig and position.");
    bind_htslib(module);
}
