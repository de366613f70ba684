// Signatures, projections and blended positions of samples, over threads.
#pragma once

#include <cstdint>
#include <functional>

#include "map/place_level.hpp"

namespace pairhmm {

// Compressed sparse rows: the tokens, or the neighbours, of each sample.
template <class Value>
struct SampleRows {
    const Value* value;
    const int64_t* offset;  // [samples + 1]
    int64_t samples;

    int64_t length(int64_t at) const { return offset[at + 1] - offset[at]; }
    const Value* begin(int64_t at) const { return value + offset[at]; }
};
using TokenRows = SampleRows<uint32_t>;
using NeighbourRows = SampleRows<int32_t>;

using Interrupted = std::function<bool()>;

SlotHashes slot_hashes(const uint32_t* factor, const uint32_t* summand);

// Into signatures[samples][kSignatureSlots].
void sign_samples(const PlaceLevel& level, const TokenRows& rows, const SlotHashes& hashes, int threads,
                  uint32_t* signatures, const Interrupted& interrupted);

// Into positions[samples][2], from matrix[kSignatureSlots][2]. The same for any number of threads.
void project_samples(const PlaceLevel& level, const TokenRows& rows, const SlotHashes& hashes, const float* matrix,
                     int threads, float* positions, const Interrupted& interrupted);

// Jacobi passes from start[samples][2] into positions[samples][2].
void blend_positions(const float* start, const NeighbourRows& rows, double alpha, int passes, int threads,
                     float* positions, const Interrupted& interrupted);

}  // namespace pairhmm
