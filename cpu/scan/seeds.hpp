// Seeds: short windows of references that tell which diagonals may hold a match of a tile.
//
// Method. A match with up to K mismatches has K + 1 disjoint windows of which one matches exactly. There are two ways
// to choose them, and seed_plan takes what costs less:
//
// * of each tile: its K + 1 parts of equal length. Where tiles lie at every position, so do their seeds.
// * of each reference: windows at equal distances, so close that every tile has K + 1 of them inside. They are shorter,
//   and far fewer.
//
// Seeds are looked up at every position of a sample. Beside a seed stand the kBeside letters on either side of it, in a
// word, so that look-ups which list many seeds compare them in order of memory and as many at once as a vector has
// words. A mask says which letters must match with at most K mismatches: of a part, those of its tile; of a window of a
// reference, those on the longer side of it, whichever that is.
//
// Cost. A look-up lists (seeds / 4^letters) seeds. For 19 viruses (198 kb, both strands), tiles of 31 at every position
// list 0.02 at K = 0, 0.03 at K = 1 and 0.8 at K = 2; tiles of 21 at K = 2 have parts of 7 and list 24.
#pragma once

#include <cstdint>
#include <vector>

#include "scan/level.hpp"
#include "scan/packed.hpp"
#include "scan/tiles.hpp"

namespace pairhmm {

constexpr int64_t kMostCodes = 256;  // of an ambiguous seed

// How many sequences of bases some letters stand for, or 0 where they are more than kMostCodes.
int64_t count_codes(const uint8_t* letters, int64_t count);

struct SeedPlan {
    int letters;    // of a seed
    int64_t apart;  // from the first letter of a seed to that of the next one
    bool of_tiles;  // the parts of each tile; else windows of each reference
};

SeedPlan seed_plan(const Patterns& references, const TileRules& rules);

// Whether a tile begins at an offset of a reference that is `length` long.
inline bool begins_tile(const TileRules& rules, int64_t length, int64_t strand, int64_t offset) {
    return rules.step == 1 || (strand == 0 ? offset : length - rules.length - offset) % rules.step == 0;
}

class SeedIndex {
public:
    SeedIndex(const Patterns& references, const TileRules& rules);

    const SeedPlan& plan() const { return plan_; }
    SeedView view() const;

    // Where a seed lies in the references' letters.
    int64_t place(uint32_t seed) const { return place_[seed]; }

    // tell(place) for each seed of one code that may begin at a position of a sample.
    template <class Tell>
    void look_up(uint32_t code, const PackedLetters& letters, int64_t position, const Tell& tell) const {
        for (uint32_t seed = first_[code]; seed < first_[code + 1]; ++seed)
            if (passes(seed, letters, position)) tell(place(seed));
        look_up_careful(code, tell);
    }

    // The same for the seeds that have ambiguous letters inside or beside them: their contexts are not compared.
    template <class Tell>
    void look_up_careful(uint32_t code, const Tell& tell) const {
        if (careful_place_.empty()) return;
        for (uint32_t seed = careful_first_[code]; seed < careful_first_[code + 1]; ++seed) tell(careful_place_[seed]);
    }

    bool has_careful() const { return !careful_place_.empty(); }

    // Where tiles begin that no seed finds, in order.
    const std::vector<int64_t>& unseeded() const { return unseeded_; }
    bool is_unseeded(int64_t place) const;

private:
    void choose_masks(const TileRules& rules);
    std::vector<bool> mark(const Patterns& references, const TileRules& rules) const;
    void enter(const Patterns& references, const std::vector<bool>& is_seed);
    void list_unseeded(const Patterns& references, const TileRules& rules, const std::vector<bool>& is_seed);
    bool passes(uint32_t seed, const PackedLetters& letters, int64_t position) const;

    SeedPlan plan_;
    SeedView view_{};  // without its tables
    std::vector<uint64_t> known_, context_;
    std::vector<uint32_t> first_, near_, place_, careful_first_, careful_place_;
    std::vector<int64_t> unseeded_;
};

}  // namespace pairhmm
