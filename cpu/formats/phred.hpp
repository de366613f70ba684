// Phred qualities as text: a character is a quality and this offset.
#pragma once

#include <cstdint>

namespace pairhmm {

constexpr uint8_t kPhredOffset = 33;

}  // namespace pairhmm
