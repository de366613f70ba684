// Python bindings of calling/candidates.hpp and assembly.hpp: arrays in, arrays out.
#include <cstring>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/reference.hpp"
#include "bind/texts.hpp"
#include "calling/allele_evidence.hpp"
#include "calling/assembly.hpp"
#include "calling/candidates.hpp"
#include "calling/cigar.hpp"
#include "calling/discovery.hpp"
#include "calling/error_rates.hpp"
#include "calling/repeats.hpp"

namespace {

// A CIGAR lies in its read, and intervals are so small that sums of them don't overflow.
void check_alignments(const pairhmm::Reads& reads) {
    constexpr int64_t kFurthest = int64_t{1} << 60;
    checks::lie_in(reads.start, reads.count, -kFurthest, kFurthest, "start");
    for (int64_t read = 0; read < reads.count; ++read) {
        int64_t bases = 0;
        for (int64_t c = reads.cigar_offset[read]; c < reads.cigar_offset[read + 1]; ++c)
            if (pairhmm::reads_bases(reads.cigar[c] & 15)) bases += reads.cigar[c] >> 4;
        if (bases > reads.base_offset[read + 1] - reads.base_offset[read])
            checks::refuse("cigar", "more bases than read " + std::to_string(read) + " has");
    }
}

ListOf<TupleOf<int64_t, int64_t, bool, nb::bytes, int64_t>> candidate_list(
    const std::vector<pairhmm::Candidate>& candidates) {
    nb::list list;
    for (const auto& candidate : candidates)
        list.append(nb::make_tuple(candidate.position, candidate.ref_length, candidate.indel, to_bytes(candidate.alt),
                                   candidate.joined_until));
    return list;
}

}  // namespace

void bind_error_rates(nb::module_& module) {
    nb::class_<pairhmm::ErrorRates>(module, "ErrorRates", "How often bases are read as others, and repeats slip.")
        .def(nb::init<>())
        .def_prop_ro(
            "spread", [](const pairhmm::ErrorRates& rates) { return rates.spread; },
            "The variance of a place's rates around those of its context, as a share of their square.")
        .def_prop_ro(
            "of_quality",
            [](const pairhmm::ErrorRates& rates) {
                return std::vector<double>(rates.of_quality.begin(), rates.of_quality.end());
            },
            "The rate of each wrong letter, by class of quality.");
    module.def("strand_evidence", &pairhmm::strand_evidence, "seen"_a, "errors"_a, "of_context"_a, "spread"_a,
               "Phred: the probability of so many reads of a strand, or more, where errors are those expected.");
    nb::class_<pairhmm::ErrorRateFinder>(module, "ErrorRateFinder", "Learns error rates from reads.")
        .def(nb::init<int>(), "min_base_quality"_a)
        .def("add", &added<pairhmm::ErrorRateFinder>, "chrom"_a, "reads"_a, "reference"_a, kAdded)
        .def(
            "rates",
            [](pairhmm::ErrorRateFinder& finder, PythonReference& reference, std::vector<double> gain,
               std::vector<double> loss) {
                pairhmm::ErrorRates rates = unlocked([&] { return finder.finish(reference), finder.rates(); });
                rates.gain = std::move(gain);
                rates.loss = std::move(loss);
                return rates;
            },
            "reference"_a, "gain"_a, "loss"_a,
            "The rates, with those at which repeats gain and lose units: [units * copies].");
}

void bind_candidates(nb::module_& module) {
    bind_error_rates(module);
    nb::class_<pairhmm::Reads>(module, "Reads", "Aligned reads of one contig as flat arrays, in order of start.")
        .def(
            "__init__",
            [](pairhmm::Reads* self, Array<int64_t> start, Array<int32_t> sample, Array<int64_t> base_offset,
               Array<uint8_t> base, Array<uint8_t> quality, Array<int64_t> cigar_offset, Array<uint32_t> cigar,
               std::optional<Array<uint16_t>> flag, nb::handle molecules) {
                const int64_t count = checks::size_of(start);
                checks::has(sample, count, "sample");
                checks::has_parts(base_offset, count, checks::size_of(base), "base_offset");
                checks::has(quality, base_offset.data()[count], "quality");
                checks::has_parts(cigar_offset, count, checks::size_of(cigar), "cigar_offset");
                if (flag) checks::has(*flag, count, "flag");
                const Texts molecule(molecules, count, "molecules");
                new (self) pairhmm::Reads{count,
                                          start.data(),
                                          sample.data(),
                                          base_offset.data(),
                                          base.data(),
                                          quality.data(),
                                          cigar_offset.data(),
                                          cigar.data(),
                                          flag ? flag->data() : nullptr,
                                          molecule.text,
                                          molecule.end};
                check_alignments(*self);
            },
            "start"_a, "sample"_a, "base_offset"_a, "base"_a, "quality"_a, "cigar_offset"_a, "cigar"_a,
            "flag"_a = nb::none(), "molecules"_a.none() = nb::none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
            nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>(),
            nb::keep_alive<1, 8>(), nb::keep_alive<1, 9>(), nb::keep_alive<1, 10>())
        .def(
            "cut",
            [](const pairhmm::Reads& reads, Array<int64_t> read, int64_t start, int64_t end, int64_t slack,
               Output<int64_t> first, Output<int64_t> last) {
                checks::lie_below(read, reads.count, "read");
                checks::has(first, checks::size_of(read), "first");
                checks::has(last, checks::size_of(read), "last");
                nb::gil_scoped_release release;
                for (size_t i = 0; i < read.shape(0); ++i)
                    pairhmm::cut_read(reads, read.data()[i], start, end, slack, first.data()[i], last.data()[i]);
            },
            "read"_a, "start"_a, "end"_a, "slack"_a, "first"_a, "last"_a,
            "Cut reads to [start, end) of the reference: the query slice [first, last) of each, written in place.")
        .def(
            "query_at",
            [](const pairhmm::Reads& reads, int64_t read, int64_t position) {
                checks::lie_in(&read, 1, 0, reads.count, "read");
                return pairhmm::query_at(reads, read, position);
            },
            "read"_a, "position"_a, "The place in a read of the base that it aligns to a position, or -1.")
        .def(
            "over",
            [](const pairhmm::Reads& reads, std::vector<std::pair<int64_t, int64_t>> intervals, Output<bool> is_over) {
                checks::has(is_over, reads.count, "is_over");
                pairhmm::Intervals wanted;
                wanted.limit_to(std::move(intervals));
                size_t near = 0;
                for (int64_t read = 0; read < reads.count; ++read)
                    is_over.data()[read] = wanted.touch(reads.start[read], pairhmm::read_end(reads, read), near);
            },
            "intervals"_a, "is_over"_a, "Whether each read is over intervals, in place: these do not overlap.");

    module.attr("LONGEST_WINDOW") = pairhmm::kLongestWindow;

    module.def(
        "assembled_alleles",
        [](int64_t start, Array<uint8_t> reference, Array<int64_t> offset, Array<uint8_t> letters, int min_snv_count,
           int min_indel_count, double min_snv_fraction, double min_indel_fraction) {
            checks::parts_of(offset, checks::size_of(letters), "offset");
            checks::lie_below(letters, 4, "letters");
            std::vector<pairhmm::Stretch> reads;
            for (size_t i = 0; i + 1 < offset.shape(0); ++i)
                reads.push_back({letters.data() + offset.data()[i], offset.data()[i + 1] - offset.data()[i]});
            return candidate_list(
                pairhmm::assembled(start, {reference.data(), static_cast<int64_t>(reference.shape(0))}, reads,
                                   {0, min_snv_count, min_indel_count, min_snv_fraction, min_indel_fraction})
                    .alleles);
        },
        "start"_a, "reference"_a, "offset"_a, "letters"_a, "min_snv_count"_a, "min_indel_count"_a, "min_snv_fraction"_a,
        "min_indel_fraction"_a,
        "The alleles that reads of a window spell: the fields of Candidate (calling/candidates.hpp). Letters are 0 to 3.");

    module.def(
        "gather",
        [](Array<uint8_t> source, Array<int64_t> start, Array<int64_t> offset, Output<uint8_t> target) {
            checks::has_parts(offset, checks::size_of(start), checks::size_of(target), "offset");
            for (size_t i = 0; i < start.shape(0); ++i)
                checks::require(
                    start.data()[i] >= 0 &&
                        start.data()[i] <= checks::size_of(source) - (offset.data()[i + 1] - offset.data()[i]),
                    "start", "a slice beyond the source");
            nb::gil_scoped_release release;
            for (size_t i = 0; i < start.shape(0); ++i)
                std::memcpy(target.data() + offset.data()[i], source.data() + start.data()[i],
                            offset.data()[i + 1] - offset.data()[i]);
        },
        "source"_a, "start"_a, "offset"_a, "target"_a,
        "Copy the slice of `source` at each start to target[offset[i]:offset[i + 1]].");

    module.def(
        "classify_repeats",
        [](Array<int64_t> offset, Array<uint8_t> base, int most, int longest_unit, Output<uint8_t> kind) {
            const int64_t reads = checks::parts_of(offset, checks::size_of(base), "offset");
            checks::has(kind, offset.data()[reads], "kind");
            checks::require(most > 0 && longest_unit > 0 && most <= 255 / longest_unit, "most",
                            "classes of repeats are from 1 to 255");
            pairhmm::classify_repeats(reads, offset.data(), base.data(), most, 0, longest_unit, kind.data());
        },
        "offset"_a, "base"_a, "most"_a, "longest_unit"_a, "kind"_a,
        "The repeat behind each base, (unit - 1) * most + copies - 1, in place.");
}
