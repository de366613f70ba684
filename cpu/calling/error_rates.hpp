// How often bases are read as others, by what stands before them, cycle and quality: seen from some of a run's reads.
//
// Reads are taken in the direction of the sequencer. Qualities promise one part of the errors, which every letter has;
// the rest belongs to the letters before a base, the base itself, the letter that it is read as, and the cycle.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "calling/candidates.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

// Cells of a position: strand, place in the read, class of quality.
constexpr int kStrands = 2, kCycleBins = 8, kQualityClasses = 4;
constexpr int kCells = kStrands * kCycleBins * kQualityClasses;
// Three letters before a base, and the base.
constexpr int kContextReach = 3, kContexts = 256;

// The reads over a position: how many of each cell have each letter.
struct SiteCells {
    std::array<std::array<uint32_t, kCells>, 4> count{};
};

inline int cell_of(int strand, int bin, int quality_class) {
    return (strand * kCycleBins + bin) * kQualityClasses + quality_class;
}

// The place of a base in a read of so many aligned bases, by its cycle.
int cycle_bin(int64_t cycle, int64_t aligned);

// Sites that are counted together.
constexpr int64_t kSitesOfPage = 1 << 10;

// Counts bases of reads.
class CellCounter {
public:
    explicit CellCounter(int min_base_quality);

    // The next bases are those of this read.
    void take(const Reads& reads, int64_t read);
    // Counts query [first, first + length) of the read, whose first base belongs to `sites`.
    void count(int64_t first, int64_t length, SiteCells* sites) const;
    // The cell of a base between the clips, of the first class of quality.
    int cell(int64_t query) const {
        return bin_[static_cast<size_t>(std::clamp<int64_t>(query - first_, 0, aligned_ - 1))];
    }

private:
    std::array<int8_t, 256> class_of_{};  // -1: not counted
    std::vector<uint8_t> bin_;            // of each base between the clips
    int64_t aligned_ = -1, first_ = 0;
    int strand_ = 0;
    const uint8_t* base_ = nullptr;
    const uint8_t* quality_ = nullptr;
};

// The contexts of a position on both strands. `letters` has the reference around it: at [position], three before and
// three behind it.
std::array<int, kStrands> contexts_at(const uint8_t* letters);

struct ErrorRates {
    // [quality class]: what every wrong letter has
    std::array<double, kQualityClasses> of_quality{0.017, 0.003, 4e-4, 1e-4};
    // [context][letter as it is read][place in the read]: beyond these; empty: none
    std::vector<float> of_context;
    double spread = 0.25;  // variance of a place's rates around those of its context, as a share of their square
    // [longest unit][most copies] rates at which repeats gain and lose units
    std::vector<double> gain, loss;

    double beyond(int strand, int context, int letter, int bin) const {
        if (of_context.empty()) return 0;
        return of_context[static_cast<size_t>((context * 4 + (strand ? 3 - letter : letter)) * kCycleBins + bin)];
    }
};

// The errors that reads over a position promise for a letter: of strands, and in bins of strand and place.
struct ExpectedErrors {
    std::array<double, kStrands> total{}, of_context{};
    std::array<double, kStrands * kCycleBins> promised_of_bin{}, of_context_of_bin{};
};
ExpectedErrors expected_errors(const std::array<uint32_t, kCells>& depth, const std::array<int, kStrands>& contexts,
                               int letter, const ErrorRates& rates);

class ErrorRateFinder {
public:
    explicit ErrorRateFinder(int min_base_quality) : counter_(min_base_quality) {}

    // Takes reads of one contig, in order of start.
    void add(const std::string& chrom, const Reads& reads, ReferenceBases& reference);
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
    void count(const Reads& reads, int64_t read);
    template <class Visit>
    void each_error(const Visit& visit);
    void fit_rates(ErrorRates& rates);
    void fit_spread(ErrorRates& rates);

    CellCounter counter_;
    std::string chrom_;
    Pages pages_;  // those that reads to come may reach
    std::vector<Site> sites_;
};

}  // namespace pairhmm
