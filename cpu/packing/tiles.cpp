#include "packing/tiles.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace pairhmm {

namespace {

constexpr int64_t kTilesEach = 1 << 10;  // tiles of a piece

struct Keyed {
    uint64_t key;
    int64_t group;
};

// Sorts by the digits of keys, lowest first. Comparisons of some thousand keys would take as long as all their trees.
void sort_by_key(std::vector<Keyed>& keys) {
    constexpr int kDigitBits = 11;
    constexpr uint64_t kDigits = uint64_t{1} << kDigitBits;
    uint64_t varying = 0;
    for (const Keyed& one : keys) varying |= one.key ^ keys[0].key;
    std::vector<Keyed> sorted(keys.size());
    for (int shift = 0; shift < 64; shift += kDigitBits) {
        if ((varying >> shift & (kDigits - 1)) == 0) continue;
        std::array<uint32_t, kDigits + 1> first{};
        for (const Keyed& one : keys) ++first[(one.key >> shift & (kDigits - 1)) + 1];
        std::partial_sum(first.begin(), first.end(), first.begin());
        for (const Keyed& one : keys) sorted[first[one.key >> shift & (kDigits - 1)]++] = one;
        keys.swap(sorted);
    }
}

// The groups, those with most haplotypes, or most columns of trees, first. Reads of several groups share a tile, which
// takes as long as its read with the most work. Groups with about as much should therefore be neighbours. No long tile
// should begin last.
std::vector<int64_t> by_work(const TileBatch& batch) {
    std::vector<Keyed> keys(batch.groups);  // of haplotypes and letters, or columns and haplotypes
    for (int64_t g = 0; g < batch.groups; ++g) {
        const int64_t first = batch.group_haplotype[g], end = batch.group_haplotype[g + 1];
        const int64_t letters = batch.haplotype_offset[end] - batch.haplotype_offset[first];
        const bool in_trees = batch.group_columns != nullptr;
        const uint64_t work = in_trees ? batch.group_columns[g] : end - first, then = in_trees ? end - first : letters;
        keys[g] = {~(work << 32 | then), g};
    }
    sort_by_key(keys);
    std::vector<int64_t> order(batch.groups);
    std::transform(keys.begin(), keys.end(), order.begin(), [](const Keyed& one) { return one.group; });
    return order;
}

Load operator+(const Load& a, const Load& b) {
    return {a.reads + b.reads, a.pairs + b.pairs, a.letters + b.letters, a.again + b.again};
}

// The index of the last border that is not above `at`.
int64_t piece_of(const std::vector<int64_t>& borders, int64_t at) {
    return std::upper_bound(borders.begin(), borders.end(), at) - borders.begin() - 1;
}

// Chooses the tiers of a family, the shapes [begin, end), and writes to `taken` which shape takes the reads of each.
// The cost counts all cells, those of padding rows too, and tier_cells for each tier. A shape that is no tier leaves
// its reads to the next larger one that is. Dynamic programming: the cheapest tiers up to a shape are one tier more
// than the cheapest ones up to some smaller shape.
void join_tiers(const Shapes& shapes, const std::vector<Load>& loads, int64_t begin, int64_t end,
                std::vector<int64_t>& taken) {
    const int64_t count = end - begin;
    std::vector<int64_t> least(count + 1, INT64_MAX), before(count + 1);
    least[0] = 0;
    for (int64_t upto = 1; upto <= count; ++upto) {
        Load of_tier;
        for (int64_t from = upto - 1; from >= 0; --from) {
            of_tier = of_tier + loads[begin + from];
            const int64_t cells = of_tier.cells(shapes.rows[begin + upto - 1]);
            const int64_t cost = cells ? shapes.tier_cells + cells : 0;
            if (least[from] + cost < least[upto]) {
                least[upto] = least[from] + cost;
                before[upto] = from;
            }
        }
    }
    for (int64_t upto = count; upto > 0; upto = before[upto]) {
        for (int64_t s = before[upto]; s < upto; ++s) taken[begin + s] = begin + upto - 1;
    }
}

// For each shape, the shape that takes its reads; the skipped reads keep theirs.
std::vector<int64_t> shapes_taken(const Shapes& shapes, const std::vector<Load>& loads) {
    std::vector<int64_t> taken(shapes.count + 1, shapes.count);
    for (int64_t begin = 0, end = 0; begin < shapes.count; begin = end) {
        while (end < shapes.count && shapes.family[end] == shapes.family[begin]) ++end;
        join_tiers(shapes, loads, begin, end, taken);
    }
    return taken;
}

int64_t haplotypes_each(const ItemSizes& sizes, const Load& load, int64_t reads_of_tile) {
    if (load.letters == 0) return 1;
    const int64_t item = std::clamp(load.letters / reads_of_tile / sizes.items, sizes.shortest, sizes.longest);
    return std::max<int64_t>(1, (item * load.pairs + load.letters / 2) / load.letters);
}

// What comes before each element, and all of them.
template <class Count>
std::vector<int64_t> before_each(int64_t count, const Count& size) {
    std::vector<int64_t> before(count + 1);
    for (int64_t i = 0; i < count; ++i) before[i + 1] = before[i] + size(i);
    return before;
}

}  // namespace

int64_t TileMaker::begin(const TileBatch& batch, const Shapes& shapes, int64_t threads) {
    constexpr int64_t kLeastReads = 1 << 12, kSharesEach = 2;  // reads of a share, and shares of a thread
    batch_ = batch, shapes_ = shapes, reads_ = batch.group_read[batch.groups];
    size_ = std::max(kLeastReads, reads_ / (kSharesEach * threads) + 1);
    shares_ = (reads_ + size_ - 1) / size_;
    closest_.resize(reads_), loads_.resize(shares_);
    return shares_;
}

int64_t TileMaker::first_read(int64_t share) const { return std::min(share * size_, reads_); }

// Finds the shape that fits each read most closely, and the load of each shape then. The last load is that of the
// skipped reads, which are in no tile.
void TileMaker::look_at(int64_t share) {
    std::vector<Load> loads(shapes_.count + 1);
    const int64_t* border = batch_.group_read;
    int64_t read = first_read(share);
    const int64_t end = first_read(share + 1);
    for (int64_t g = std::upper_bound(border, border + batch_.groups + 1, read) - border - 1; read < end; ++g) {
        const int64_t first_haplotype = batch_.group_haplotype[g], end_haplotype = batch_.group_haplotype[g + 1];
        const int64_t width = batch_.haplotype_offset[end_haplotype] - batch_.haplotype_offset[first_haplotype];
        for (; read < std::min(end, border[g + 1]); ++read) {
            const int64_t length = batch_.read_offset[read + 1] - batch_.read_offset[read];
            const bool is_skipped = batch_.skip_read[read] || length > shapes_.longest;
            const int64_t s = is_skipped ? shapes_.count : shapes_.of_length[length];
            const bool is_tall = !is_skipped && length > shapes_.rows[s];
            const int64_t again = is_tall ? (length - 1) / shapes_.rows[s] * width : 0;
            loads[s] = loads[s] + Load{1, end_haplotype - first_haplotype, width, again};
            closest_[read] = static_cast<uint8_t>(s);
        }
    }
    loads_[share] = std::move(loads);
}

std::vector<Load> TileMaker::closest_loads() const {
    std::vector<Load> loads(shapes_.count + 1);
    for (const auto& of_share : loads_) {
        for (int64_t s = 0; s <= shapes_.count; ++s) loads[s] = loads[s] + of_share[s];
    }
    return loads;
}

// Puts reads in order: by shape, where taken[s] takes those of shape s, and by the work of their group. Reads of a
// shape begin at first_[shape].
void TileMaker::order_reads(const std::vector<int64_t>& taken, SpinPool& spin_pool) {
    const std::vector<int64_t> groups = by_work(batch_);
    const auto before = before_each(
        batch_.groups, [&](int64_t k) { return batch_.group_read[groups[k] + 1] - batch_.group_read[groups[k]]; });
    // act(share, group, read) for the reads of the groups in order.
    const auto each_read = [&](const auto& act) {
        spin_pool.run(shares_, 1, [&](int64_t share, int64_t) {
            int64_t at = first_read(share);
            const int64_t end = first_read(share + 1);
            for (int64_t k = piece_of(before, at); at < end; ++k) {
                const int64_t group = groups[k], first_of_group = batch_.group_read[group] - before[k];
                for (const int64_t upto = std::min(before[k + 1], end); at < upto; ++at) {
                    act(share, group, first_of_group + at);
                }
            }
        });
    };
    order_.resize(reads_), read_group_.resize(reads_);
    std::vector<std::vector<int64_t>> next(shares_, std::vector<int64_t>(shapes_.count + 1));
    each_read([&](int64_t share, int64_t, int64_t read) { ++next[share][taken[closest_[read]]]; });
    std::vector<int64_t> at = first_;
    for (auto& own : next) {
        for (int64_t s = 0; s <= shapes_.count; ++s) std::swap(at[s], own[s]), at[s] += own[s];
    }
    each_read([&](int64_t share, int64_t group, int64_t read) {
        order_[next[share][taken[closest_[read]]]++] = static_cast<uint32_t>(read);
        read_group_[read] = static_cast<uint32_t>(group);
    });
}

// act(tile, shape, its first read, an index into order_) for the tiles of a piece.
template <class Act>
void TileMaker::each_tile(int64_t piece, const Act& act) const {
    int64_t tile = piece * kTilesEach;
    const int64_t end = std::min(tile + kTilesEach, first_tile_.back());
    for (int64_t s = piece_of(first_tile_, tile); tile < end; ++tile) {
        while (tile >= first_tile_[s + 1]) ++s;
        act(tile, s, first_[s] + (tile - first_tile_[s]) * shapes_.reads[s]);
    }
}

// Counts the work items of each tile, which are blocks of haplotypes: as many as the read with most of them needs.
void TileMaker::count_blocks(SpinPool& spin_pool) {
    const int64_t count = first_tile_.back();
    blocks_.resize(count), pieces_.resize((count + kTilesEach - 1) / kTilesEach);
    spin_pool.run(static_cast<int64_t>(pieces_.size()), 1, [&](int64_t piece, int64_t) {
        std::vector<int64_t> items(shapes_.count);
        each_tile(piece, [&](int64_t tile, int64_t s, int64_t at) {
            int64_t most = 0;
            for (int64_t i = at; i < std::min(at + shapes_.reads[s], first_[s + 1]); ++i) {
                const int64_t* group = batch_.group_haplotype + read_group_[order_[i]];
                most = std::max(most, group[1] - group[0]);
            }
            blocks_[tile] = static_cast<uint32_t>((most + haplotypes_each_[s] - 1) / haplotypes_each_[s]);
            items[s] += blocks_[tile];
        });
        pieces_[piece].items = std::move(items);
    });
}

const std::vector<Tier>& TileMaker::put_in_order(const uint32_t* group_columns, const ItemSizes& sizes,
                                                 SpinPool& spin_pool) {
    batch_.group_columns = group_columns;
    const std::vector<Load> closest = closest_loads();
    const std::vector<int64_t> taken = shapes_taken(shapes_, closest);
    std::vector<Load> loads(shapes_.count + 1);
    for (int64_t s = 0; s <= shapes_.count; ++s) loads[taken[s]] = loads[taken[s]] + closest[s];
    first_ = before_each(shapes_.count + 1, [&](int64_t s) { return loads[s].reads; });
    order_reads(taken, spin_pool);

    first_tile_ = before_each(shapes_.count,
                              [&](int64_t s) { return (loads[s].reads + shapes_.reads[s] - 1) / shapes_.reads[s]; });
    haplotypes_each_.assign(shapes_.haplotypes_each, shapes_.haplotypes_each + shapes_.count);
    for (int64_t s = 0; s < shapes_.count; ++s) {
        if (haplotypes_each_[s] == 0) haplotypes_each_[s] = haplotypes_each(sizes, loads[s], shapes_.reads[s]);
    }
    count_blocks(spin_pool);
    std::vector<int64_t> of_shape(shapes_.count);
    items_ = 0;
    for (Piece& piece : pieces_) {
        piece.before = items_;
        for (int64_t s = 0; s < shapes_.count; ++s) of_shape[s] += piece.items[s], items_ += piece.items[s];
    }
    tiers_.clear();
    int64_t first_item = 0;
    for (int64_t s = 0; s < shapes_.count; first_item += of_shape[s++]) {
        if (of_shape[s] == 0) continue;
        const int64_t longest = group_columns ? group_columns[read_group_[order_[first_[s]]]] : 0;
        tiers_.push_back({s, first_item, of_shape[s], haplotypes_each_[s], first_[s + 1], loads[s].pairs,
                          loads[s].cells(shapes_.rows[s]), longest});
    }
    return tiers_;
}

void TileMaker::write(int64_t share, uint32_t* read_group, uint32_t* order, uint32_t* items) const {
    if (share < shares_) {
        const int64_t first = first_read(share), end = first_read(share + 1);
        std::copy(read_group_.begin() + first, read_group_.begin() + end, read_group + first);
        std::copy(order_.begin() + first, order_.begin() + end, order + first);
        return;
    }
    const int64_t piece = share - shares_;
    uint32_t* item = items + 2 * pieces_[piece].before;
    each_tile(piece, [&](int64_t tile, int64_t, int64_t at) {
        for (uint32_t block = 0; block < blocks_[tile]; ++block, item += 2) {
            item[0] = static_cast<uint32_t>(at), item[1] = block;
        }
    });
}

}  // namespace pairhmm
