// What a level's source file includes: the aligners over its vector width, as an `AlignLevel`.
// Before it, the file defines PAIRHMM_LEVEL (a name) and PAIRHMM_VECTOR (bytes); and PAIRHMM_SINGLE_ONLY for a level
// that has `single32` alone, where size matters more than speed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "align/level.hpp"
#include "simd/failures.hpp"

#if defined(__GNUC__) && !defined(__clang__)
// GCC's own AVX-512 header is warned of (its bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#define PAIRHMM_INLINE inline __attribute__((always_inline))

namespace pairhmm {
namespace PAIRHMM_LEVEL {
namespace align {

constexpr int kVectorBytes = PAIRHMM_VECTOR;

// clang-format off: each uses what stands before it
#include "align/tools.hpp"
#include "align/letter_bits.hpp"
#include "align/edit.hpp"
#include "simd/vectors.hpp"
#include "align/cells.hpp"
#include "align/costs.hpp"
#include "align/side_by_side.hpp"
#include "align/single.hpp"
// clang-format on

}  // namespace align
}  // namespace PAIRHMM_LEVEL

#define PAIRHMM_JOIN2(a, b) a##b
#define PAIRHMM_JOIN(a, b) PAIRHMM_JOIN2(a, b)

const AlignLevel* PAIRHMM_JOIN(align_level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL::align;
#if defined(PAIRHMM_SINGLE_ONLY)
    static const AlignLevel level{kVectorBytes, nullptr, nullptr,         nullptr,
                                  nullptr,      nullptr, single<Cells32>, free_rooms};
#else
    static const AlignLevel level{
        kVectorBytes,    edit,      side_by_side<Cells8>, side_by_side<Cells16>, side_by_side<Cells32>, single<Cells16>,
        single<Cells32>, free_rooms};
#endif
    return &level;
}

}  // namespace pairhmm
