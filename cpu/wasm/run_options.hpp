// The options of a run by the names that they have in JavaScript (web/src/models/parameters.js, which is generated).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calling/candidates.hpp"
#include "calling/preparation.hpp"
#include "calling/records.hpp"
#include "calling/region_stream.hpp"
#include "calling/regions.hpp"
#include "calling/run_slips.hpp"

namespace pairhmm {

struct RunOptions {
    CandidateThresholds thresholds{};
    bool assembles = true;
    RegionOptions joining{};
    StreamOptions stream{};
    ReadModel model;
    std::optional<double> score_floor;
    int ploidy = 2;
    double snv_prior = 0, indel_prior = 0, contamination = 0;
    bool joins_snvs = false;
    RecordOptions records;
    std::vector<int> gq_bands;
    GapTables gaps_without_pcr;  // the least with which genotypes expect reads to slip, unless the model has tables
    std::vector<int> least_copies;
    double slip_spread = 0;
    bool sees_slips = false;  // from the reads that are looked at
    bool is_listed = false;   // candidates come from a list
    bool is_limited = false;  // to intervals

    // Sets an option to a number or numbers; NaN stands for none. False where there is no option of that name.
    bool set(const std::string& name, const std::vector<double>& values);

    // How often reads slip in repeats by these options.
    SlipRates slips() const;
};

}  // namespace pairhmm
