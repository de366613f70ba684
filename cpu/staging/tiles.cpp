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
// shape begin at first[shape].
void TileMaker::put_in_order(const std::vector<int64_t>& taken, const std::vector<int64_t>& first, Team& team,
                             int64_t threads) {
    const std::vector<int64_t> groups = by_work(batch_);
    const auto before = before_each(
        batch_.groups, [&](int64_t k) { return batch_.group_read[groups[k] + 1] - batch_.group_read[groups[k]]; });
    // act(share, group, read) for the reads of the groups in order.
    const auto each_read = [&](const auto& act) {
        team.run(shares_, 1, threads, [&](int64_t share, int64_t) {
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
    tiles_.order.resize(reads_), tiles_.read_group.resize(reads_);
    std::vector<std::vector<int64_t>> next(shares_, std::vector<int64_t>(shapes_.count + 1));
    each_read([&](int64_t share, int64_t, int64_t read) { ++next[share][taken[closest_[read]]]; });
    std::vector<int64_t> at = first;
    for (auto& own : next) {
        for (int64_t s = 0; s <= shapes_.count; ++s) std::swap(at[s], own[s]), at[s] += own[s];
    }
    each_read([&](int64_t share, int64_t group, int64_t read) {
        tiles_.order[next[share][taken[closest_[read]]]++] = static_cast<uint32_t>(read);
        tiles_.read_group[read] = static_cast<uint32_t>(group);
    });
}

// Makes the work items: those of a tile are blocks of haplotypes, as many as the read with most of them needs. Tiles of
// a shape begin at first_tile[shape], and its reads at first[shape].
void TileMaker::cut_into_items(const std::vector<int64_t>& first, const std::vector<int64_t>& first_tile,
                               const std::vector<int64_t>& haplotypes_each, Team& team, int64_t threads) {
    constexpr int64_t kTilesEach = 1 << 10;
    const int64_t count = first_tile.back();
    const auto for_all = [&](const auto& act) {
        team.run(count, kTilesEach, threads, [&](int64_t tile, int64_t end) {
            for (int64_t s = piece_of(first_tile, tile); tile < end; ++tile) {
                while (tile >= first_tile[s + 1]) ++s;
                act(tile, s, first[s] + (tile - first_tile[s]) * shapes_.reads[s]);
            }
        });
    };
    blocks_.resize(count);
    for_all([&](int64_t tile, int64_t s, int64_t at) {
        int64_t most = 0;
        for (int64_t i = at; i < std::min(at + shapes_.reads[s], first[s + 1]); ++i) {
            const int64_t* group = batch_.group_haplotype + tiles_.read_group[tiles_.order[i]];
            most = std::max(most, group[1] - group[0]);
        }
        blocks_[tile] = static_cast<uint32_t>((most + haplotypes_each[s] - 1) / haplotypes_each[s]);
    });
    const auto first_item = before_each(count, [&](int64_t tile) { return blocks_[tile]; });
    tiles_.items.resize(2 * first_item.back());
    for_all([&](int64_t tile, int64_t, int64_t at) {
        for (uint32_t block = 0; block < blocks_[tile]; ++block) {
            uint32_t* item = tiles_.items.data() + 2 * (first_item[tile] + block);
            item[0] = static_cast<uint32_t>(at), item[1] = block;
        }
    });
}

const Tiles& TileMaker::finish(const uint32_t* group_columns, const ItemSizes& sizes, Team& team, int64_t threads) {
    batch_.group_columns = group_columns;
    const std::vector<Load> closest = closest_loads();
    const std::vector<int64_t> taken = shapes_taken(shapes_, closest);
    std::vector<Load> loads(shapes_.count + 1);
    for (int64_t s = 0; s <= shapes_.count; ++s) loads[taken[s]] = loads[taken[s]] + closest[s];
    const auto first = before_each(shapes_.count + 1, [&](int64_t s) { return loads[s].reads; });
    put_in_order(taken, first, team, threads);

    const auto first_tile = before_each(
        shapes_.count, [&](int64_t s) { return (loads[s].reads + shapes_.reads[s] - 1) / shapes_.reads[s]; });
    std::vector<int64_t> each(shapes_.haplotypes_each, shapes_.haplotypes_each + shapes_.count);
    for (int64_t s = 0; s < shapes_.count; ++s) {
        if (each[s] == 0) each[s] = haplotypes_each(sizes, loads[s], shapes_.reads[s]);
    }
    cut_into_items(first, first_tile, each, team, threads);
    tiles_.tiers.clear();
    int64_t first_item = 0;
    for (int64_t s = 0; s < shapes_.count; ++s) {
        int64_t items = 0;
        for (int64_t tile = first_tile[s]; tile < first_tile[s + 1]; ++tile) items += blocks_[tile];
        if (items > 0) {
            const int64_t longest = group_columns ? group_columns[tiles_.read_group[tiles_.order[first[s]]]] : 0;
            tiles_.tiers.push_back({s, first_item, items, each[s], first[s + 1], loads[s].pairs,
                                    loads[s].cells(shapes_.rows[s]), longest});
        }
        first_item += items;
    }
    return tiles_;
}

}  // namespace pairhmm
