// What is seen of a library's errors in some of its reads, as pairhmm/calling/stutter.py has it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calling/error_rates.hpp"
#include "calling/source_rates.hpp"
#include "calling/str_counts.hpp"
#include "wasm/run_options.hpp"

namespace pairhmm {

struct LibraryErrors {
    SourceRates sources;                           // of reads that do not show the genotype
    std::shared_ptr<const ErrorRates> of_mixture;  // none: as base qualities promise
    StrSites repeats;                              // that reads go over
};

class LibraryLook {
public:
    explicit LibraryLook(const RunOptions& options);

    // Takes reads of one contig, in order of start.
    void add(const std::string& chrom, const AlignedReads& reads, ReferenceBases& reference);
    // Takes what is still to be taken.
    void finish(ReferenceBases& reference);
    LibraryErrors errors();

private:
    std::vector<int> least_copies_;
    int most_copies_;
    StrCounter repeats_;
    std::optional<SourceRateFinder> sources_;  // of genotypes
    std::optional<ErrorRateFinder> errors_;    // of mixtures
};

}  // namespace pairhmm
