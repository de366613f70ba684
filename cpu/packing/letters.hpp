// Letters for devices that align: two bits each, and a bit that says where N is.
//
// Letter i of an array is at the bits 2 * (i % 16) of word i / 16, N as 0; or at 4 * (i % 8) of word i / 8.
#pragma once

#include <cstdint>

#include "threads/team.hpp"

namespace pairhmm {

// words: [(count + 15) / 16]. unknown: [(count + 31) / 32], bit i % 32 of word i / 32 set for N. What is behind the
// last letter is 0. Returns
// whether there is any N; without any, `unknown` is not written.
bool pack_two_bits(const uint8_t* codes, int64_t count, uint32_t* words, uint32_t* unknown, Team& team);

// words: [(count + 7) / 8].
void pack_four_bits(const uint8_t* codes, int64_t count, uint32_t* words, Team& team);

}  // namespace pairhmm
