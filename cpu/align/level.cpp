// The aligners over the vectors of an instruction set, as an `AlignLevel`. WebAssembly, where size matters more than
// speed, has `single32` alone.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "align/level.hpp"
#include "simd/failures.hpp"
#include "simd/level.hpp"

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

const AlignLevel* PAIRHMM_JOIN(align_level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL::align;
#if defined(__wasm__)
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
