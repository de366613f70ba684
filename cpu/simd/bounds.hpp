// The lowest and the highest of many integers. It is compiled apart from its callers, which are compiled for size: as
// vectors the loop takes a hundredth of the time.
#pragma once

#include <cstdint>
#include <utility>

namespace pairhmm {

// Of at least one value: 8 to 64 bits.
template <class Value>
std::pair<Value, Value> bounds(const Value* values, int64_t count);

}  // namespace pairhmm
