// Python bindings of align/: arrays in, arrays out.
#include <stdexcept>

#include "align/aligner.hpp"
#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/levels.hpp"

namespace {

// What of pairhmm.align.scoring an aligner has to know.
pairhmm::Ends find_ends(const std::string& mode, const std::string& overhang) {
    using pairhmm::Ends;
    if (mode == "global") return Ends::kGlobal;
    if (mode == "semi-global") return Ends::kSemiGlobal;
    if (mode == "gatk" && overhang == "softclip") return Ends::kSoftclip;
    if (mode == "gatk" && overhang == "indel") return Ends::kIndel;
    if (mode == "gatk" && overhang == "leading-indel") return Ends::kLeadingIndel;
    if (mode == "gatk" && overhang == "ignore") return Ends::kIgnore;
    throw std::invalid_argument("no such mode of alignment: " + mode + ", " + overhang);
}

}  // namespace

void bind_align(nb::module_& module) {
    nb::class_<pairhmm::AlignScoring>(module, "AlignScoring", "How alignments are scored, and which ends are free.")
        .def(
            "__init__",
            [](pairhmm::AlignScoring* self, int match, int mismatch, int gap_open, int gap_extend,
               const std::string& mode, const std::string& overhang) {
                new (self) pairhmm::AlignScoring{match, mismatch, gap_open, gap_extend, find_ends(mode, overhang)};
            },
            "match"_a, "mismatch"_a, "gap_open"_a, "gap_extend"_a, "mode"_a, "overhang"_a);

    nb::class_<pairhmm::PairBatch>(module, "AlignPairs", "Pairs of sequences.")
        .def(
            "__init__",
            [](pairhmm::PairBatch* self, Array<uint8_t> queries, Array<int64_t> query_offset, Array<uint8_t> targets,
               Array<int64_t> target_offset, Array<int32_t> query, Array<int32_t> target) {
                checks::lie_below(query, checks::parts_of(query_offset, checks::size_of(queries), "query_offset"),
                                  "query");
                checks::lie_below(target, checks::parts_of(target_offset, checks::size_of(targets), "target_offset"),
                                  "target");
                checks::has(target, checks::size_of(query), "target");
                new (self) pairhmm::PairBatch{static_cast<int64_t>(query.shape(0)),
                                              {queries.data(), query_offset.data()},
                                              {targets.data(), target_offset.data()},
                                              query.data(),
                                              target.data()};
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
            nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>());

    module.def(
        "align_scores",
        [](const std::string& level, const pairhmm::PairBatch& pairs, const pairhmm::AlignScoring& scoring, int threads,
           Output<int32_t> scores) {
            checks::has(scores, pairs.pairs, "scores");
            interruptible([&] {
                pairhmm::align_scores(LEVEL_NAMED(align, level), pairs, scoring, threads, scores.data(), signal_raised);
            });
        },
        "level"_a, "pairs"_a, "scoring"_a, "threads"_a, "scores"_a, "The score of each pair, into `scores`.");

    module.def(
        "align_pairs",
        [](const std::string& level, const pairhmm::PairBatch& pairs, const pairhmm::AlignScoring& scoring,
           int threads) -> TupleOf<Owned<int32_t>, Owned<int32_t>, Owned<int32_t>, Owned<uint32_t>, Owned<int64_t>> {
            auto table = interruptible([&] {
                return pairhmm::align_pairs(LEVEL_NAMED(align, level), pairs, scoring, threads, signal_raised);
            });
            return nb::make_tuple(to_array(std::move(table.scores)), to_array(std::move(table.starts)),
                                  to_array(std::move(table.ends)), to_array(std::move(table.cigar)),
                                  to_array(std::move(table.offset)));
        },
        "level"_a, "pairs"_a, "scoring"_a, "threads"_a,
        "Scores, starts and ends in the targets, CIGARs, and where the CIGAR of each pair begins.");
}
