#pragma once

#include <cstdint>

namespace pairhmm {

// In place of the insertion or deletion quality of a base whose read has none of its own.
constexpr uint8_t kNoIndelQuality = 255;

}  // namespace pairhmm
