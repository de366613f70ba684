// Signatures and projections for an instruction set, as a `PlaceLevel`.
//
// Method. Loops over slots, and over the tokens of a piece, are left to the compiler, which makes vectors of 32-bit
// products, 64-bit folds and doubles of them at each level. A fold is exact: factor * token + summand is at most
// (P - 1) * P, so that its low 31 bits and the rest add up to less than 2 P. Sums have eight lanes at every level.

#include <algorithm>
#include <cstdint>

#include "map/place_level.hpp"
#include "simd/level.hpp"

namespace pairhmm {
namespace PAIRHMM_LEVEL {
namespace placing {

constexpr int kLanes = 8;
constexpr int64_t kPiece = 256;  // tokens that are hashed before any of them finds its slot

inline uint32_t hashed(uint32_t factor, uint32_t token, uint32_t summand) {
    const uint64_t product = static_cast<uint64_t>(factor) * token + summand;
    const uint32_t folded = static_cast<uint32_t>(product & kPrime) + static_cast<uint32_t>(product >> 31);
    return std::min(folded, folded - kPrime);  // the latter wraps to a high number where `folded` is below P
}

inline void sign_each_slot(const uint32_t* tokens, int64_t count, const SlotHashes& hashes, uint32_t* signature) {
    for (int64_t i = 0; i < count; ++i) {
        const uint32_t token = tokens[i];
        for (int slot = 0; slot < kSignatureSlots; ++slot)
            signature[slot] = std::min(signature[slot], hashed(hashes.factor[slot], token, hashes.summand[slot]));
    }
}

inline void fill_empty(const SlotHashes& hashes, uint32_t* signature) {
    uint32_t found[kSignatureSlots];
    std::copy_n(signature, kSignatureSlots, found);
    for (int slot = 0; slot < kSignatureSlots; ++slot) {
        uint32_t attempt = 0, value = found[slot];
        while (value == kPrime) {
            value = found[attempt < kTabledAttempts ? hashes.donor[attempt][slot] : donor_slot(slot, attempt + 1)];
            ++attempt;
        }
        signature[slot] = value;
    }
}

inline void sign_once(const uint32_t* tokens, int64_t count, const SlotHashes& hashes, uint32_t* signature) {
    uint32_t values[kPiece];
    for (int64_t first = 0; first < count; first += kPiece) {
        const int64_t size = std::min(kPiece, count - first);
        for (int64_t i = 0; i < size; ++i) values[i] = hashed(hashes.factor[0], tokens[first + i], hashes.summand[0]);
        for (int64_t i = 0; i < size; ++i) {
            uint32_t& least = signature[values[i] >> kSlotShift];
            least = std::min(least, values[i]);
        }
    }
    fill_empty(hashes, signature);
}

inline void sign(const uint32_t* tokens, int64_t count, const SlotHashes& hashes, uint32_t* signature) {
    std::fill_n(signature, kSignatureSlots, kPrime);
    if (count < kLeastForOnePermutation) sign_each_slot(tokens, count, hashes, signature);
    else sign_once(tokens, count, hashes, signature);
}

inline double distance(uint32_t value, uint32_t pivot) { return static_cast<int32_t>(value - pivot); }

inline void add(const uint32_t* signature, const uint32_t* pivot, SlotSums& sums) {
    for (int slot = 0; slot < kSignatureSlots; ++slot) {
        const double apart = distance(signature[slot], pivot[slot]);
        sums.sum[slot] += apart;
        sums.square[slot] += apart * apart;
    }
}

inline void project(const uint32_t* signature, const uint32_t* pivot, const SlotWeights& weights, float* position) {
    double x[kLanes] = {}, y[kLanes] = {};
    for (int first = 0; first < kSignatureSlots; first += kLanes)
        for (int lane = 0; lane < kLanes; ++lane) {
            const double apart = distance(signature[first + lane], pivot[first + lane]);
            x[lane] += apart * weights.weight[0][first + lane];
            y[lane] += apart * weights.weight[1][first + lane];
        }
    double sum_x = 0, sum_y = 0;
    for (int lane = 0; lane < kLanes; ++lane) sum_x += x[lane], sum_y += y[lane];
    position[0] = static_cast<float>(sum_x - weights.centre[0]);
    position[1] = static_cast<float>(sum_y - weights.centre[1]);
}

}  // namespace placing
}  // namespace PAIRHMM_LEVEL

const PlaceLevel* PAIRHMM_JOIN(place_level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL::placing;
    static const PlaceLevel level{sign, add, project};
    return &level;
}

}  // namespace pairhmm
