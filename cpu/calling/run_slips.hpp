// Indels that change the number of units in a tandem repeat: how likely they are, and how often reads slip there.
// docs/model.md has the formulas.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calling/genotypes.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

// Bases of the longest unit of a repeat.
constexpr int kLongestUnit = 8;

// How often a read's copy of a repeat has gained or lost units: [longest unit][most copies], by the copies of its
// chromosome. Empty: no more often than likelihoods of reads have it.
struct SlipRates {
    int most_copies = 1;
    std::vector<double> gain, loss;
    std::vector<double> spread;  // standard deviation of the logarithms (10) of a run's two rates around these
    std::vector<double> known_gain, known_loss;  // what likelihoods of reads have of gain and loss

    size_t place(int unit, int copies) const {
        return static_cast<size_t>((unit - 1) * most_copies + std::clamp(copies, 1, most_copies) - 1);
    }
};

// Phred qualities of opening and of continuing gaps: [longest unit][most copies] of the repeat at a base.
struct GapTables {
    std::vector<uint8_t> insertion, deletion, gap;
};

// Those of gaps that are as frequent in repeats as elsewhere, but for a limit.
struct GapQualities {
    uint8_t insertion, deletion, gap;
    std::vector<uint8_t> most_by_copies;  // [copies + 1] the highest quality of opening either gap; empty: no limit
};

// How often the probability of opening a gap adds up for a read of so many copies that has changed by one unit: at the
// bases where it may open (calling/repeats.hpp).
double ways_of_gap(int unit, int copies, double continued);

// The rates that gaps of these qualities stand for, in repeats of at least so many copies: [longest unit]; of `tables`
// and `everywhere` without its limit, the higher ones. Likelihoods of reads have those of `everywhere`, if it is given,
// or else of `tables`. The opposite of `model_of_rates` in pairhmm/models/str_parameters.py.
SlipRates slip_rates(const GapTables& tables, const std::optional<GapQualities>& everywhere,
                     const std::vector<int>& least_copies, double spread);

// A repeat of the reference, and by how many units each allele of a variant changes it.
struct RunAlleles {
    int unit = 0, copies = 0;       // no unit: no allele changes a repeat
    std::vector<int> change;        // [alleles]
    std::vector<bool> is_of_units;  // [alleles] whether it has nothing but such a change

    int copies_of(size_t allele) const { return copies + change[allele]; }
};

// reference: letters from `start` on, around the variant.
RunAlleles run_alleles(const Variant& variant, const std::string& reference, int64_t start);

// The prior of each alternative allele, where one that changes no repeat has `prior`.
std::vector<double> run_priors(const RunAlleles& run, double prior);

// The rates of slips that a run may have, with their probabilities.
std::vector<SiteReads::Slips> run_slips(const RunAlleles& run, const SlipRates& rates);

}  // namespace pairhmm
