// Exports of calling/reference_confidence.hpp (web/src/genomics/reference_confidence.js).
#include "calling/reference_confidence.hpp"

#include <vector>

#include "wasm/arrays.hpp"
#include "wasm/reads.hpp"

using pairhmm::ReferenceConfidence;

PAIRHMM_EXPORT("confidence_make") ReferenceConfidence* pairhmm_confidence_make(int32_t min_base_quality) {
    return new ReferenceConfidence(min_base_quality);
}

PAIRHMM_EXPORT("confidence_free") void pairhmm_confidence_free(ReferenceConfidence* confidence) { delete confidence; }

PAIRHMM_EXPORT("confidence_add")
void pairhmm_confidence_add(ReferenceConfidence* confidence, const pairhmm::GivenReads* given, const int32_t* read_end,
                            const uint32_t* fragment, uint32_t windows, const int32_t* start, const uint32_t* offset,
                            const uint8_t* letters) {
    const auto ends = pairhmm::widened(read_end, given->count);
    confidence->add(pairhmm::OwnReads(*given).reads, ends.data(), fragment,
                    pairhmm::reference_windows(windows, start, offset, letters));
}

// Of each block: start, end, band, lowest GQ, the low and the high half of the sum of depths, lowest depth, and the
// lowest Phred likelihoods of one and of two copies that are not the reference.
PAIRHMM_EXPORT("confidence_take")
void* pairhmm_confidence_take(ReferenceConfidence* confidence, int32_t begin, int32_t end, uint32_t bands,
                              const int32_t* limits, uint32_t haploid) {
    std::vector<int32_t> numbers;
    for (const pairhmm::ReferenceBlock& one : confidence->take(begin, end, {limits, limits + bands}, haploid != 0)) {
        for (const int64_t value : {one.start, one.end, int64_t{one.band}, one.quality, one.depth, one.depth >> 32,
                                    one.least_depth, one.one, one.both}) {
            numbers.push_back(static_cast<int32_t>(value));
        }
    }
    return pairhmm::handed_over(numbers);
}
