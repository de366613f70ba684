// Python bindings of formats/samples.hpp and formats/bam_reads.hpp.
#include "formats/samples.hpp"
#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/sample_block.hpp"
#include "formats/bam_reads.hpp"

namespace {

using Letters = Array<uint8_t>;

const char* name_of(pairhmm::TextProblem::Kind kind) {
    using pairhmm::TextProblem;
    switch (kind) {
        case TextProblem::kNone: break;
        case TextProblem::kNoRecord: return "no record";
        case TextProblem::kOtherFormat: return "other format";
        case TextProblem::kLetter: return "letter";
        case TextProblem::kQuality: return "quality";
        case TextProblem::kLengths: return "lengths";
        case TextProblem::kCutOff: return "cut off";
    }
    return "";
}

}  // namespace

void bind_samples(nb::module_& module) {
    using pairhmm::SampleText;
    nb::class_<SampleText>(module, "SampleText", "Records of FASTA or FASTQ text that comes in pieces.")
        .def(
            "__init__",
            [](SampleText* self, Letters set_of_letter, int64_t overlap, int64_t longest_held) {
                checks::has(set_of_letter, 256, "set_of_letter");
                new (self) SampleText(set_of_letter.data(), overlap, longest_held);
            },
            "set_of_letter"_a, "overlap"_a, "longest_held"_a, nb::keep_alive<1, 2>())
        .def(
            "feed",
            [](SampleText& self, Letters text) {
                nb::gil_scoped_release release;
                return self.feed(text.data(), static_cast<int64_t>(text.shape(0)));
            },
            "text"_a, "Take a piece of text, an empty one at the end; False where a record is not right.")
        .def(
            "take",
            [](SampleText& self) {
                auto block = unlocked([&] { return self.take(); });
                return to_python(std::move(block));
            },
            "What has come since the last time: letters, qualities or None, offset, names, name_end, first_record, "
            "first_position, carried, unfinished.")
        .def_prop_ro(
            "problem",
            [](const SampleText& self) -> TupleOf<nb::str, int64_t, nb::bytes, int64_t, int64_t> {
                const auto& problem = self.problem();
                return nb::make_tuple(name_of(problem.kind), problem.record, to_bytes(problem.name), problem.at,
                                      problem.value);
            },
            "What is wrong: kind, record (0-based), its name, and position and byte, or letters and qualities.");

    module.def(
        "take_bam_header",
        [](Letters data) -> TupleOf<int64_t, bool> {
            const auto piece = pairhmm::take_bam_header(data.data(), static_cast<int64_t>(data.shape(0)));
            return nb::make_tuple(piece.end, piece.is_broken);
        },
        "data"_a, "Where the header at the front of an unpacked BAM ends, or 0; and whether it is none.");
    module.def(
        "take_bam_reads",
        [](Letters data) -> TupleOf<pairhmm::SampleTuple, int64_t, bool> {
            pairhmm::SampleBlock block;
            auto piece = unlocked(
                [&] { return pairhmm::take_bam_reads(data.data(), static_cast<int64_t>(data.shape(0)), block); });
            return nb::make_tuple(to_python(std::move(block)), piece.end, piece.is_broken);
        },
        "data"_a,
        "The reads at the front of an unpacked BAM, as SampleText.take has them; where they end; and whether what follows "
        "is no BAM.");
}
