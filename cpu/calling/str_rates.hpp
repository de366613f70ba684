// How often repeats stutter, from the reads over each: rates by unit and copies.
//
// A repeat is homozygous, or heterozygous with half of its reads elsewhere; an expectation-maximisation in each class
// of unit and copies tells these apart. Classes of a unit share a rate that grows geometrically with the copies, where
// they have few reads, and no rate falls with the copies.
#pragma once

#include <cstdint>
#include <vector>

#include "calling/run_slips.hpp"
#include "calling/str_counts.hpp"

namespace pairhmm {

// [longest unit][most copies] each.
struct StrRates {
    std::vector<double> gain, loss;                // P(a read's copy of a repeat has gained or lost units)
    std::vector<int64_t> repeats, reads, changes;  // what the sample had of each class
};

// The rates that make the reads of all repeats likely. least_copies: as for StrCounter.
StrRates estimate_rates(const StrSites& sites, const std::vector<int>& least_copies, int most_copies);

// The qualities of repeats that gain and lose a unit at these rates: of opening gaps up to `quality`, and of continuing
// them `gap`. It is `model_of_rates` of pairhmm/models/str_parameters.py, which works without this module.
GapTables gap_tables(const StrRates& rates, const std::vector<int>& least_copies, uint8_t quality, uint8_t gap);

// The rates at which the reads of a library slip, as those of repeats show beside rates that are expected: some kinds
// of repeats slip more often, and others less. What is not known of them is added to the spread.
SlipRates seen_slips(SlipRates rates, const StrSites& sites);

// How many times as often as in a library without PCR reads over runs of one base have gained or lost some.
double stutter_excess(const StrSites& sites, const SlipRates& without_pcr);

}  // namespace pairhmm
