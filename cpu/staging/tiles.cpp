#include "staging/tiles.hpp"

#include <algorithm>
#include <utility>

#include "staging/streaming.hpp"
#include "threads/shares.hpp"

namespace pairhmm {

namespace {

constexpr int64_t kPiece = 1 << 18;  // elements that a thread copies at a time

// The groups, those with most haplotypes, or most columns of trees, first. Reads of several groups share a tile, which
// takes as long as its read with the most work. Groups with about as much should therefore be neighbours. No long tile
// should begin last.
std::vector<int64_t> by_work(const TileBatch& batch) {
    std::vector<std::pair<int64_t, int64_t>> key(batch.groups);  // haplotypes and letters, or columns and haplotypes
    std::vector<int64_t> order(batch.groups);
    for (int64_t g = 0; g < batch.groups; ++g) {
        const int64_t first = batch.group_haplotype[g], end = batch.group_haplotype[g + 1];
        key[g] = {first - end, batch.haplotype_offset[first] - batch.haplotype_offset[end]};
        if (batch.group_columns != nullptr) key[g] = {-int64_t{batch.group_columns[g]}, first - end};
        order[g] = g;
    }
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return key[a] < key[b]; });
    return order;
}

int64_t closest_shape(const TileBatch& batch, const Shapes& shapes, int64_t read) {
    // The last shape is that of skipped reads, which may be too long for the table.
    if (batch.skip_read[read]) return shapes.count;
    return shapes.of_length[batch.read_offset[read + 1] - batch.read_offset[read]];
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

// The load of each shape where every read goes to the shape that fits it most closely. The last entry is that of the
// skipped reads, which are in no tile.
std::vector<Load> closest_loads(const TileBatch& batch, const Shapes& shapes) {
    std::vector<Load> loads(shapes.count + 1);
    std::vector<int64_t> rows(shapes.rows, shapes.rows + shapes.count);
    rows.push_back(INT64_MAX);
    for (int64_t g = 0; g < batch.groups; ++g) {
        const int64_t first_haplotype = batch.group_haplotype[g], end = batch.group_haplotype[g + 1];
        const int64_t width = batch.haplotype_offset[end] - batch.haplotype_offset[first_haplotype];
        for (int64_t r = batch.group_read[g]; r < batch.group_read[g + 1]; ++r) {
            const int64_t s = closest_shape(batch, shapes, r), length = batch.read_offset[r + 1] - batch.read_offset[r];
            const int64_t again = length > rows[s] ? (length - 1) / rows[s] * width : 0;
            loads[s] = loads[s] + Load{1, end - first_haplotype, width, again};
        }
    }
    return loads;
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

void copy_piece(const Part& part, int64_t first, int64_t count) {
    if (part.narrowed) {
        const auto* from = static_cast<const int64_t*>(part.from) + first;
        auto* to = reinterpret_cast<uint32_t*>(part.to) + first;
        for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint32_t>(from[i]);
    } else {
        copy_streaming(static_cast<const uint8_t*>(part.from) + first, part.to + first, count);
    }
}

}  // namespace

std::vector<Tier> make_tiles(const TileBatch& batch, const Shapes& shapes, const ItemSizes& sizes, const Tiles& tiles) {
    const std::vector<Load> closest = closest_loads(batch, shapes);
    const std::vector<int64_t> taken = shapes_taken(shapes, closest);
    std::vector<Load> loads(shapes.count + 1);
    for (int64_t s = 0; s <= shapes.count; ++s) loads[taken[s]] = loads[taken[s]] + closest[s];
    std::vector<int64_t> first(shapes.count + 2);
    for (int64_t s = 0; s <= shapes.count; ++s) first[s + 1] = first[s] + loads[s].reads;

    std::vector<int64_t> next(first.begin(), first.end() - 1);
    for (const int64_t g : by_work(batch)) {
        for (int64_t r = batch.group_read[g]; r < batch.group_read[g + 1]; ++r) {
            const int64_t s = taken[closest_shape(batch, shapes, r)];
            tiles.order[next[s]++] = static_cast<uint32_t>(r);
            tiles.read_group[r] = static_cast<uint32_t>(g);
        }
    }

    std::vector<Tier> tiers;
    int64_t item = 0;
    for (int64_t s = 0; s < shapes.count; ++s) {
        const int64_t fixed = shapes.haplotypes_each[s];
        const int64_t first_item = item, each = fixed ? fixed : haplotypes_each(sizes, loads[s], shapes.reads[s]);
        for (int64_t at = first[s]; at < first[s + 1]; at += shapes.reads[s]) {
            int64_t most = 0;
            for (int64_t i = at; i < std::min(at + shapes.reads[s], first[s + 1]); ++i) {
                const int64_t* group = batch.group_haplotype + tiles.read_group[tiles.order[i]];
                most = std::max(most, group[1] - group[0]);
            }
            const int64_t blocks = (most + each - 1) / each;
            for (int64_t block = 0; block < blocks; ++block, ++item) {
                tiles.items[2 * item] = static_cast<uint32_t>(at);
                tiles.items[2 * item + 1] = static_cast<uint32_t>(block);
            }
        }
        if (item == first_item) continue;
        const int64_t cells = loads[s].cells(shapes.rows[s]);
        const int64_t longest = batch.group_columns ? batch.group_columns[tiles.read_group[tiles.order[first[s]]]] : 0;
        tiers.push_back({s, first_item, item - first_item, each, first[s + 1], loads[s].pairs, cells, longest});
    }
    return tiers;
}

void copy_all(const std::vector<Part>& parts, int threads) {
    std::vector<std::pair<const Part*, int64_t>> pieces;
    for (const Part& part : parts) {
        for (int64_t at = 0; at < part.size; at += kPiece) pieces.emplace_back(&part, at);
    }
    run_shares(static_cast<int64_t>(pieces.size()), 1, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const auto [part, at] = pieces[i];
            copy_piece(*part, at, std::min(kPiece, part->size - at));
        }
    });
}

}  // namespace pairhmm
