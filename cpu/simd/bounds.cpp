#include "simd/bounds.hpp"

#include <algorithm>

namespace pairhmm {

template <class Value>
std::pair<Value, Value> bounds(const Value* values, int64_t count) {
    Value lowest = values[0], highest = values[0];  // no early end: the loop becomes vectors
    for (int64_t i = 1; i < count; ++i) {
        lowest = std::min(lowest, values[i]);
        highest = std::max(highest, values[i]);
    }
    return {lowest, highest};
}

template std::pair<uint8_t, uint8_t> bounds(const uint8_t*, int64_t);
template std::pair<uint16_t, uint16_t> bounds(const uint16_t*, int64_t);
template std::pair<uint32_t, uint32_t> bounds(const uint32_t*, int64_t);
template std::pair<int16_t, int16_t> bounds(const int16_t*, int64_t);
template std::pair<int32_t, int32_t> bounds(const int32_t*, int64_t);
template std::pair<int64_t, int64_t> bounds(const int64_t*, int64_t);

}  // namespace pairhmm
