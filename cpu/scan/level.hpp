// What an instruction set provides to the scan; scan/level.cpp has it over a vector type.
//
// A level's file is compiled with flags of its own. It must not instantiate anything of the standard library that other
// files use too: the linker might keep the copy that not every machine runs. So only plain arrays and a function
// pointer cross here.
#pragma once

#include <cstdint>

namespace pairhmm {

// Bases of an anchor. Longer ones are listed less often, but the bitmap of 9 stays in a cache and that of 10 does not.
constexpr int kFewBases = 9, kManyBases = 10;

constexpr int kTile = 4096;       // positions of a tile
constexpr int kReach = 128;       // columns from a position on that look-up and filter may read
constexpr int kExtension = 16;    // columns behind an anchor that are compared before anything else is
constexpr int kMostCounted = 15;  // mismatches that the filter counts; with more allowed it passes everything
constexpr int kShifts = 8;        // copies of a plane, each shifted by a bit more
constexpr int kPlaneBytes = (kTile + kReach) / 8 + 128;  // a vector may be read from any position on

// The index of anchors: code -> the anchors that match it (scan/index.hpp).
struct IndexView {
    int bases;                  // of an anchor: kFewBases or kManyBases
    const uint64_t* known;      // [5^bases bits] whether a code has anchors
    const uint32_t* first;      // [5^bases + 1] into anchor
    const uint32_t* anchor;     // anchors of each code
    const uint64_t* extension;  // [anchors][kExtension / 8] the letters behind each anchor, N behind the pattern's end
};

constexpr int kBeside = 16;     // letters of a word
constexpr int kContext = 32;    // letters of a seed and around it that are compared before anything else is
constexpr int kMostMasks = 16;  // of a context; beyond them contexts are compared by fewer masks

constexpr uint64_t kLowBitOfLetters = 0x5555555555555555;  // of letters of two bits
constexpr uint32_t kLowBits = 0x55555555;                  // the same, of a word

// The index of seeds (scan/seeds.hpp). Letters have two bits, the first one lowest.
struct SeedView {
    uint32_t letters;         // both bits of each letter that a seed compares
    int before;               // letters of a context before the seed
    int known_shift;          // from a key to its bit
    int bucket_shift;         // from a key to its bucket
    const uint64_t* known;    // whether a key has seeds
    const uint32_t* first;    // [buckets + 1] into context
    const uint64_t* context;  // [seeds + a vector] kContext letters, of which kBeside are a word's
    int max_mismatches;       // that a mask allows
    // The low bit of each letter that is compared. What passes a mask below passes one of these, too.
    uint64_t side_mask[2];
    int masks;
    uint64_t mask[kMostMasks];
};

// Where the letters of a seed are looked up: the product's highest bits depend on all of its letters.
inline uint32_t seed_key(uint32_t word, uint32_t letters) { return (word & letters) * 0x9e3779b1u; }

// Sample letters of two bits. Both arrays can be read from -kBeside on, and kBeside beyond the last seed.
struct PackedLetters {
    const uint32_t* word;      // [i] the kBeside letters from i on
    const uint32_t* is_plain;  // [i] the low bit of each of them that is a base; null where all are
};

// The kContext letters from a position on.
inline uint64_t context_at(const uint32_t* words, int64_t from) {
    return uint64_t{words[from + kBeside]} << 32 | words[from];
}

// A column of a filter: the planes whose OR it is, as byte offsets of position 0 into BitPlanes.
struct FilterColumn {
    int32_t planes;
    int32_t offset[3];
};

struct BitPlanes {
    // Bit i of plane[base][shift]: whether the letter at position i + shift of the tile may be that base.
    alignas(64) uint8_t plane[4][kShifts][kPlaneBytes];
};

struct TileLetters {
    alignas(64) uint8_t letter[kTile + kReach + 64];  // N behind the end of the samples
    int count;                                        // positions of the tile
};

// Called for each place that is left, with its position in the tile.
struct Found {
    void (*tell)(void* context, uint32_t anchor, int position);
    void* context;
};

struct ScanLevel {
    // Reports the anchors at each position whose extension has at most max_mismatches. Where the look-ups list more
    // than `most` anchors, it reports none and returns false.
    bool (*look_up)(const TileLetters& tile, const IndexView& index, int64_t max_mismatches, int64_t most,
                    const Found& found);
    void (*make_planes)(const TileLetters& tile, BitPlanes& planes);
    // Reports the positions where at most max_mismatches of the columns differ.
    void (*filter)(const BitPlanes& planes, int count, const FilterColumn* columns, int64_t column_count,
                   int64_t max_mismatches, uint32_t anchor, const Found& found);
    // Reports the seeds at each of the first `count` positions whose context has at most the mismatches of one mask.
    void (*find_seeds)(const PackedLetters& letters, int count, const SeedView& seeds, const Found& found);
};

const ScanLevel* scan_level_x86_64_v2();
const ScanLevel* scan_level_avx2();
const ScanLevel* scan_level_avx512();
const ScanLevel* scan_level_neon();

}  // namespace pairhmm
