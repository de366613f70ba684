// Phred qualities as text: a character's code is the quality plus this offset.
#pragma once

#include <cstdint>

namespace pairhmm {

constexpr uint8_t kPhredOffset = 33;

}  // namespace pairhmm
