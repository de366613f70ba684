#include "map/place.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "threads/tasks.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kSamplesEach = 1024;       // samples of a thread's task
constexpr int64_t kKept = int64_t{1} << 18;  // signatures in memory (128 MiB); those of further samples are made twice

// block(number, first, end) over the samples.
template <class Block>
void in_blocks(int64_t samples, int threads, const Interrupted& interrupted, const Block& block) {
    std::atomic<bool> stop{false};
    run_short_tasks((samples + kSamplesEach - 1) / kSamplesEach, threads, stop, interrupted, [&](int64_t number) {
        if (!stop) block(number, number * kSamplesEach, std::min((number + 1) * kSamplesEach, samples));
    });
}

SlotWeights weights_of(const std::vector<SlotSums>& blocks, int64_t count, const float* matrix) {
    SlotWeights weights{};
    for (int slot = 0; slot < kSignatureSlots; ++slot) {
        double sum = 0, square = 0;
        for (const SlotSums& block : blocks) sum += block.sum[slot], square += block.square[slot];
        const double mean = sum / count, variance = square / count - mean * mean;
        if (!(variance > 0)) continue;
        for (int axis = 0; axis < 2; ++axis) {
            weights.weight[axis][slot] = matrix[2 * slot + axis] / std::sqrt(variance);
            weights.centre[axis] += mean * weights.weight[axis][slot];
        }
    }
    return weights;
}

}  // namespace

SlotHashes slot_hashes(const uint32_t* factor, const uint32_t* summand) {
    SlotHashes hashes{factor, summand, {}};
    for (int attempt = 0; attempt < kTabledAttempts; ++attempt)
        for (int slot = 0; slot < kSignatureSlots; ++slot)
            hashes.donor[attempt][slot] = static_cast<uint8_t>(donor_slot(slot, attempt + 1));
    return hashes;
}

void sign_samples(const PlaceLevel& level, const TokenRows& rows, const SlotHashes& hashes, int threads,
                  uint32_t* signatures, const Interrupted& interrupted) {
    in_blocks(rows.samples, threads, interrupted, [&](int64_t, int64_t first, int64_t end) {
        for (int64_t i = first; i < end; ++i)
            level.sign(rows.begin(i), rows.length(i), hashes, signatures + i * kSignatureSlots);
    });
}

void project_samples(const PlaceLevel& level, const TokenRows& rows, const SlotHashes& hashes, const float* matrix,
                     int threads, float* positions, const Interrupted& interrupted) {
    const int64_t samples = rows.samples;
    std::fill_n(positions, 2 * samples, 0.0f);
    int64_t count = 0, some = -1;  // samples that have tokens, and the first of them
    for (int64_t i = samples - 1; i >= 0; --i)
        if (rows.length(i)) ++count, some = i;
    if (count == 0) return;
    uint32_t pivot[kSignatureSlots];
    level.sign(rows.begin(some), rows.length(some), hashes, pivot);

    std::vector<uint32_t> kept(std::min(samples, kKept) * kSignatureSlots);
    std::vector<SlotSums> sums((samples + kSamplesEach - 1) /
                               kSamplesEach);  // added in order, whichever thread made them
    in_blocks(samples, threads, interrupted, [&](int64_t number, int64_t first, int64_t end) {
        uint32_t made[kSignatureSlots];
        for (int64_t i = first; i < end; ++i) {
            if (!rows.length(i)) continue;
            uint32_t* signature = i < kKept ? kept.data() + i * kSignatureSlots : made;
            level.sign(rows.begin(i), rows.length(i), hashes, signature);
            level.add(signature, pivot, sums[number]);
        }
    });
    const SlotWeights weights = weights_of(sums, count, matrix);
    in_blocks(samples, threads, interrupted, [&](int64_t, int64_t first, int64_t end) {
        uint32_t made[kSignatureSlots];
        for (int64_t i = first; i < end; ++i) {
            if (!rows.length(i)) continue;
            if (i >= kKept) level.sign(rows.begin(i), rows.length(i), hashes, made);
            const uint32_t* signature = i < kKept ? kept.data() + i * kSignatureSlots : made;
            level.project(signature, pivot, weights, positions + 2 * i);
        }
    });
}

void blend_positions(const float* start, const NeighbourRows& rows, double alpha, int passes, int threads,
                     float* positions, const Interrupted& interrupted) {
    std::copy_n(start, 2 * rows.samples, positions);
    std::vector<float> before(2 * rows.samples);
    for (int pass = 0; pass < passes; ++pass) {
        std::copy_n(positions, 2 * rows.samples, before.data());
        in_blocks(rows.samples, threads, interrupted, [&](int64_t, int64_t first, int64_t end) {
            for (int64_t i = first; i < end; ++i) {
                const int64_t count = rows.length(i);
                if (!count) continue;
                double sum[2] = {};
                for (int64_t n = 0; n < count; ++n)
                    for (int axis = 0; axis < 2; ++axis) sum[axis] += before[2 * int64_t{rows.begin(i)[n]} + axis];
                for (int axis = 0; axis < 2; ++axis)
                    positions[2 * i + axis] =
                        static_cast<float>((1 - alpha) * start[2 * i + axis] + alpha * (sum[axis] / count));
            }
        });
    }
}

}  // namespace pairhmm
