// Columns whose values repeat: their checksums, and how Parquet encodes them. No row is written out.
#pragma once

#include <cstdint>
#include <string>

namespace pairhmm {

// The CRC-32 (that of zlib) of two texts, one behind the other, from those of both and the size of the second.
uint32_t joined_crc32(uint32_t first, uint32_t second, uint64_t second_bytes);

// The CRC-32 of values laid end to end, each repeated `count` times. Value i ends at end[i].
uint32_t runs_crc32(const uint8_t* values, const int64_t* end, const int64_t* count, int64_t values_count);

// Codes as runs of Parquet's hybrid of run lengths and bits (apache/parquet-format, Encodings.md: RLE). `width` is the
// number of bits of a code. Neighbouring runs of one code become one.
std::string encoded_runs(const int32_t* code, const int64_t* count, int64_t runs, int width);

// Codes as one bit-packed run of the same hybrid. Region r has the codes [end[r - 1], end[r]), `count[r]` times.
std::string packed_cycles(const int32_t* code, const int64_t* end, const int64_t* count, int64_t regions, int width);

}  // namespace pairhmm
