// How often bases are read as others, by what stands before them, cycle and quality: seen from some of a run's reads.
//
// Reads are taken in the direction of the sequencer. Qualities promise one part of the errors, which every letter has;
// the rest belongs to the letters before a base, the base itself, the letter that it is read as, and the cycle.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "calling/aligned_reads.hpp"
#include "calling/molecule_bases.hpp"
#include "calling/site_cells.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

// Three letters before a base, and the base.
constexpr int kContextReach = 3, kContexts = 256;
// Single reads, some copies, many copies: errors of each have rates of their own.
constexpr int kKinds = 3;
inline int kind_of(int quality_class) { return std::max(0, quality_class - kCopiesClass + 1); }

// The contexts of a position on both strands. `letters` has the reference around it: at [position], three before and
// three behind it.
std::array<int, kStrands> contexts_at(const uint8_t* letters);

struct ErrorRates {
    // [quality class]: what every wrong letter has
    std::array<double, kQualityClasses> of_quality{0.017, 0.003, 4e-4, 1e-4, 2e-5, 1e-5};
    // [kind][context][letter as it is read][place in the read]: beyond these; empty: none
    std::vector<float> of_context;
    double spread = 0.25;  // variance of a place's rates around those of its context, as a share of their square
    // [longest unit][most copies] rates at which repeats gain and lose units
    std::vector<double> gain, loss;

    double beyond(int strand, int context, int letter, int bin, int kind = 0) const {
        if (of_context.empty()) return 0;
        const int read_as = strand ? 3 - letter : letter;
        return of_context[static_cast<size_t>(((kind * kContexts + context) * 4 + read_as) * kCycleBins + bin)];
    }
};

// The errors that reads over a position promise for a letter: of strands, and in bins of strand and place.
struct ExpectedErrors {
    std::array<double, kStrands> total{}, of_context{};
    std::array<double, kStrands * kCycleBins> promised_of_bin{}, of_context_of_bin{};
};
ExpectedErrors expected_errors(const std::array<uint32_t, kCells>& depth, const std::array<int, kStrands>& contexts,
                               int letter, const ErrorRates& rates);

struct ContextSums;

class ErrorRateFinder {
public:
    explicit ErrorRateFinder(int min_base_quality) : counter_(min_base_quality) {}

    // Takes reads of one contig, in order of start.
    void add(const std::string& chrom, const AlignedReads& reads, ReferenceBases& reference);
    // Takes what is still to be taken of the reads: those to come are elsewhere.
    void finish(ReferenceBases& reference);
    ErrorRates rates();

private:
    struct Site {
        SiteCells cells;
        std::array<uint32_t, kCells> depth;
        std::array<int, kStrands> contexts;
        int ref;
        std::array<bool, 4> is_error{};  // [letter] not the reference's, nor an allele
    };
    using Pages = std::map<int64_t, std::vector<SiteCells>>;

    void keep(int64_t page, const std::vector<SiteCells>& sites, ReferenceBases& reference);
    void keep_before(int64_t position, ReferenceBases& reference);
    void count(const Reads& reads, int64_t read);
    std::vector<SiteCells>& page_of(int64_t position);
    void take_molecules(int64_t frontier);
    template <class Visit>
    void each_error(const Visit& visit);
    void fit_rates(ErrorRates& rates, ContextSums& sums);
    void fit_spread(ErrorRates& rates, ContextSums& sums);
    static void add_site(const Site& site, int letter, double times, const ErrorRates& rates, ContextSums& sums);
    static ExpectedErrors expected_by_others(const Site& site, int letter, ErrorRates& rates, ContextSums& sums);

    CellCounter counter_;
    MoleculeBases molecules_;
    std::string chrom_;
    int64_t newest_ = 0;  // where the last read begins
    Pages pages_;         // those that reads to come may reach
    std::vector<Site> sites_;
};

}  // namespace pairhmm
