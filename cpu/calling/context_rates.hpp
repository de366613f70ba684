// How frequent errors of a strand are in each context, expected from how likely reads are at each rate. docs/model.md
// has the formulas.
#pragma once

#include <array>
#include <vector>

#include "calling/other_sources.hpp"

namespace pairhmm {

// The rates that a context may have: the lowest one first, then those of either kind, each so many times the one
// before.
constexpr int kRatesOfKind = 14, kContextRates = 1 + 2 * kRatesOfKind;
const std::array<ErrorShares, kContextRates>& context_rates();
// The logarithm of a likelihood at each of these rates.
using AtRates = std::array<double, kContextRates>;

// The posterior mean of each context's rate. Contexts that end alike may have one rate.
ContextShares expected_rates(const std::vector<AtRates>& of_context);

}  // namespace pairhmm
