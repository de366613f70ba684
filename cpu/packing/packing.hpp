// A batch on its way to a device: its arrays, tiles and trees are written to one buffer, and sent run by run.
//
// Method. The threads of a pool copy the arrays, in their order, while some of them make trees and then tiles. A run
// of bytes is sent as soon as it is written. Tiles and trees follow the arrays. When it is known how many they are, the
// caller is told, so that it prepares what comes next while they are written. A small batch is packed by its caller
// alone: to wake others takes longer.
//
// Versions, 20 copies of 1m on an H200 with 16 cores:
//
//   copies that bypass the caches (packing/streaming.hpp)    37 MB in 1.7 ms instead of 3.2, one thread
//   four threads started for each step, tiles made by one    2.7 ms
//   threads that stay; all of them make tiles                2.0
//   memory that stays: a new page costs 1.3 us there         1.2
//   trees and tiles in fewer steps                           1.2
//   19 MB in place of 36 (packing/digits.hpp), and threads
//   that spin between steps (threads/spin_pool.hpp)          0.9
//
// The bus takes 0.37 ms.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "packing/digits.hpp"
#include "packing/tiles.hpp"
#include "packing/tree_streams.hpp"
#include "threads/pool.hpp"

namespace pairhmm {

// An array and its place in a buffer: bytes as they are, int64 that become uint32, or digits that become numbers.
struct Part {
    int64_t at;
    const void* from;
    int64_t size;  // of elements
    bool narrowed;
    const Digits* digits = nullptr;  // in place of `from`

    int64_t bytes_each() const { return digits ? digits->bytes : narrowed ? 4 : 1; }
};

using Send = std::function<void(int64_t first, int64_t end)>;

// Writes parts, which follow each other, to a buffer, and calls `send` for each run of bytes that is written. What
// `send` throws is thrown when nothing is written any more.
void write_all(const std::vector<Part>& parts, uint8_t* buffer, ThreadPool& pool, const Send& send);

// Copies scores and their precision. Returns whether any of them has the precision `unscored`, the highest code.
bool copy_scores(const double* log10, const uint8_t* precision, int64_t pairs, uint8_t unscored, ThreadPool& pool,
                 double* to_log10, uint8_t* to_precision);

// Makes the pages of new memory, whose bytes stay as they are, while others may write to it.
void touch(uint8_t* memory, int64_t size, ThreadPool& pool);

struct TilePlaces {
    int64_t read_group, order, items;  // first bytes in a buffer
};

struct Packed {
    const std::vector<Tier>* tiers;
    std::array<int64_t, kTreeArrays> tree_at;  // first bytes of the arrays of trees in the buffer
    const TreeStreams* trees;                  // null where haplotypes are not in trees
};

using Tell = std::function<void(const Packed&)>;

// Packs one batch after the other. Its memory stays: new pages cost more than what is written to them.
class Packer {
public:
    explicit Packer(ThreadPool& pool) : pool_(pool) {}

    // Writes a batch's arrays to a buffer and its tiles and trees to another, which holds the bytes from
    // places.read_group on, and sends them. The last run of arrays ends there. Trees lie behind the work items, whose
    // number is not known before. `tell` is called once, before the last bytes are sent: when it is known what the
    // batch becomes. What it tells lasts until the next call. It may throw, as `send` may.
    void pack(const std::vector<Part>& parts, const TileBatch& batch, const uint8_t* letters, const Shapes& shapes,
              const ItemSizes& sizes, const TreeLimits& limits, const TilePlaces& places, uint8_t* buffer,
              uint8_t* behind, const Send& send, const Tell& tell);

private:
    void make(const TileBatch& batch, const uint8_t* letters, const Shapes& shapes, const ItemSizes& sizes,
              const TreeLimits& limits, const TilePlaces& places, uint8_t* behind, SpinPool& spin_pool);

    ThreadPool& pool_;
    TreeStreams trees_;
    TileMaker tiles_;
    Packed packed_{};
    int64_t end_ = 0;  // one past the last byte
    std::atomic<bool> is_known_{false};
};

}  // namespace pairhmm
