// Python bindings of calling/preparation.hpp and calling/scoring.hpp: arrays in, arrays out.
#include "calling/preparation.hpp"

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/levels.hpp"
#include "calling/letters.hpp"
#include "calling/scoring.hpp"
#include "forward/batch.hpp"

namespace {

using pairhmm::CutBases;
using pairhmm::PreparedReads;
using pairhmm::ProfileColumns;
using pairhmm::ProfileRows;
using pairhmm::QualityOptions;
using pairhmm::ReadModel;

// (first column of each profile, first base of each column, bases)
using JoinedColumns = std::tuple<Array<int64_t>, Array<int64_t>, Array<int64_t>>;

CutBases cut_bases(const Array<int64_t>& offset, const Array<uint8_t>& base, const Array<uint8_t>& quality,
                   const Array<uint8_t>& mapq) {
    const int64_t reads = checks::size_of(mapq);
    checks::has_parts(offset, reads, checks::size_of(quality), "offset");
    checks::has(offset, 1, "offset");
    checks::require(offset.data()[0] == 0, "offset", "the first read begins at 0");
    return {reads, offset.data(), base.data(), quality.data(), mapq.data(), nullptr};
}

ProfileColumns columns_of(const JoinedColumns& joined, int64_t bases) {
    const auto& [offset, source_offset, source] = joined;
    const int64_t columns = checks::parts_of(source_offset, checks::size_of(source), "source_offset");
    const int64_t profiles = checks::parts_of(offset, columns, "columns");
    for (int64_t i = 0; i < columns; ++i)
        checks::require(source_offset.data()[i] < source_offset.data()[i + 1], "source_offset", "a column of no base");
    checks::lie_below(source, bases, "source");
    return {profiles, offset.data(), source_offset.data(), source.data()};
}

void check_kinds(const QualityOptions& options, const std::vector<uint8_t>& by_kind) {
    const auto kinds = static_cast<size_t>(options.longest_unit * options.most_copies);
    checks::require(by_kind.empty() || by_kind.size() == kinds, "by_kind", "a quality for each kind of repeat");
}

void check_options(const QualityOptions& options) {
    checks::require(
        options.most_copies > 0 && options.longest_unit > 0 && options.most_copies <= 255 / options.longest_unit,
        "most_copies", "kinds of repeats are from 1 to 255");
    checks::require(
        options.most_by_copies.empty() || options.most_by_copies.size() == static_cast<size_t>(options.most_copies) + 1,
        "most_by_copies", "a quality for each number of copies");
    for (const auto* by_kind : {&options.insertion_by_kind, &options.deletion_by_kind, &options.gap_by_kind})
        check_kinds(options, *by_kind);
    checks::require(options.insertion_by_kind.size() == options.deletion_by_kind.size(), "deletion_by_kind",
                    "as many as of insertions");
}

PreparedReads prepared_reads(const ReadModel& model, const Array<int64_t>& offset, const Array<uint8_t>& base,
                             const Array<uint8_t>& quality, const Array<uint8_t>& mapq,
                             const std::optional<Array<uint8_t>>& indel_quality,
                             const std::optional<JoinedColumns>& joined) {
    nb::gil_scoped_release release;
    CutBases cut = cut_bases(offset, base, quality, mapq);
    checks::has(base, cut.bases(), "base");
    checks::lie_below(base, pairhmm::kReadCodes, "base");
    checks::lie_below(quality, pairhmm::kPhreds, "quality");
    if (indel_quality) {
        checks::require(checks::size_of(*indel_quality) == 2 * cut.bases(), "indel_quality", "two for each base");
        for (int64_t read = 0; read < cut.reads; ++read)
            checks::require(cut.offset[read] < cut.offset[read + 1], "offset", "a read without bases");
        cut.indel_quality = indel_quality->data();
    }
    ProfileColumns columns{};
    if (joined) columns = columns_of(*joined, cut.bases());
    return pairhmm::prepare_reads(model, cut, joined ? &columns : nullptr);
}

// Whether reads were prepared for this kind of model.
void check_prepared(const ReadModel& model, const PreparedReads& reads) {
    checks::require(model.is_profile() == !reads.profiles.transitions.empty() || reads.bases == 0, "reads",
                    "prepared for another model");
}

TupleOf<Owned<double>, Owned<uint8_t>> score_prepared(
    const ReadModel& model, const PreparedReads& reads, const Array<int64_t>& group_read,
    const Array<int64_t>& group_haplotype, const Array<int64_t>& group_pair, const Array<int64_t>& haplotype_offset,
    const Array<uint8_t>& haplotypes, const std::string& level, int64_t longest, int threads) {
    pairhmm::FlatScores scores = interruptible([&] {
        check_prepared(model, reads);
        const checks::Groups groups(group_read, group_haplotype, group_pair);
        checks::require(groups.reads == static_cast<int64_t>(reads.read_offset.size()) - 1, "group_read",
                        "not the prepared reads");
        checks::has(haplotype_offset, groups.haplotypes + 1, "haplotype_offset");
        checks::parts_of(haplotype_offset, checks::size_of(haplotypes), "haplotype_offset");
        checks::lie_below(haplotypes, pairhmm::kCodeOfN + 1, "haplotypes");
        pairhmm::Batch batch{};
        batch.groups = groups.count;
        batch.group_read = group_read.data();
        batch.group_hap = group_haplotype.data();
        batch.group_pair = group_pair.data();
        batch.hap_offset = haplotype_offset.data();
        batch.hap = haplotypes.data();
        return pairhmm::score_reads(model, reads, batch, forward_level(level), longest, threads, signal_raised);
    });
    return nb::make_tuple(to_array(std::move(scores.log10)), to_array(std::move(scores.precision)));
}

}  // namespace

void bind_preparation(nb::module_& module) {
    module.attr("NO_INDEL_QUALITY") = pairhmm::kNoIndelQuality;
    module.attr("READ_CODES") = pairhmm::kReadCodes;
    module.attr("PHREDS") = pairhmm::kPhreds;

    nb::class_<PreparedReads>(module, "PreparedReads", "Reads as the pair-HMM takes them.")
        .def_prop_ro("read_offset", array_of<int64_t>(&PreparedReads::read_offset))
        .def_prop_ro("bases", array_of<uint8_t>(&PreparedReads::base))
        .def_prop_ro("base_quality", array_of<uint8_t>(&PreparedReads::base_quality))
        .def_prop_ro("insertion_quality", array_of<uint8_t>(&PreparedReads::insertion_quality))
        .def_prop_ro("deletion_quality", array_of<uint8_t>(&PreparedReads::deletion_quality))
        .def_prop_ro("gap_quality", array_of<uint8_t>(&PreparedReads::gap_quality))
        .def_prop_ro(
            "profiles", [](PreparedReads& reads) -> ProfileRows& { return reads.profiles; },
            "The rows of the profile model.")
        .def_ro("cut_bases", &PreparedReads::bases, "Bases of all cut reads.")
        .def_ro("lowered", &PreparedReads::lowered, "Those whose quality was lowered to the lowest.")
        .def_ro("tagged", &PreparedReads::tagged, "Reads with indel qualities of their own.");

    nb::class_<ProfileRows>(module, "ProfileRows", "Rows of letter probabilities.")
        .def(
            "__init__",
            [](ProfileRows* self, Array<double> probabilities, std::optional<Array<uint16_t>> kinds) {
                const int64_t values = checks::size_of(probabilities);
                checks::require(values % 4 == 0, "probabilities", "four a row");
                if (kinds) checks::lie_below(*kinds, values / 4, "kinds");
                new (self) ProfileRows{to_vector(probabilities),
                                       {},
                                       kinds.has_value(),
                                       kinds ? to_vector(*kinds) : std::vector<uint16_t>()};
            },
            "probabilities"_a, "kinds"_a = nb::none())
        .def(
            "add_repeats",
            [](ProfileRows& rows, Array<int64_t> offset, Array<double> by_copies, int longest_unit) {
                const size_t bases = rows.are_distinct ? rows.kinds.size() : rows.probabilities.size() / 4;
                const int64_t reads = checks::parts_of(offset, static_cast<int64_t>(bases), "offset");
                checks::require(offset.data()[reads] == static_cast<int64_t>(bases), "offset",
                                "not those of all bases");
                const auto copies = static_cast<int>(by_copies.shape(0) / 7);
                checks::require(copies > 0 && longest_unit > 0 && copies <= 255 / longest_unit, "by_copies",
                                "kinds of repeats are from 1 to 255");
                nb::gil_scoped_release release;
                pairhmm::add_repeats(reads, offset.data(), by_copies.data(), copies, longest_unit, rows);
            },
            "offset"_a, "by_copies"_a, "longest_unit"_a, "Give rows the transitions of the repeats at them.")
        .def_prop_ro("probabilities", array_of<double>(&ProfileRows::probabilities))
        .def_prop_ro("transitions", array_of<double>(&ProfileRows::transitions))
        .def_prop_ro(
            "kinds",
            [](nb::handle_t<ProfileRows> self) -> std::optional<Owned<uint16_t>> {
                const ProfileRows& rows = *nb::inst_ptr<ProfileRows>(self);
                if (!rows.are_distinct) return std::nullopt;
                return view<uint16_t>(rows.kinds, self);
            },
            "The row of each base; None where each base has a row of its own.");

    nb::class_<ReadModel>(module, "ReadPreparation", "Prepares cut reads for a model, and scores them on the CPU.")
        .def(
            "__init__",
            [](ReadModel* self, bool cap_by_mapping_quality, std::optional<uint8_t> threshold, uint8_t lowest,
               uint8_t insertion, uint8_t deletion, uint8_t gap, int most_copies, int longest_unit,
               Array<uint8_t> most_by_copies, Array<uint8_t> insertion_by_kind, Array<uint8_t> deletion_by_kind,
               Array<uint8_t> gap_by_kind, Array<double> error, double start_match, double start_deletion) {
                const QualityOptions options{cap_by_mapping_quality,
                                             threshold ? *threshold : -1,
                                             lowest,
                                             insertion,
                                             deletion,
                                             gap,
                                             most_copies,
                                             longest_unit,
                                             to_vector(most_by_copies),
                                             to_vector(insertion_by_kind),
                                             to_vector(deletion_by_kind),
                                             to_vector(gap_by_kind)};
                check_options(options);
                checks::has(error, 256, "error");
                new (self) ReadModel{options, {}, to_vector(error), start_match, start_deletion};
            },
            "cap_by_mapping_quality"_a, "threshold"_a.none(), "lowest"_a, "insertion"_a, "deletion"_a, "gap"_a,
            "most_copies"_a, "longest_unit"_a, "most_by_copies"_a, "insertion_by_kind"_a, "deletion_by_kind"_a,
            "gap_by_kind"_a, "error"_a, "start_match"_a, "start_deletion"_a)
        .def(
            "set_profile",
            [](ReadModel& model, Array<double> calls, Array<double> match, Array<double> insertion,
               Array<double> transitions) {
                checks::require(calls.shape(0) == size_t{pairhmm::kReadCodes * pairhmm::kPhreds * 4}, "calls",
                                "four for each base call");
                checks::has(match, 20, "match");
                checks::has(insertion, 4, "insertion");
                checks::require(
                    checks::size_of(transitions) == 7 || checks::size_of(transitions) == 7 * model.options.most_copies,
                    "transitions", "seven, or seven for each number of copies");
                model.profile = {to_vector(calls), to_vector(match), to_vector(insertion), to_vector(transitions)};
            },
            "calls"_a, "match"_a, "insertion"_a, "transitions"_a, "Reads become rows of this profile model.")
        .def("prepare", &prepared_reads, "offset"_a, "base"_a, "quality"_a, "mapq"_a, "indel_quality"_a.none(),
             "joined"_a.none(), "Cut reads as the model takes them, or the profiles that they become.")
        .def(
            "base_qualities",
            [](const ReadModel& model, Array<int64_t> offset, Array<uint8_t> quality, Array<uint8_t> mapq) {
                const CutBases cut = cut_bases(offset, quality, quality, mapq);
                std::vector<uint8_t> prepared(cut.bases());
                pairhmm::prepare_base_qualities(model.options, cut, prepared.data());
                return to_array(std::move(prepared));
            },
            "offset"_a, "quality"_a, "mapq"_a, "The base qualities that `prepare` gives.")
        .def("score", &score_prepared, "reads"_a, "group_read"_a, "group_haplotype"_a, "group_pair"_a,
             "haplotype_offset"_a, "haplotypes"_a, "level"_a, "longest"_a, "threads"_a,
             "Scores (log10) and precisions, group after group, row-major (read, haplotype).");
}
