// Python bindings of posterior/: arrays in, counts and posteriors out.
#include <algorithm>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/levels.hpp"
#include "calling/letters.hpp"
#include "posterior/posterior.hpp"

namespace {

// Every row has its counts.
void check_counted(const pairhmm::PairSet& set, int64_t symbols, int64_t places) {
    for (int64_t pair = 0; pair < set.pairs; ++pair) {
        const int64_t first = set.read_offset[set.read[pair]], rows = set.read_offset[set.read[pair] + 1] - first;
        checks::lie_in(set.symbol + first, rows, 0, symbols, "symbol");
        checks::lie_in(set.place + first, rows, 0, places, "place");
    }
}

}  // namespace

void bind_posterior(nb::module_& module) {
    nb::class_<pairhmm::PairSet>(module, "PairSet", "Pairs of a read and a haplotype, and the tables of their rows.")
        .def(
            "__init__",
            [](pairhmm::PairSet* self, Array<int64_t> read, Array<int64_t> hap, Array<int64_t> read_offset,
               Array<int64_t> hap_offset, Array<uint8_t> letter, Array<int32_t> symbol, Array<int32_t> place,
               Array<double> emission, Array<double> transition, double start_match, double start_deletion) {
                const int64_t rows = std::min(checks::size_of(symbol), checks::size_of(place));
                checks::lie_below(read, checks::parts_of(read_offset, rows, "read_offset"), "read");
                checks::lie_below(hap, checks::parts_of(hap_offset, checks::size_of(letter), "hap_offset"), "hap");
                checks::has(hap, checks::size_of(read), "hap");
                checks::lie_below(letter, pairhmm::kCodeOfN + 1, "letter");
                checks::lie_below(symbol, checks::size_of(emission) / pairhmm::kEmissions, "symbol");
                checks::lie_below(place, checks::size_of(transition) / pairhmm::kTransitions, "place");
                new (self) pairhmm::PairSet{static_cast<int64_t>(read.shape(0)),
                                            read.data(),
                                            hap.data(),
                                            read_offset.data(),
                                            hap_offset.data(),
                                            letter.data(),
                                            symbol.data(),
                                            place.data(),
                                            emission.data(),
                                            transition.data(),
                                            start_match,
                                            start_deletion};
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
            nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>(), nb::keep_alive<1, 8>(), nb::keep_alive<1, 9>(),
            nb::keep_alive<1, 10>());

    module.def(
        "expected_counts",
        [](const std::string& level, const pairhmm::PairSet& set, int64_t symbols, int64_t places, int64_t block,
           int threads, Output<double> counts, Output<double> log10) {
            checks::require(block > 0 && symbols >= 0 && places >= 0, "block", "at least one pair");
            check_counted(set, symbols, places);
            const int64_t blocks = (set.pairs + block - 1) / block;
            checks::require(
                counts.size() == 0 || checks::size_of(counts) >= blocks * pairhmm::counts_size(symbols, places),
                "counts", "too few for the blocks, or none");
            checks::has(log10, set.pairs, "log10");
            nb::gil_scoped_release release;
            pairhmm::expected_counts(LEVEL_NAMED(posterior, level), set, symbols, places, block, threads,
                                     counts.size() == 0 ? nullptr : counts.data(), log10.data());
        },
        "level"_a, "set"_a, "symbols"_a, "places"_a, "block"_a, "threads"_a, "counts"_a, "log10"_a,
        "Expected counts of each block of pairs, and log10 likelihoods; with no room for counts, likelihoods alone.");

    module.def(
        "posteriors",
        [](const std::string& level, const pairhmm::PairSet& set, Array<int64_t> at, int threads, Output<double> match,
           Output<double> insertion, Output<double> deletion, Output<double> log10) {
            checks::has(at, set.pairs, "at");
            checks::has(log10, set.pairs, "log10");
            for (int64_t pair = 0; pair < set.pairs; ++pair) {
                const int64_t m = set.read_offset[set.read[pair] + 1] - set.read_offset[set.read[pair]];
                const int64_t n = set.hap_offset[set.hap[pair] + 1] - set.hap_offset[set.hap[pair]];
                checks::require(at.data()[pair] >= 0, "at", "before 0");
                for (const auto* cells : {&match, &insertion, &deletion})
                    checks::has(*cells, at.data()[pair] + m * n, "match, insertion, deletion");
            }
            nb::gil_scoped_release release;
            pairhmm::posteriors(LEVEL_NAMED(posterior, level), set, at.data(), threads, match.data(), insertion.data(),
                                deletion.data(), log10.data());
        },
        "level"_a, "set"_a, "at"_a, "threads"_a, "match"_a, "insertion"_a, "deletion"_a, "log10"_a,
        "Posterior probabilities of the cells of each pair, and log10 likelihoods; NaN where float64 does not hold them.");
}
