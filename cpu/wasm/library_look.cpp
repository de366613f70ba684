#include "wasm/library_look.hpp"

#include "calling/str_rates.hpp"

namespace pairhmm {

LibraryLook::LibraryLook(const RunOptions& options)
    : least_copies_(options.least_copies),
      most_copies_(options.model.options.most_copies),
      repeats_(least_copies_, most_copies_) {
    if (options.stream.of_mixture) errors_.emplace(options.thresholds.min_base_quality);
    else sources_.emplace();
}

void LibraryLook::add(const std::string& chrom, const AlignedReads& reads, ReferenceBases& reference) {
    if (errors_) errors_->add(chrom, reads, reference);
    if (sources_) sources_->add(chrom, reads, reference);
    repeats_.add(chrom, reads, reference);
}

void LibraryLook::finish(ReferenceBases& reference) {
    if (errors_) errors_->finish(reference);
}

LibraryErrors LibraryLook::errors() {
    LibraryErrors found;
    found.repeats = repeats_.sites();
    if (sources_) found.sources = sources_->rates();
    if (errors_) {
        const auto rates = std::make_shared<ErrorRates>(errors_->rates());
        StrRates slips = estimate_rates(found.repeats, least_copies_, most_copies_);
        rates->gain = std::move(slips.gain);
        rates->loss = std::move(slips.loss);
        found.of_mixture = rates;
    }
    return found;
}

}  // namespace pairhmm
