// Writes BGZF, the blocked gzip of BAM and of indexed text (SAM specification, section 4.1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pairhmm {

constexpr int64_t kBgzfBlockText = 0xff00;  // bytes of text in each block but the last

// The text as blocks, which threads share. How many of them there are changes no byte.
std::vector<std::string> bgzf_blocks(const uint8_t* text, int64_t size, int threads);

}  // namespace pairhmm
