// Time warping over the vectors of an instruction set, as a `WarpLevel`.
//
// Method. Costs have 16 bits at first. Sums saturate, so that a cost below 2^16 - 1 is exact, and a pair whose cost is
// higher is warped again in 32 bits, and then in 64. Where a path may start anywhere, no cell carries its start: a
// second sweep goes back from the cheapest path's end, and stops at the first start that has its cost.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "simd/failures.hpp"
#include "simd/level.hpp"
#include "warp/level.hpp"

namespace pairhmm {
namespace PAIRHMM_LEVEL {
namespace warping {

// clang-format off: each uses what stands before it
#include "forward/level_tools.hpp"
#include "simd/vectors.hpp"
#include "warp/cells.hpp"
#include "warp/sweep.hpp"
// clang-format on

// Warps a pair whose path is there; false where costs do not fit.
template <class Cells>
bool warp_as(const WarpPair& pair, const WarpRules& rules, Warping& found) {
    thread_local Sweep<Cells> sweep;
    const Search search = rules.anywhere ? Search::kCheapest : Search::kWhole;
    const auto best =
        sweep.run({pair.query, pair.rows, false}, {pair.target, pair.columns, false}, search, rules.band, 0);
    if (best.cost >= Cells::kFar) return false;
    const int64_t end = best.column + 1;
    found = {static_cast<int64_t>(best.cost), 0, end};
    if (!rules.anywhere) return true;
    const auto back =
        sweep.run({pair.query, pair.rows, true}, {pair.target, end, true}, Search::kFirst, kNoBand, best.cost);
    found.start = end - 1 - back.column;
    return true;
}

inline Warping warp(const WarpPair& given, const WarpRules& rules) {
    WarpPair pair = given;
    if (pair.rows == 0 && pair.columns == 0) return {0, 0, 0};
    const int64_t apart = pair.rows < pair.columns ? pair.columns - pair.rows : pair.rows - pair.columns;
    if (pair.rows == 0 || pair.columns == 0 || (rules.band != kNoBand && apart > rules.band)) return {kNoPath, 0, 0};
    // A cost between the first and the last cells is the same the other way round, and short anti-diagonals stay in a
    // cache.
    if (!rules.anywhere && pair.rows > pair.columns) pair = {pair.target, pair.columns, pair.query, pair.rows};
    Warping found{};
    if (!warp_as<Cells16>(pair, rules, found) && !warp_as<Cells32>(pair, rules, found))
        warp_as<Cells64>(pair, rules, found);
    if (!rules.anywhere) found.end = given.columns;
    return found;
}

}  // namespace warping
}  // namespace PAIRHMM_LEVEL

const WarpLevel* PAIRHMM_JOIN(warp_level_, PAIRHMM_LEVEL)() {
    using namespace PAIRHMM_LEVEL::warping;
    static const WarpLevel level{warp};
    return &level;
}

}  // namespace pairhmm
