// What the module for browsers and Node exports: plain C functions over the module's own memory (web/src/cpu/).
//
// Offsets come as 32-bit numbers, since JavaScript has no fast arrays of 64-bit ones. The caller has checked every
// shape and offset.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "forward/dispatch.hpp"
#include "forward/rescue.hpp"
#include "pdhmm/pdhmm.hpp"
#include "wasm/arrays.hpp"

namespace {

struct GivenBatch {
    uint32_t groups;
    const uint32_t* group_read;
    const uint32_t* group_haplotype;
    const uint32_t* read_offset;
    const uint32_t* haplotype_offset;
    const uint8_t* haplotypes;
    const uint8_t* base;
    const uint8_t* base_quality;
    const uint8_t* insertion_quality;
    const uint8_t* deletion_quality;
    const uint8_t* gap_quality;
    const double* error;
    const double* rows;
    const uint16_t* kinds;
    const uint8_t* flags;
};

using pairhmm::ChosenPairs;
using pairhmm::widened;

constexpr int64_t kLongestFastRead = 500;  // as Backend.longest_fast_read (pairhmm/backends/base.py)

struct OwnBatch {
    OwnBatch(const GivenBatch& given, double start_match, double start_deletion)
        : group_read(widened(given.group_read, int64_t{given.groups} + 1)),
          group_haplotype(widened(given.group_haplotype, int64_t{given.groups} + 1)),
          read_offset(widened(given.read_offset, group_read.back() + 1)),
          haplotype_offset(widened(given.haplotype_offset, group_haplotype.back() + 1)),
          group_pair(pairhmm::first_pairs(group_read, group_haplotype)),
          batch{} {
        batch.groups = given.groups;
        batch.group_read = group_read.data();
        batch.group_hap = group_haplotype.data();
        batch.group_pair = group_pair.data();
        batch.read_offset = read_offset.data();
        batch.hap_offset = haplotype_offset.data();
        batch.hap = given.haplotypes;
        batch.flags = given.flags;
        batch.base = given.base;
        batch.base_quality = given.base_quality;
        batch.insertion_quality = given.insertion_quality;
        batch.deletion_quality = given.deletion_quality;
        batch.gap_quality = given.gap_quality;
        batch.gatk.error = given.error;
        batch.rows = given.rows;
        batch.kinds = given.kinds;
        batch.start_match = start_match;
        batch.start_deletion = start_deletion;
    }

    std::vector<int64_t> group_read, group_haplotype, read_offset, haplotype_offset, group_pair;
    pairhmm::Batch batch;
};

bool never() { return false; }

bool is_unscored(double log10) { return std::isnan(log10); }

// As the level of WebAssembly marks them (forward/denormals.hpp).
bool is_too_small_for_folded(double log10) { return log10 == -HUGE_VAL; }

// Scores some pairs, whose reads are not skipped, with arithmetic that sets denormal numbers to zero, as other
// processors do. WebAssembly keeps them, which may change the last digits of low scores.
void flush(const pairhmm::Level& level, const pairhmm::Batch& batch, const std::vector<uint8_t>& skip_read,
           const ChosenPairs& pairs, double* log10) {
    if (pairs.pair.empty()) return;
    std::vector<uint8_t> skip(skip_read.size(), 1), skip_haplotype(batch.group_hap[batch.groups], 1);
    for (size_t i = 0; i < pairs.pair.size(); ++i) {
        const bool skips = skip_read[pairs.read[i]];
        skip[pairs.read[i]] = skips;
        if (!skips) skip_haplotype[pairs.haplotype[i]] = 0;
    }
    std::vector<double> flushed(batch.group_pair[batch.groups], NAN);
    pairhmm::forward_batch(level, batch, skip.data(), 1, flushed.data(), never, skip_haplotype.data());
    for (const int64_t pair : pairs.pair) log10[pair] = flushed[pair];
}

// Scores the pairs that have no score in float64.
void rescue(const pairhmm::Batch& batch, double* log10, uint8_t* precision) {
    const ChosenPairs left(batch, log10, is_unscored);
    std::vector<double> rescued(left.pair.size());
    const int64_t *read = left.read.data(), *haplotype = left.haplotype.data();
    if (batch.flags != nullptr) {
        pairhmm::pd_pairs(*pairhmm::pd_level_wasm(), batch, left.count(), read, haplotype, 1, rescued.data(), never);
    } else {
        pairhmm::forward_pairs(*pairhmm::level_wasm(), batch, left.count(), read, haplotype, 1, rescued.data(), never);
    }
    for (size_t i = 0; i < left.pair.size(); ++i) {
        log10[left.pair[i]] = rescued[i];
        precision[left.pair[i]] = pairhmm::kFloat64;
    }
}

}  // namespace

PAIRHMM_EXPORT("allocate") void* pairhmm_allocate(uint32_t bytes) { return std::malloc(bytes); }

PAIRHMM_EXPORT("release") void pairhmm_release(void* memory) { std::free(memory); }

// log10 scores of every pair, in float32 where it holds them, else in float64; `precision` says which.
PAIRHMM_EXPORT("forward")
void pairhmm_forward(const GivenBatch* given, double start_match, double start_deletion, double* log10,
                     uint8_t* precision) {
    const OwnBatch own(*given, start_match, start_deletion);
    const pairhmm::Batch& batch = own.batch;
    const int64_t pairs = batch.group_pair[batch.groups];
    for (int64_t i = 0; i < pairs; ++i) log10[i] = NAN, precision[i] = pairhmm::kFloat32;
    const std::vector<uint8_t> skip_read = pairhmm::reads_longer_than(batch, kLongestFastRead);
    if (batch.flags != nullptr) {
        pairhmm::pd_batch(*pairhmm::pd_level_wasm(), batch, skip_read.data(), 1, log10, never);
        rescue(batch, log10, precision);
        return;
    }
    pairhmm::forward_batch(*pairhmm::level_wasm(), batch, skip_read.data(), 1, log10, never);
    pairhmm::Level flushing = *pairhmm::level_wasm_flushing();
    flush(flushing, batch, skip_read, ChosenPairs(batch, log10, is_unscored), log10);
    flushing.folds = [](double, double) { return false; };
    flush(flushing, batch, skip_read, ChosenPairs(batch, log10, is_too_small_for_folded), log10);
    rescue(batch, log10, precision);
}

// Scores, in float64, the pairs whose score is NaN.
PAIRHMM_EXPORT("rescue")
void pairhmm_rescue(const GivenBatch* given, double start_match, double start_deletion, double* log10,
                    uint8_t* precision) {
    const OwnBatch own(*given, start_match, start_deletion);
    rescue(own.batch, log10, precision);
}

// What frees a thread's memory at its end is not called: an instance has one thread, and ends as a whole.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }
