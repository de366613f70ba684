// What the WebGPU host of the page exports from staging/: a batch's tiles and trees, and the scores of a device's sums
// (web/src/gpu/staging.js).
#include <cstring>
#include <vector>

#include "forward/rescue.hpp"
#include "packing/device_scores.hpp"
#include "packing/tiles.hpp"
#include "packing/tree_streams.hpp"
#include "threads/pool.hpp"
#include "threads/spin_pool.hpp"
#include "wasm/arrays.hpp"

namespace {

using namespace pairhmm;

constexpr int64_t kAlignment = 16;  // of each array, as Plan has it (pairhmm/backends/tiles.py)
constexpr int kTierNumbers = 8;

struct GivenTiles {
    uint32_t groups;
    const uint32_t* group_read;
    const uint32_t* group_haplotype;
    const uint32_t* read_offset;
    const uint32_t* haplotype_offset;
    const uint8_t* letters;
    const uint8_t* skip_read;
    // The table of shapes.
    uint32_t shapes, longest;
    const uint8_t* of_length;
    const uint32_t* reads;
    const uint32_t* rows;
    const uint8_t* family;
    const uint32_t* haplotypes_each;
    uint32_t tier_cells, items, shortest, longest_item;
    uint32_t most_haplotypes;  // of a pair of trees; 0 where haplotypes are not in trees
    uint32_t columns_of_sum, lead, tail;
};

// What `made_tiles` returns. The bytes are read_group, order, items and the arrays of trees, one behind the other.
struct MadeTiles {
    const uint8_t* bytes;
    uint32_t size, order, items;
    uint32_t tree[kTreeArrays];
    uint32_t open_branches, left_leaves, right_leaves, joins;
    uint32_t tiers;
    const double* tier;  // [tiers][kTierNumbers]
};

class Maker {
public:
    const MadeTiles* make(const GivenTiles& given) {
        const auto group_read = widened(given.group_read, int64_t{given.groups} + 1);
        const auto group_haplotype = widened(given.group_haplotype, int64_t{given.groups} + 1);
        const auto read_offset = widened(given.read_offset, group_read.back() + 1);
        const auto haplotype_offset = widened(given.haplotype_offset, group_haplotype.back() + 1);
        const auto reads = widened(given.reads, given.shapes), rows = widened(given.rows, given.shapes);
        const auto each = widened(given.haplotypes_each, given.shapes);
        const TileBatch batch{given.groups,
                              group_read.data(),
                              group_haplotype.data(),
                              read_offset.data(),
                              haplotype_offset.data(),
                              given.skip_read,
                              nullptr};
        const Shapes shapes{given.shapes, given.longest, given.of_length,  reads.data(),
                            rows.data(),  given.family,  given.tier_cells, each.data()};
        const bool in_trees = given.most_haplotypes > 0;
        if (in_trees) make_trees({batch.groups, batch.group_haplotype, batch.haplotype_offset, given.letters}, given);
        for (int64_t share = tiles_.begin(batch, shapes, 1); share-- > 0;) tiles_.look_at(share);
        const std::vector<Tier>& tiers =
            tiles_.put_in_order(in_trees ? trees_.columns().data() : nullptr,
                                {given.items, given.shortest, given.longest_item}, spin_pool_);
        append_tiles();
        if (in_trees) append_trees();
        number_tiers(tiers);
        made_.bytes = bytes_.data(), made_.size = static_cast<uint32_t>(bytes_.size());
        return &made_;
    }

private:
    void make_trees(const TreeBatch& batch, const GivenTiles& given) {
        limits_ = {given.most_haplotypes, given.columns_of_sum, given.lead, given.tail};
        shares_ = trees_.begin(batch, limits_, 1);
        for (int64_t share = 0; share < shares_; ++share) trees_.make_share(share);
        trees_.join_shares();
        const TreeSizes& sizes = trees_.sizes();
        made_.open_branches = static_cast<uint32_t>(sizes.open_branches);
        made_.left_leaves = static_cast<uint32_t>(sizes.left_leaves);
        made_.right_leaves = static_cast<uint32_t>(sizes.right_leaves);
        made_.joins = static_cast<uint32_t>(sizes.joins);
    }

    uint32_t room(int64_t size) {
        const int64_t at = (static_cast<int64_t>(bytes_.size()) + kAlignment - 1) / kAlignment * kAlignment;
        bytes_.resize(at + size);
        return static_cast<uint32_t>(at);
    }

    void append_tiles() {
        bytes_.clear();
        const uint32_t read_group = room(4 * tiles_.reads());
        made_.order = room(4 * tiles_.reads()), made_.items = room(8 * tiles_.items());
        const auto words_at = [&](uint32_t at) { return reinterpret_cast<uint32_t*>(bytes_.data() + at); };
        for (int64_t share = 0; share < tiles_.shares_of_tiles(); ++share) {
            tiles_.write(share, words_at(read_group), words_at(made_.order), words_at(made_.items));
        }
    }

    void append_trees() {
        for (int i = 0; i < kTreeArrays; ++i) made_.tree[i] = room(trees_.bytes()[i]);
        std::array<uint8_t*, kTreeArrays> to;
        for (int i = 0; i < kTreeArrays; ++i) to[i] = bytes_.data() + made_.tree[i];
        for (int64_t share = 0; share < shares_; ++share) trees_.write_share(share, to);
    }

    void number_tiers(const std::vector<Tier>& tiers) {
        numbers_.clear();
        for (const Tier& tier : tiers) {
            for (const int64_t number : {tier.shape, tier.item, tier.items, tier.haplotypes_each, tier.last, tier.pairs,
                                         tier.cells, tier.longest}) {
                numbers_.push_back(static_cast<double>(number));
            }
        }
        made_.tiers = static_cast<uint32_t>(numbers_.size() / kTierNumbers), made_.tier = numbers_.data();
    }

    SpinPool spin_pool_;
    TileMaker tiles_;
    TreeStreams trees_;
    TreeLimits limits_;
    int64_t shares_ = 0;
    std::vector<uint8_t> bytes_;
    std::vector<double> numbers_;
    MadeTiles made_{};
};

// Sums of a device, and what each read's are relative to.
struct GivenSums {
    uint32_t groups;
    const uint32_t* group_read;
    const uint32_t* group_haplotype;
    const uint32_t* sums;   // [pairs][2]
    const uint32_t* added;  // [reads][2]
    uint32_t coarse_bits;
    int32_t started_at;
};

}  // namespace

// The tiles and trees of a batch. They last until the next call.
PAIRHMM_EXPORT("made_tiles") const MadeTiles* pairhmm_made_tiles(const GivenTiles* given) {
    static Maker maker;
    return maker.make(*given);
}

// log10 and precision of each pair; NaN where there is no sum.
PAIRHMM_EXPORT("device_scores")
void pairhmm_device_scores(const GivenSums* given, double fine_unit, double* log10, uint8_t* precision) {
    const auto group_read = widened(given->group_read, int64_t{given->groups} + 1);
    const auto group_haplotype = widened(given->group_haplotype, int64_t{given->groups} + 1);
    const std::vector<int64_t> group_pair = first_pairs(group_read, group_haplotype);
    ThreadPool pool(0);
    device_scores({given->groups, group_read.data(), group_haplotype.data(), group_pair.data(), given->sums},
                  {nullptr, given->added, static_cast<int>(given->coarse_bits), fine_unit},
                  {given->started_at, kFloat32, kFloat32, kFloat32}, pool, log10, precision);
}
