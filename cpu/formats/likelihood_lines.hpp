// Lines of the table that `pairhmm likelihoods` writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pairhmm {

// The reads of a region, and the score of each against each haplotype.
struct LikelihoodRegion {
    const std::string& place;  // contig, start and end, with tabs between them
    const std::vector<std::string>& samples;
    const std::vector<std::string>& haplotypes;
    const std::vector<std::string>& precision_names;
    int64_t reads;
    const int32_t* sample;    // [reads], index into samples
    const char* names;        // end to end
    const int64_t* name_end;  // [reads]
    const uint8_t* mate;      // [reads]
    const double* log10;      // [reads][haplotypes]
    const uint8_t* precision;
    const int64_t* joined;  // [reads], the reads of each profile; or null: no such column
};

std::string likelihood_lines(const LikelihoodRegion& region);

}  // namespace pairhmm
