// Python bindings of scan/scanner.hpp and formats/table_lines.hpp: arrays in, arrays out.
#include <limits>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/levels.hpp"
#include "calling/letters.hpp"
#include "formats/table_lines.hpp"
#include "scan/level.hpp"
#include "scan/scanner.hpp"
#include "scan/tiles.hpp"

namespace {

pairhmm::Samples samples_of(const Array<uint8_t>& letters, const std::optional<Array<uint8_t>>& qualities,
                            const Array<int64_t>& offset, int64_t carried) {
    const int64_t segments = checks::parts_of(offset, checks::size_of(letters), "offset");
    if (qualities) checks::has(*qualities, offset.data()[segments], "qualities");
    const int64_t first = segments > 0 ? offset.data()[1] - offset.data()[0] : 0;
    checks::require(carried >= 0 && carried <= first, "carried", "more bases than the first segment has");
    return {segments, offset.data(), letters.data(), qualities ? qualities->data() : nullptr, carried};
}

// signature, strand: one a pattern.
void check_patterns(const Array<uint8_t>& letters, const Array<int64_t>& offset, const Array<int64_t>& signature,
                    const Array<int64_t>& strand) {
    const int64_t count = checks::size_of(signature);
    checks::has_parts(offset, count, checks::size_of(letters), "offset");
    checks::lie_below(letters, pairhmm::kAny + 1, "letters");
    checks::has(strand, count, "strand");
    checks::lie_below(strand, 2, "strand");
    checks::lie_below(signature, std::numeric_limits<int64_t>::max(), "signature");
}

}  // namespace

void bind_scan(nb::module_& module) {
    nb::class_<pairhmm::Scanner>(module, "Scanner", "Finds patterns in samples.")
        .def(
            "__init__",
            [](pairhmm::Scanner* self, const std::string& level, Array<uint8_t> letters, Array<int64_t> offset,
               Array<int64_t> signature, Array<int64_t> strand, Array<int64_t> least_total, int64_t max_mismatches,
               int64_t min_informative, bool every_match) {
                check_patterns(letters, offset, signature, strand);
                checks::has(least_total, checks::size_of(signature), "least_total");
                const pairhmm::Patterns patterns{static_cast<int64_t>(signature.shape(0)),
                                                 letters.data(),
                                                 offset.data(),
                                                 signature.data(),
                                                 strand.data(),
                                                 least_total.data()};
                nb::gil_scoped_release release;
                const pairhmm::MatchRules rules{max_mismatches, min_informative, every_match};
                new (self) pairhmm::Scanner(LEVEL_NAMED(scan, level), patterns, rules);
            },
            "level"_a, "letters"_a, "offset"_a, "signature"_a, "strand"_a, "least_total"_a, "max_mismatches"_a,
            "min_informative"_a, "every_match"_a, nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
            nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>())
        .def(
            "scan",
            [](const pairhmm::Scanner& scanner, Array<uint8_t> letters, std::optional<Array<uint8_t>> qualities,
               Array<int64_t> offset, int64_t carried, int threads,
               Output<int64_t> totals) -> TupleOf<int64_t, OwnedRows<int64_t>> {
                const pairhmm::Samples samples = samples_of(letters, qualities, offset, carried);
                checks::has(totals, samples.segments, "totals");
                auto found =
                    unlocked([&] { return scanner.scan(samples, threads, totals.data(), pairhmm::kMostFound); });
                return nb::make_tuple(found.segments, to_words<int64_t>(std::move(found.hits)));
            },
            "letters"_a, "qualities"_a.none(), "offset"_a, "carried"_a, "threads"_a, "totals"_a,
            "How many segments were searched, and their hits, nine words each; all segments' sums of qualities into "
            "`totals`.");

    nb::class_<pairhmm::TileScanner>(module, "TileScanner", "Finds tiles of references in samples.")
        .def(
            "__init__",
            [](pairhmm::TileScanner* self, const std::string& level, Array<uint8_t> letters, Array<int64_t> offset,
               Array<int64_t> signature, Array<int64_t> strand, int64_t length, int64_t step, int64_t least_total,
               int64_t max_mismatches, int64_t min_informative, bool every_match, Array<int64_t> masked) {
                check_patterns(letters, offset, signature, strand);
                checks::require(length > 0 && step > 0, "length, step", "at least one letter");
                checks::require(masked.shape(0) % 2 == 0, "masked", "begins and ends");
                checks::has_ends(masked, checks::size_of(letters), "masked");
                const pairhmm::Patterns references{static_cast<int64_t>(signature.shape(0)),
                                                   letters.data(),
                                                   offset.data(),
                                                   signature.data(),
                                                   strand.data(),
                                                   nullptr};
                nb::gil_scoped_release release;
                const pairhmm::TileRules rules{length,
                                               step,
                                               least_total,
                                               {max_mismatches, min_informative, every_match},
                                               reinterpret_cast<const pairhmm::MaskedSpan*>(masked.data()),
                                               static_cast<int64_t>(masked.shape(0)) / 2};
                new (self) pairhmm::TileScanner(LEVEL_NAMED(scan, level), references, rules);
            },
            "level"_a, "letters"_a, "offset"_a, "signature"_a, "strand"_a, "length"_a, "step"_a, "least_total"_a,
            "max_mismatches"_a, "min_informative"_a, "every_match"_a, "masked"_a, nb::keep_alive<1, 3>(),
            nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 13>())
        .def(
            "scan",
            [](const pairhmm::TileScanner& scanner, Array<uint8_t> letters, std::optional<Array<uint8_t>> qualities,
               Array<int64_t> offset, int64_t carried, int threads,
               Output<int64_t> totals) -> TupleOf<int64_t, OwnedRows<int64_t>, OwnedRows<int64_t>> {
                const pairhmm::Samples samples = samples_of(letters, qualities, offset, carried);
                checks::has(totals, samples.segments, "totals");
                auto found = unlocked([&] { return scanner.scan(samples, threads, totals.data()); });
                return nb::make_tuple(found.segments, to_words<int64_t>(std::move(found.hits)),
                                      to_words<int64_t>(std::move(found.runs)));
            },
            "letters"_a, "qualities"_a.none(), "offset"_a, "carried"_a, "threads"_a, "totals"_a,
            "How many segments were searched, their hits, nine words each, and runs, ten words each; all segments' sums "
            "of qualities into `totals`.");

    module.def(
        "low_complexity",
        [](Array<uint8_t> letters, Array<int64_t> offset, int64_t length) {
            auto places = unlocked([&] {
                return pairhmm::low_complexity(letters.data(), offset.data(), static_cast<int64_t>(offset.shape(0)) - 1,
                                               length);
            });
            return to_words<int64_t>(std::move(places));
        },
        "letters"_a, "offset"_a, "length"_a,
        "Where tiles of low complexity begin: the begin and the end of each interval of places.");

    module.def(
        "scan_index",
        [](Array<uint8_t> letters, Array<int64_t> offset,
           int64_t max_mismatches) -> TupleOf<int64_t, int64_t, OwnedRows<int64_t>, OwnedRows<uint32_t>,
                                              OwnedRows<uint32_t>, OwnedRows<uint32_t>> {
            checks::lie_below(letters, pairhmm::kAny + 1, "letters");
            checks::require(max_mismatches >= 0, "max_mismatches", "0 or more");
            const pairhmm::Patterns patterns{checks::parts_of(offset, checks::size_of(letters), "offset"),
                                             letters.data(),
                                             offset.data(),
                                             nullptr,
                                             nullptr,
                                             nullptr};
            auto tables = unlocked([&] { return pairhmm::index_tables(patterns, max_mismatches); });
            return nb::make_tuple(tables.bases, tables.anchors, to_words<int64_t>(std::move(tables.handle)),
                                  to_words<uint32_t>(std::move(tables.known)),
                                  to_words<uint32_t>(std::move(tables.first)),
                                  to_words<uint32_t>(std::move(tables.anchor)));
        },
        "letters"_a, "offset"_a, "max_mismatches"_a,
        "How patterns are found: bases of an anchor, number of anchors, (pattern, offset) of each handle, and the tables "
        "known, first and anchor, in words of 32 bits.");

    module.def(
        "hit_lines",
        [](const std::string& file, nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> hits,
           Array<int64_t> record, nb::bytes names, Array<int64_t> name_end, Array<int64_t> name,
           const std::vector<std::string>& signatures, Array<int64_t> length, bool has_qualities) {
            constexpr size_t kWords = sizeof(pairhmm::Hit) / sizeof(int64_t);
            const auto count = static_cast<int64_t>(hits.shape(0)), known = static_cast<int64_t>(signatures.size());
            checks::require(hits.shape(1) == kWords, "hits", "rows of nine words");
            checks::has(record, count, "record");
            checks::has(name, count, "name");
            checks::has_ends(name_end, static_cast<int64_t>(names.size()), "name_end");
            checks::lie_below(name, checks::size_of(name_end), "name");
            checks::has(length, known, "length");
            const auto* hit = reinterpret_cast<const pairhmm::Hit*>(hits.data());
            for (int64_t i = 0; i < count; ++i) checks::lie_in(&hit[i].signature, 1, 0, known, "hits");
            const pairhmm::HitTable table{file,          count,           hit,         record.data(),
                                          names.c_str(), name_end.data(), name.data(), signatures,
                                          length.data(), has_qualities};
            return to_bytes(unlocked([&] { return pairhmm::hit_lines(table); }));
        },
        "file"_a, "hits"_a, "record"_a, "names"_a, "name_end"_a, "name"_a, "signatures"_a, "length"_a,
        "has_qualities"_a, "Rows of the table of hits.");
}
