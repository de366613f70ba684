// What an instruction set provides to the comparison of sketches; map/compare_level.cpp makes it over a vector.
#pragma once

#include <cstdint>

namespace pairhmm {

constexpr int64_t kMostQueries = 4;  // of a tile

// The planes of a sketch: [bits][words], 64 slots a word. Two slots are equal where no plane differs.
struct SketchShape {
    int64_t bits, words;

    int64_t slots() const { return 64 * words; }
    int64_t size() const { return bits * words; }
};

struct CompareLevel {
    int64_t words;    // of a vector: it compares sketches that have a multiple of them
    int64_t queries;  // of a tile
    // Equal slots of each of `queries` sketches with each of `count` ones that lie end to end: found[query][target].
    void (*compare)(const SketchShape& shape, const uint64_t* const* query, const uint64_t* targets, int64_t count,
                    uint16_t* const* found);
};

const CompareLevel* compare_level_x86_64_v2();
const CompareLevel* compare_level_avx2();
const CompareLevel* compare_level_avx512();
const CompareLevel* compare_level_avx512_vpopcntdq();
const CompareLevel* compare_level_neon();

}  // namespace pairhmm
