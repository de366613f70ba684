#include "packing/packing.hpp"

#include <algorithm>
#include <atomic>
#include <deque>

#include "packing/streaming.hpp"
#include "threads/spin_pool.hpp"

namespace pairhmm {

namespace {

constexpr int64_t kFirstRun = 1 << 20;  // bytes that are sent first, so that the bus has work soon
constexpr int64_t kRun = 4 << 20;       // bytes that are sent at once
constexpr int64_t kPiece = 1 << 16;     // elements that a thread copies at a time
constexpr int64_t kParallel = 1 << 20;  // bytes of a batch from which on threads share the work
constexpr int64_t kAlignment = 16;      // of the arrays of trees
constexpr int64_t kItemBytes = 8;       // of a work item

struct Piece {
    const Part* part;
    int64_t first, count;  // elements

    int64_t first_byte() const { return part->at + first * part->bytes_each(); }
    int64_t end_byte() const { return part->at + (first + count) * part->bytes_each(); }
};

void copy_piece(const Piece& piece, uint8_t* buffer) {
    uint8_t* const place = buffer + piece.first_byte();
    if (piece.part->digits) {
        write_digits(*piece.part->digits, piece.first, piece.count, place);
    } else if (piece.part->narrowed) {
        const auto* from = static_cast<const int64_t*>(piece.part->from) + piece.first;
        auto* to = reinterpret_cast<uint32_t*>(place);
        for (int64_t i = 0; i < piece.count; ++i) to[i] = static_cast<uint32_t>(from[i]);
    } else {
        copy_streaming(static_cast<const uint8_t*>(piece.part->from) + piece.first, place, piece.count);
    }
}

std::vector<Piece> pieces_of(const std::vector<Part>& parts) {
    std::vector<Piece> pieces;
    for (const Part& part : parts) {
        for (int64_t at = 0; at < part.size; at += kPiece) {
            pieces.push_back({&part, at, std::min(kPiece, part.size - at)});
        }
    }
    return pieces;
}

// The copies of a buffer's parts, in runs of about kRun bytes.
class Copies {
public:
    // The last run ends at byte `end`.
    Copies(const std::vector<Part>& parts, int64_t end, uint8_t* buffer) : buffer_(buffer), pieces_(pieces_of(parts)) {
        int64_t sent = pieces_.empty() ? 0 : pieces_[0].part->at, begun = 0;
        for (int64_t i = 0; i < count(); ++i) {
            run_of_.push_back(static_cast<int64_t>(runs_.size()));
            const bool is_last = i + 1 == count();
            const int64_t upto = is_last ? end : pieces_[i].end_byte();
            if (upto - sent < (runs_.empty() ? kFirstRun : kRun) && !is_last) continue;
            runs_.push_back({sent, upto});
            left_.emplace_back(i + 1 - begun);
            sent = upto, begun = i + 1;
        }
    }

    int64_t count() const { return static_cast<int64_t>(pieces_.size()); }
    int64_t bytes() const { return runs_.empty() ? 0 : runs_.back().end - runs_.front().first; }

    void copy(int64_t piece) {
        copy_piece(pieces_[piece], buffer_);
        --left_[run_of_[piece]];
    }

    bool are_all_sent() const { return next_ == runs_.size(); }
    bool is_next_written() const { return !are_all_sent() && left_[next_] == 0; }
    void send_next(const Send& send) {
        const Run& run = runs_[next_++];
        send(run.first, run.end);
    }

private:
    struct Run {
        int64_t first, end;  // bytes
    };

    uint8_t* const buffer_;
    const std::vector<Piece> pieces_;
    std::vector<int64_t> run_of_;  // of each piece
    std::vector<Run> runs_;
    std::deque<std::atomic<int64_t>> left_;  // pieces of each run that are not written
    size_t next_ = 0;                        // run to send
};

int64_t aligned(int64_t at) { return (at + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

void write_all(const std::vector<Part>& parts, uint8_t* buffer, ThreadPool& pool, const Send& send) {
    if (parts.empty()) return;
    Copies copies(parts, Piece{&parts.back(), 0, parts.back().size}.end_byte(), buffer);
    SpinPool spin_pool(
        copies.bytes() < kParallel ? nullptr : &pool, [](SpinPool&) {}, copies.count(),
        [&](int64_t i) { copies.copy(i); });
    while (!copies.are_all_sent()) {
        spin_pool.work_until([&] { return copies.is_next_written(); });
        copies.send_next(send);
    }
}

bool copy_scores(const double* log10, const uint8_t* precision, int64_t pairs, uint8_t unscored, ThreadPool& pool,
                 double* to_log10, uint8_t* to_precision) {
    constexpr int64_t kPairs = 1 << 14;  // that a thread copies at a time
    std::atomic<bool> is_any{false};
    pool.run(pairs, kPairs, pairs < kParallel / 8 ? 1 : pool.size(), [&](int64_t first, int64_t end) {
        std::copy(log10 + first, log10 + end, to_log10 + first);
        std::copy(precision + first, precision + end, to_precision + first);
        uint8_t highest = 0;
        for (int64_t i = first; i < end; ++i) highest = std::max(highest, precision[i]);
        if (highest == unscored) is_any = true;
    });
    return is_any;
}

void touch(uint8_t* memory, int64_t size, ThreadPool& pool) {
    constexpr int64_t kPage = 4096, kPages = 16;  // pages that a thread takes at a time
    pool.run(size, kPages * kPage, pool.size(), [&](int64_t first, int64_t end) {
        for (int64_t at = first; at < end; at += kPage) {
            reinterpret_cast<std::atomic<uint8_t>*>(memory + at)->fetch_or(0, std::memory_order_relaxed);
        }
    });
}

// Makes trees and tiles, and writes them behind the arrays.
void Packer::make(const TileBatch& batch, const uint8_t* letters, const Shapes& shapes, const ItemSizes& sizes,
                  const TreeLimits& limits, const TilePlaces& places, uint8_t* behind, SpinPool& spin_pool) {
    const bool in_trees = limits.most_haplotypes > 0;
    const int64_t of_trees = in_trees
                                 ? trees_.begin({batch.groups, batch.group_haplotype, batch.haplotype_offset, letters},
                                                limits, spin_pool.size())
                                 : 0;
    spin_pool.run(of_trees + tiles_.begin(batch, shapes, spin_pool.size()), 1, [&](int64_t share, int64_t) {
        if (share < of_trees) {
            trees_.make_share(share);
        } else {
            tiles_.look_at(share - of_trees);
        }
    });
    if (in_trees) trees_.join_shares();
    packed_.tiers = &tiles_.put_in_order(in_trees ? trees_.columns().data() : nullptr, sizes, spin_pool);
    packed_.trees = in_trees ? &trees_ : nullptr;
    const int64_t first = places.read_group;
    end_ = places.items + tiles_.items() * kItemBytes;
    std::array<uint8_t*, kTreeArrays> to{};
    for (int i = 0; in_trees && i < kTreeArrays; ++i) {
        packed_.tree_at[i] = aligned(end_);
        to[i] = behind + (packed_.tree_at[i] - first);
        end_ = packed_.tree_at[i] + trees_.bytes()[i];
    }
    is_known_ = true;
    const auto words_at = [&](int64_t at) { return reinterpret_cast<uint32_t*>(behind + (at - first)); };
    spin_pool.run(of_trees + tiles_.shares_of_tiles(), 1, [&](int64_t share, int64_t) {
        if (share < of_trees) {
            trees_.write_share(share, to);
        } else {
            tiles_.write(share - of_trees, words_at(first), words_at(places.order), words_at(places.items));
        }
    });
}

void Packer::pack(const std::vector<Part>& parts, const TileBatch& batch, const uint8_t* letters, const Shapes& shapes,
                  const ItemSizes& sizes, const TreeLimits& limits, const TilePlaces& places, uint8_t* buffer,
                  uint8_t* behind, const Send& send, const Tell& tell) {
    Copies copies(parts, places.read_group, buffer);
    is_known_ = false;
    SpinPool spin_pool(
        copies.bytes() < kParallel ? nullptr : &pool_,
        [&](SpinPool& pool) { make(batch, letters, shapes, sizes, limits, places, behind, pool); }, copies.count(),
        [&](int64_t i) { copies.copy(i); });
    for (bool is_told = false; !is_told || !copies.are_all_sent();) {
        spin_pool.work_until([&] { return copies.is_next_written() || (!is_told && is_known_); });
        if (copies.is_next_written()) {
            copies.send_next(send);
        } else {
            tell(packed_);
            is_told = true;
        }
    }
    spin_pool.work_until([&] { return spin_pool.is_led_to_its_end(); });
    send(places.read_group, end_);
}

}  // namespace pairhmm
