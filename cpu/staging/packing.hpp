// A batch on its way to a device: its arrays, tiles and trees are written to one buffer, and sent run by run.
//
// Method. The threads of a team copy the arrays, in their order, while some of them make trees and then tiles. A run
// of bytes is sent as soon as it is written, and the caller writes with the others until then. Tiles and trees follow
// the arrays. A small batch is packed by its caller alone: to wake others takes longer.
//
// Versions, 20 copies of 1m on an H200 with 16 cores:
//
//   copies that bypass the caches (staging/streaming.hpp)    37 MB in 1.7 ms instead of 3.2, one thread
//   four threads started for each step, tiles made by one    2.7 ms
//   threads that stay; all of them make tiles                2.0
//   memory that stays: a new page costs 1.3 us there         1.2
//   trees and tiles in fewer steps                           1.2
//
// The bus takes 0.65 ms.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "staging/tiles.hpp"
#include "staging/tree_streams.hpp"
#include "threads/team.hpp"

namespace pairhmm {

// An array and its place in a buffer: bytes as they are, or int64 that become uint32.
struct Part {
    int64_t at;
    const void* from;
    int64_t size;  // of elements
    bool narrowed;
};

using Send = std::function<void(int64_t first, int64_t end)>;

// Writes parts, which follow each other, to a buffer, and calls `send` for each run of bytes that is written. What
// `send` throws is thrown when nothing is written any more.
void write_all(const std::vector<Part>& parts, uint8_t* buffer, Team& team, const Send& send);

// Copies arrays to their places.
void copy_all(const std::vector<Part>& parts, uint8_t* buffer, Team& team);

// Makes the pages of new memory, whose bytes stay as they are, while others may write to it.
void touch(uint8_t* memory, int64_t size, Team& team);

struct TilePlaces {
    int64_t read_group, order, items;  // first bytes in a buffer
};

struct Packed {
    const std::vector<Tier>& tiers;
    std::array<int64_t, kTreeArrays> tree_at;  // first bytes of the arrays of trees in the buffer
    const TreeStreams* trees;                  // null where haplotypes are not in trees
};

// Packs one batch after the other. Its memory stays: new pages cost more than what is written to them.
class Packer {
public:
    explicit Packer(Team& team) : team_(team) {}

    // Writes a batch's arrays to a buffer and its tiles and trees to another, which holds the bytes from
    // places.read_group on, and sends them. The last run of arrays ends there. Trees lie behind the work items, whose
    // number is not known before. What it returns lasts until the next call.
    Packed pack(const std::vector<Part>& parts, const TileBatch& batch, const uint8_t* letters, const Shapes& shapes,
                const ItemSizes& sizes, const TreeLimits& limits, const TilePlaces& places, uint8_t* buffer,
                uint8_t* behind, const Send& send);

private:
    Team& team_;
    TreeStreams trees_;
    TileMaker tiles_;
};

}  // namespace pairhmm
