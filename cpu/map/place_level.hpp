// What an instruction set provides to the map of samples; map/place_level.cpp makes it.
#pragma once

#include <cstdint>

namespace pairhmm {

constexpr uint32_t kPrime = 0x7FFFFFFF;  // 2^31 - 1: tokens and hashes are below it, and it is an empty slot
constexpr int kSignatureSlots = 128;
constexpr int64_t kLeastForOnePermutation = 12;  // tokens
constexpr int kSlotShift = 24;                   // bits of a hash below those that name its slot
constexpr int kTabledAttempts = 64;

// The hash of slot j is (factor[j] * token + summand[j]) mod kPrime. donor[attempt - 1][j] is the slot that an empty
// slot j asks for a value at an attempt.
struct SlotHashes {
    const uint32_t* factor;   // [kSignatureSlots]
    const uint32_t* summand;  // [kSignatureSlots]
    uint8_t donor[kTabledAttempts][kSignatureSlots];
};

// pairhmm/map/sketch/published.py has the same arithmetic.
inline uint32_t donor_slot(uint32_t slot, uint32_t attempt) {
    uint32_t mixed = slot * 0x9E3779B9u + attempt * 0x85EBCA6Bu;
    mixed = (mixed ^ mixed >> 16) * 0x7FEB352Du;
    mixed = (mixed ^ mixed >> 15) * 0x846CA68Bu;
    return (mixed ^ mixed >> 16) % kSignatureSlots;
}

// Sums over samples of each slot's distance from `pivot`, one sample's signature. Such distances are exact, so that a
// slot that is equal in all samples has a deviation of exactly 0.
struct SlotSums {
    double sum[kSignatureSlots];
    double square[kSignatureSlots];
};

// What a distance from the pivot counts on each axis, and where the mean is.
struct SlotWeights {
    double weight[2][kSignatureSlots];
    double centre[2];
};

struct PlaceLevel {
    void (*sign)(const uint32_t* tokens, int64_t count, const SlotHashes& hashes, uint32_t* signature);
    void (*add)(const uint32_t* signature, const uint32_t* pivot, SlotSums& sums);
    void (*project)(const uint32_t* signature, const uint32_t* pivot, const SlotWeights& weights, float* position);
};

const PlaceLevel* place_level_x86_64_v2();
const PlaceLevel* place_level_avx2();
const PlaceLevel* place_level_avx512();
const PlaceLevel* place_level_neon();

}  // namespace pairhmm
