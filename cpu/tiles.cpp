#include "tiles.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "shares.hpp"

namespace pairhmm {

namespace {

constexpr int64_t kPiece = 1 << 19;  // bytes that a thread copies at a time

// Groups with about the same haplotypes next to each other, most first: reads of several groups share a tile, which takes
// as long as the one with most to do, and a long tile is not to begin last.
std::vector<int64_t> by_haplotypes(const TileBatch& batch) {
    std::vector<std::pair<int64_t, int64_t>> key(batch.groups);  // haplotypes, letters
    std::vector<int64_t> order(batch.groups);
    for (int64_t g = 0; g < batch.groups; ++g) {
        const int64_t first = batch.group_haplotype[g], end = batch.group_haplotype[g + 1];
        key[g] = {first - end, batch.haplotype_offset[first] - batch.haplotype_offset[end]};
        order[g] = g;
    }
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return key[a] < key[b]; });
    return order;
}

}  // namespace

Tiles make_tiles(const TileBatch& batch, const uint8_t* shape_of_length, int64_t shapes, const int64_t* reads_of_shape,
                 int64_t haplotypes_each) {
    const int64_t reads = batch.group_read[batch.groups];
    std::vector<uint8_t> shape(reads);
    std::vector<int64_t> first(shapes + 2);  // of each shape in order; the last shape is that of skipped reads
    for (int64_t r = 0; r < reads; ++r) {
        const int64_t length = batch.read_offset[r + 1] - batch.read_offset[r];
        shape[r] = batch.skip_read[r] ? static_cast<uint8_t>(shapes) : shape_of_length[length];
        ++first[shape[r] + 1];
    }
    for (int64_t s = 0; s <= shapes; ++s) first[s + 1] += first[s];

    Tiles tiles;
    tiles.order.resize(reads);
    std::vector<uint32_t> haplotypes(reads);  // of each read in order
    std::vector<int64_t> next(first.begin(), first.end() - 1);
    for (const int64_t g : by_haplotypes(batch)) {
        const auto width = static_cast<uint32_t>(batch.group_haplotype[g + 1] - batch.group_haplotype[g]);
        for (int64_t r = batch.group_read[g]; r < batch.group_read[g + 1]; ++r) {
            const int64_t at = next[shape[r]]++;
            tiles.order[at] = static_cast<uint32_t>(r);
            haplotypes[at] = width;
        }
    }
    for (int64_t s = 0; s < shapes; ++s) {
        if (first[s] == first[s + 1]) continue;
        Tier tier{s, static_cast<int64_t>(tiles.items.size() / 2), 0, first[s + 1], 0};
        for (int64_t at = first[s]; at < first[s + 1]; at += reads_of_shape[s]) {
            const int64_t end = std::min(at + reads_of_shape[s], first[s + 1]);
            int64_t widest = 0;
            for (int64_t i = at; i < end; ++i) {
                widest = std::max<int64_t>(widest, haplotypes[i]);
                tier.pairs += haplotypes[i];
            }
            const int64_t blocks = (widest + haplotypes_each - 1) / haplotypes_each;
            for (int64_t block = 0; block < blocks; ++block) {
                tiles.items.push_back(static_cast<uint32_t>(at));
                tiles.items.push_back(static_cast<uint32_t>(block));
            }
        }
        tier.items = static_cast<int64_t>(tiles.items.size() / 2) - tier.item;
        if (tier.items > 0) tiles.tiers.push_back(tier);
    }
    return tiles;
}

void copy_all(const std::vector<Copy>& copies, int threads) {
    std::vector<Copy> pieces;
    for (const Copy& copy : copies) {
        for (int64_t at = 0; at < copy.bytes; at += kPiece) {
            pieces.push_back({copy.to + at, copy.from + at, std::min(kPiece, copy.bytes - at)});
        }
    }
    run_shares(static_cast<int64_t>(pieces.size()), 1, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) std::memcpy(pieces[i].to, pieces[i].from, pieces[i].bytes);
    });
}

}  // namespace pairhmm
