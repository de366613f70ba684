#include "staging/tiles.hpp"

#include <algorithm>
#include <utility>

namespace pairhmm {

namespace {

// The groups, those with most haplotypes, or most columns of trees, first. Reads of several groups share a tile, which
// takes as long as its read with the most work. Groups with about as much should therefore be neighbours. No long tile
// should begin last.
std::vector<int64_t> by_work(const TileBatch& batch) {
    std::vector<std::pair<uint64_t, int64_t>> keys(batch.groups);  // haplotypes and letters, or columns and haplotypes
    for (int64_t g = 0; g < batch.groups; ++g) {
        const int64_t first = batch.group_haplotype[g], end = batch.group_haplotype[g + 1];
        const int64_t letters = batch.haplotype_offset[end] - batch.haplotype_offset[first];
        const bool in_trees = batch.group_columns != nullptr;
        const uint64_t work = in_trees ? batch.group_columns[g] : end - first, then = in_trees ? end - first : letters;
        keys[g] = {~(work << 32 | then), g};
    }
    std::sort(keys.begin(), keys.end());
    std::vector<int64_t> order(batch.groups);
    std::transform(keys.begin(), keys.end(), order.begin(), [](const auto& key) { return key.second; });
    return order;
}

// The work of a shape.
struct Load {
    int64_t reads = 0, pairs = 0;
    int64_t letters = 0;  // of the haplotypes of each read
    int64_t again = 0;    // letters that a tall read meets again, in each strip but its first

    int64_t cells(int64_t rows) const { return (letters + again) * rows; }
};

Load operator+(const Load& a, const Load& b) {
    return {a.reads + b.reads, a.pairs + b.pairs, a.letters + b.letters, a.again + b.again};
}

// The index of the last border that is not above `at`.
int64_t piece_of(const std::vector<int64_t>& borders, int64_t at) {
    return std::upper_bound(borders.begin(), borders.end(), at) - borders.begin() - 1;
}

// Makes the tiles of a batch. Reads are shared out to threads.
class Maker {
public:
    Maker(const TileBatch& batch, const Shapes& shapes, Team& team, int64_t threads, std::vector<uint8_t>& closest)
        : batch_(batch),
          shapes_(shapes),
          team_(team),
          threads_(threads),
          reads_(batch.group_read[batch.groups]),
          closest_(closest) {
        size_ = std::max(kLeastReads, reads_ / (kSharesEach * threads) + 1);
        shares_ = (reads_ + size_ - 1) / size_;
    }

    // Finds the shape that fits each read most closely, and the load of each shape then. The last entry is that of the
    // skipped reads, which are in no tile.
    std::vector<Load> closest_loads() {
        closest_.resize(reads_);
        std::vector<std::vector<Load>> of_share(shares_);
        team_.run(shares_ + 1, 1, threads_, [&](int64_t share, int64_t) {
            if (share == 0) {
                groups_ = by_work(batch_);
            } else {
                of_share[share - 1] = loads_of(begin(share - 1), begin(share));
            }
        });
        std::vector<Load> loads(shapes_.count + 1);
        for (const auto& part : of_share) {
            for (int64_t s = 0; s <= shapes_.count; ++s) loads[s] = loads[s] + part[s];
        }
        return loads;
    }

    // Puts reads in order: by shape, where taken[s] takes those of shape s, and by the work of their group. Reads of a
    // shape begin at first[shape].
    void put_in_order(const std::vector<int64_t>& taken, const std::vector<int64_t>& first, Tiles& tiles) {
        tiles.order.resize(reads_), tiles.read_group.resize(reads_);
        std::vector<int64_t> before(batch_.groups + 1);  // reads, in the order of groups
        for (int64_t k = 0; k < batch_.groups; ++k) before[k + 1] = before[k] + reads_of(groups_[k]);
        std::vector<std::vector<int64_t>> next(shares_, std::vector<int64_t>(shapes_.count + 1));
        each_in_order(before, [&](int64_t share, int64_t, int64_t read) { ++next[share][taken[closest_[read]]]; });
        std::vector<int64_t> at = first;
        for (auto& own : next) {
            for (int64_t s = 0; s <= shapes_.count; ++s) std::swap(at[s], own[s]), at[s] += own[s];
        }
        each_in_order(before, [&](int64_t share, int64_t group, int64_t read) {
            tiles.order[next[share][taken[closest_[read]]]++] = static_cast<uint32_t>(read);
            tiles.read_group[read] = static_cast<uint32_t>(group);
        });
    }

    // Blocks of haplotypes of each tile of the shapes: the most that one of its reads has. Tiles of a shape begin at
    // first_tile[shape], and its reads at first[shape].
    void find_blocks(const std::vector<int64_t>& first, const std::vector<int64_t>& first_tile,
                     const std::vector<int64_t>& haplotypes_each, const Tiles& tiles, std::vector<uint32_t>& found) {
        found.resize(first_tile.back());
        team_.run(first_tile.back(), kTiles, threads_, [&](int64_t tile, int64_t end) {
            for (int64_t s = piece_of(first_tile, tile); tile < end; ++tile) {
                while (tile >= first_tile[s + 1]) ++s;
                const int64_t at = first[s] + (tile - first_tile[s]) * shapes_.reads[s];
                int64_t most = 0;
                for (int64_t i = at; i < std::min(at + shapes_.reads[s], first[s + 1]); ++i) {
                    const int64_t* group = batch_.group_haplotype + tiles.read_group[tiles.order[i]];
                    most = std::max(most, group[1] - group[0]);
                }
                found[tile] = static_cast<uint32_t>((most + haplotypes_each[s] - 1) / haplotypes_each[s]);
            }
        });
    }

private:
    static constexpr int64_t kLeastReads = 1 << 12, kSharesEach = 2, kTiles = 1 << 10;

    int64_t begin(int64_t share) const { return std::min(share * size_, reads_); }
    int64_t reads_of(int64_t group) const { return batch_.group_read[group + 1] - batch_.group_read[group]; }

    std::vector<Load> loads_of(int64_t read, int64_t end) {
        std::vector<Load> loads(shapes_.count + 1);
        const int64_t* border = batch_.group_read;
        for (int64_t g = std::upper_bound(border, border + batch_.groups + 1, read) - border - 1; read < end; ++g) {
            const int64_t first_haplotype = batch_.group_haplotype[g], end_haplotype = batch_.group_haplotype[g + 1];
            const int64_t width = batch_.haplotype_offset[end_haplotype] - batch_.haplotype_offset[first_haplotype];
            for (; read < std::min(end, border[g + 1]); ++read) {
                const int64_t length = batch_.read_offset[read + 1] - batch_.read_offset[read];
                // The last shape is that of skipped reads.
                const bool is_skipped = batch_.skip_read[read] || length > shapes_.longest;
                const int64_t s = is_skipped ? shapes_.count : shapes_.of_length[length];
                const bool is_tall = s < shapes_.count && length > shapes_.rows[s];
                const int64_t again = is_tall ? (length - 1) / shapes_.rows[s] * width : 0;
                loads[s] = loads[s] + Load{1, end_haplotype - first_haplotype, width, again};
                closest_[read] = static_cast<uint8_t>(s);
            }
        }
        return loads;
    }

    // act(share, group, read) for the reads of the groups in order.
    template <class Act>
    void each_in_order(const std::vector<int64_t>& before, const Act& act) {
        team_.run(shares_, 1, threads_, [&](int64_t share, int64_t) {
            int64_t at = begin(share);
            for (int64_t k = piece_of(before, at); at < begin(share + 1); ++k) {
                const int64_t group = groups_[k], end = std::min(before[k + 1], begin(share + 1));
                for (; at < end; ++at) act(share, group, batch_.group_read[group] + at - before[k]);
            }
        });
    }

    const TileBatch& batch_;
    const Shapes& shapes_;
    Team& team_;
    const int64_t threads_, reads_;
    std::vector<uint8_t>& closest_;
    int64_t size_, shares_;        // of reads, for the threads
    std::vector<int64_t> groups_;  // by work
};

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

const Tiles& TileMaker::make(const TileBatch& batch, const Shapes& shapes, const ItemSizes& sizes, Team& team,
                             int64_t threads) {
    Tiles& tiles = tiles_;
    tiles.tiers.clear(), tiles.items.clear();
    Maker maker(batch, shapes, team, threads, closest_);
    const std::vector<Load> closest = maker.closest_loads();
    const std::vector<int64_t> taken = shapes_taken(shapes, closest);
    std::vector<Load> loads(shapes.count + 1);
    for (int64_t s = 0; s <= shapes.count; ++s) loads[taken[s]] = loads[taken[s]] + closest[s];
    const auto first = before_each(shapes.count + 1, [&](int64_t s) { return loads[s].reads; });
    maker.put_in_order(taken, first, tiles);

    const auto first_tile =
        before_each(shapes.count, [&](int64_t s) { return (loads[s].reads + shapes.reads[s] - 1) / shapes.reads[s]; });
    std::vector<int64_t> each(shapes.haplotypes_each, shapes.haplotypes_each + shapes.count);
    for (int64_t s = 0; s < shapes.count; ++s) {
        if (each[s] == 0) each[s] = haplotypes_each(sizes, loads[s], shapes.reads[s]);
    }
    maker.find_blocks(first, first_tile, each, tiles, blocks_);
    for (int64_t s = 0; s < shapes.count; ++s) {
        const auto first_item = static_cast<int64_t>(tiles.items.size() / 2);
        for (int64_t tile = first_tile[s], at = first[s]; tile < first_tile[s + 1]; ++tile, at += shapes.reads[s]) {
            for (uint32_t block = 0; block < blocks_[tile]; ++block) {
                tiles.items.push_back(static_cast<uint32_t>(at));
                tiles.items.push_back(block);
            }
        }
        const auto items = static_cast<int64_t>(tiles.items.size() / 2) - first_item;
        if (items == 0) continue;
        const int64_t cells = loads[s].cells(shapes.rows[s]);
        const int64_t longest = batch.group_columns ? batch.group_columns[tiles.read_group[tiles.order[first[s]]]] : 0;
        tiles.tiers.push_back({s, first_item, items, each[s], first[s + 1], loads[s].pairs, cells, longest});
    }
    return tiles;
}

}  // namespace pairhmm
