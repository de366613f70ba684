// Forward-backward over the vectors of an instruction set, as a `PosteriorLevel`.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "posterior/level.hpp"
#include "simd/failures.hpp"
#include "simd/level.hpp"

namespace pairhmm {
namespace PAIRHMM_LEVEL {
namespace posterior {

// clang-format off: each uses what stands before it
#include "simd/lanes.hpp"
#include "forward/level_tools.hpp"
#include "posterior/kernel.hpp"
// clang-format on

inline void run(const PairSet& set, const int64_t* pair, int count, const ExpectedCounts* counts,
                const Posteriors* posteriors, double* log10) {
    FlushDenormals flush;
    thread_local PosteriorTile tile;
    tile.run(set, pair, count, counts, posteriors, log10);
}

}  // namespace posterior
}  // namespace PAIRHMM_LEVEL

const PosteriorLevel* PAIRHMM_JOIN(posterior_level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL::posterior;
    static const PosteriorLevel level{kWideLanes, run};
    return &level;
}

}  // namespace pairhmm
