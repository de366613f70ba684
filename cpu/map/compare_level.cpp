// The comparison of sketches for an instruction set, as a `CompareLevel`.
//
// Method. A tile is a few queries and kTargets targets, so that each vector that is loaded is compared several times.
// Bits that differ in any plane are counted. A count is below 2^16, so that the counts of a target are packed into one
// 64-bit sum, whose lanes are added once.
//
// Versions, single thread of an AMD EPYC (Zen 5), all pairs of 1,000 sketches, CPU time
// (benchmarks/distances.py):
//
//                                         8,192 slots of 1 bit   1,024 slots of 8 bits
//   x86-64-v2, popcnt of words                 17 ms                  25 ms
//   AVX2, halves of bytes looked up            10 ms                   6 ms
//   AVX-512, likewise                           5 ms                  2.5 ms
//   AVX-512 with VPOPCNTDQ                     2.5 ms                  2.3 ms

#include <cstdint>

#include "map/compare_level.hpp"
#include "simd/level.hpp"

namespace pairhmm {
namespace PAIRHMM_LEVEL {
namespace comparing {

#include "map/bits.hpp"

constexpr int64_t kTargets = 2, kWords = sizeof(Bits) / sizeof(uint64_t);
static_assert(kQueries <= kMostQueries, "callers have room for so many");

// Differing slots of a tile's pairs: those of query q with target t are bits 16 q to 16 q + 15 of totals[t].
// kIsOnePlane: the shape has one plane.
template <bool kIsOnePlane>
PAIRHMM_INLINE void compare_tile(const SketchShape& shape, const uint64_t* const* query, const uint64_t* const* target,
                                 uint64_t* totals) {
    const int64_t bits = kIsOnePlane ? 1 : shape.bits, words = shape.words;
    Bits sums[kTargets][kQueries];
    for (auto& of_target : sums)
        for (Bits& sum : of_target) sum = nothing();
    for (int64_t word = 0; word < words;) {
        const int64_t end = (words - word) / kWords <= kAtOnce ? words : word + kAtOnce * kWords;
        Bits counts[kTargets][kQueries];
        for (auto& of_target : counts)
            for (Bits& count : of_target) count = nothing();
        for (; word < end; word += kWords) {
            Bits differs[kTargets][kQueries];
            for (auto& of_target : differs)
                for (Bits& differ : of_target) differ = nothing();
            for (int64_t plane = 0; plane < bits; ++plane) {
                const int64_t at = plane * words + word;
                Bits theirs[kTargets];
                for (int64_t t = 0; t < kTargets; ++t) theirs[t] = loaded(target[t] + at);
                for (int64_t q = 0; q < kQueries; ++q) {
                    const Bits own = loaded(query[q] + at);
                    for (int64_t t = 0; t < kTargets; ++t) differs[t][q] = differing(differs[t][q], own, theirs[t]);
                }
            }
            for (int64_t t = 0; t < kTargets; ++t)
                for (int64_t q = 0; q < kQueries; ++q) counts[t][q] = counted(counts[t][q], differs[t][q]);
        }
        for (int64_t t = 0; t < kTargets; ++t)
            for (int64_t q = 0; q < kQueries; ++q) sums[t][q] = added(sums[t][q], settled(counts[t][q]));
    }
    for (int64_t t = 0; t < kTargets; ++t) {
        Bits packed = added(sums[t][0], shifted<16>(sums[t][1]));
        if constexpr (kQueries > 2) packed = added(packed, added(shifted<32>(sums[t][2]), shifted<48>(sums[t][3])));
        totals[t] = total(packed);
    }
}

template <bool kIsOnePlane>
inline void compare_all(const SketchShape& shape, const uint64_t* const* query, const uint64_t* targets, int64_t count,
                        uint16_t* const* found) {
    const int64_t slots = shape.slots();
    for (int64_t first = 0; first < count; first += kTargets) {
        const int64_t here = count - first < kTargets ? count - first : kTargets;
        const uint64_t* target[kTargets];
        for (int64_t t = 0; t < kTargets; ++t) target[t] = targets + (first + (t < here ? t : 0)) * shape.size();
        uint64_t totals[kTargets];
        compare_tile<kIsOnePlane>(shape, query, target, totals);
        for (int64_t t = 0; t < here; ++t)
            for (int64_t q = 0; q < kQueries; ++q)
                found[q][first + t] = static_cast<uint16_t>(slots - static_cast<int64_t>(totals[t] >> 16 * q & 0xffff));
    }
}

inline void compare(const SketchShape& shape, const uint64_t* const* query, const uint64_t* targets, int64_t count,
                    uint16_t* const* found) {
    if (shape.bits == 1) compare_all<true>(shape, query, targets, count, found);
    else compare_all<false>(shape, query, targets, count, found);
}

}  // namespace comparing
}  // namespace PAIRHMM_LEVEL

const CompareLevel* PAIRHMM_JOIN(compare_level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL::comparing;
    static const CompareLevel level{kWords, kQueries, compare};
    return &level;
}

}  // namespace pairhmm
