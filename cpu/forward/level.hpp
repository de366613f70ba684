// What an instruction set provides to the forward algorithm; forward/level.cpp makes it over a vector width.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "forward/batch.hpp"
#include "forward/trees.hpp"

namespace pairhmm {

// The forms of the recurrence (forward/kernel.hpp).
enum Kind {
    kFolded,    // one deletion continuation along the read, 5 operations
    kUnopened,  // folded, and no row's deletions can be opened: 4 operations
    kGeneral,   // any rows whose deletions can be opened, 6 operations
    kPlain      // any rows, 7 operations
};

// Reads of one group that share a vector, one a lane. Each is scored against every haplotype of the group.
struct Tile {
    int64_t group;
    int64_t first;  // into the list of reads, ordered by kind and then by length
    int32_t count;  // lanes used
    Kind kind;      // the fastest that each of the reads may take
};

struct Level {
    int lanes;        // float32 lanes of a vector
    bool leaves_out;  // whether it leaves out columns that are dead in every lane (forward/dead_blocks.hpp)
    // Whether a read may take the folded form, by its smallest ii and its one dd.
    bool (*folds)(double ii, double dd);
    // Scores (log10) of a tile against the haplotypes of its group, as trees; a sum too small for float32 becomes NaN
    // and is left to forward_wide.
    void (*forward)(const Batch&, const Tile&, const std::vector<Trees>&, const int64_t* read_order, double* scores);
    // One pair in float64 with block exponents, any length and any score.
    double (*forward_wide)(const Batch&, int64_t read, int64_t hap, int threads, const std::atomic<bool>& stop);
};

const Level* level_x86_64_v2();
const Level* level_avx2();
const Level* level_avx512();
const Level* level_neon();
const Level* level_wasm();
const Level* level_wasm_flushing();

}  // namespace pairhmm
