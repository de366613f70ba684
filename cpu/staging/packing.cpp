#include "staging/packing.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "staging/streaming.hpp"

namespace pairhmm {

namespace {

constexpr int64_t kFirstRun = 1 << 20;  // bytes that are sent first, so that the bus has work soon
constexpr int64_t kRun = 4 << 20;       // bytes that are sent at once
constexpr int64_t kPiece = 1 << 18;     // elements that a thread copies at a time
constexpr int64_t kParallel = 1 << 20;  // bytes of a batch from which on threads share the work
constexpr int64_t kAlignment = 16;      // of the arrays of trees

struct Piece {
    const Part* part;
    int64_t first, count;  // elements

    int64_t end_byte() const { return part->at + (first + count) * (part->narrowed ? 4 : 1); }
};

void copy_piece(const Piece& piece, uint8_t* buffer) {
    uint8_t* const place = buffer + piece.part->at;
    if (piece.part->narrowed) {
        const auto* from = static_cast<const int64_t*>(piece.part->from) + piece.first;
        auto* to = reinterpret_cast<uint32_t*>(place) + piece.first;
        for (int64_t i = 0; i < piece.count; ++i) to[i] = static_cast<uint32_t>(from[i]);
    } else {
        copy_streaming(static_cast<const uint8_t*>(piece.part->from) + piece.first, place + piece.first, piece.count);
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
    Copies(const std::vector<Part>& parts, int64_t end, uint8_t* buffer, Team& team)
        : buffer_(buffer), team_(team), pieces_(pieces_of(parts)) {
        int64_t sent = pieces_.empty() ? 0 : pieces_[0].part->at;
        for (size_t i = 0; i < pieces_.size(); ++i) {
            const bool is_last = i + 1 == pieces_.size();
            const int64_t upto = is_last ? end : pieces_[i].end_byte();
            if (upto - sent < (runs_.empty() ? kFirstRun : kRun) && !is_last) continue;
            runs_.push_back({sent, upto, static_cast<int64_t>(i) + 1, nullptr});
            sent = upto;
        }
    }

    ~Copies() {
        for (const Run& run : runs_) {
            if (run.task) team_.wait(run.task);
        }
    }

    int64_t bytes() const { return runs_.empty() ? 0 : runs_.back().end - runs_.front().first; }

    void begin() {
        int64_t piece = 0;
        for (Run& run : runs_) {
            const int64_t first = std::exchange(piece, run.pieces_end);
            run.task = team_.begin(run.pieces_end - first, 1, [this, first](int64_t i, int64_t) { copy(first + i); });
        }
    }

    // Sends each run when it is written; what was not begun is written here.
    void send_all(const Send& send) {
        int64_t piece = 0;
        for (Run& run : runs_) {
            if (run.task) {
                team_.wait(std::exchange(run.task, nullptr));
            } else {
                for (; piece < run.pieces_end; ++piece) copy(piece);
            }
            send(run.first, run.end);
        }
    }

private:
    struct Run {
        int64_t first, end;  // bytes
        int64_t pieces_end;
        Team::Handle task;
    };

    void copy(int64_t piece) const { copy_piece(pieces_[piece], buffer_); }

    uint8_t* const buffer_;
    Team& team_;
    const std::vector<Piece> pieces_;
    std::vector<Run> runs_;
};

int64_t aligned(int64_t at) { return (at + kAlignment - 1) / kAlignment * kAlignment; }

Part words_at(int64_t at, const std::vector<uint32_t>& values) {
    return {at, values.data(), static_cast<int64_t>(values.size() * sizeof(uint32_t)), false};
}

}  // namespace

void write_all(const std::vector<Part>& parts, uint8_t* buffer, Team& team, const Send& send) {
    if (parts.empty()) return;
    const int64_t end = Piece{&parts.back(), 0, parts.back().size}.end_byte();
    Copies copies(parts, end, buffer, team);
    if (copies.bytes() >= kParallel) copies.begin();
    copies.send_all(send);
}

void copy_all(const std::vector<Part>& parts, uint8_t* buffer, Team& team) {
    const std::vector<Piece> pieces = pieces_of(parts);
    int64_t bytes = 0;
    for (const Part& part : parts) bytes += part.size;
    team.run(static_cast<int64_t>(pieces.size()), 1, bytes < kParallel ? 1 : team.size(),
             [&](int64_t i, int64_t) { copy_piece(pieces[i], buffer); });
}

void touch(uint8_t* memory, int64_t size, Team& team) {
    constexpr int64_t kPage = 4096, kPages = 16;  // pages that a thread takes at a time
    team.run(size, kPages * kPage, team.size(), [&](int64_t first, int64_t end) {
        for (int64_t at = first; at < end; at += kPage) {
            reinterpret_cast<std::atomic<uint8_t>*>(memory + at)->fetch_or(0, std::memory_order_relaxed);
        }
    });
}

Packed Packer::pack(const std::vector<Part>& parts, const TileBatch& batch, const uint8_t* letters,
                    const Shapes& shapes, const ItemSizes& sizes, const TreeLimits& limits, const TilePlaces& places,
                    uint8_t* buffer, uint8_t* behind, const Send& send) {
    const bool in_trees = limits.most_haplotypes > 0;
    std::array<int64_t, kTreeArrays> tree_at{};
    const std::vector<Tier>* tiers = nullptr;
    int64_t end = 0;
    Copies copies(parts, places.read_group, buffer, team_);
    const bool is_small = copies.bytes() < kParallel;
    // The others copy, so that the first bytes are sent soon.
    const int64_t threads = is_small ? 1 : std::max<int64_t>(1, team_.size() / 2);
    const auto make = [&](int64_t, int64_t) {
        const int64_t of_trees =
            in_trees ? trees_.begin({batch.groups, batch.group_haplotype, batch.haplotype_offset, letters},
                                    limits, threads)
                     : 0;
        team_.run(of_trees + tiles_.begin(batch, shapes, threads), 1, threads, [&](int64_t share, int64_t) {
            if (share < of_trees) {
                trees_.make_share(share);
            } else {
                tiles_.look_at(share - of_trees);
            }
        });
        if (in_trees) trees_.join_shares();
        const Tiles& tiles = tiles_.finish(in_trees ? trees_.columns().data() : nullptr, sizes, team_, threads);
        tiers = &tiles.tiers;
        const int64_t first = places.read_group;
        const std::vector<Part> of_tiles = {words_at(0, tiles.read_group), words_at(places.order - first, tiles.order),
                                            words_at(places.items - first, tiles.items)};
        end = places.items + of_tiles.back().size;
        std::array<uint8_t*, kTreeArrays> to{};
        for (int i = 0; in_trees && i < kTreeArrays; ++i) {
            tree_at[i] = aligned(end);
            to[i] = behind + (tree_at[i] - first);
            end = tree_at[i] + trees_.bytes()[i];
        }
        const std::vector<Piece> pieces = pieces_of(of_tiles);
        team_.run(of_trees + static_cast<int64_t>(pieces.size()), 1, threads, [&](int64_t share, int64_t) {
            if (share < of_trees) {
                trees_.write_share(share, to);
            } else {
                copy_piece(pieces[share - of_trees], behind);
            }
        });
    };
    if (is_small) {
        make(0, 1);
        copies.send_all(send);
    } else {
        struct Waits {
            Team& team;
            Team::Handle task;
            ~Waits() { team.wait(task); }
        } made{team_, team_.begin(1, 1, make)};
        copies.begin();
        copies.send_all(send);
    }
    send(places.read_group, end);
    return {*tiers, tree_at, in_trees ? &trees_ : nullptr};
}

}  // namespace pairhmm
