// Seeds: letters of references that tell which diagonals may hold a match of a tile (scan/seed_plan.hpp).
//
// Method. Seeds are looked up at every position of a sample. The key of a seed is a product of its letters: its highest
// bits are those of a bitmap, which stays in a cache, and fewer of them those of a bucket. A bucket lists its seeds
// with their contexts: kContext letters, the seed's and those around it. Look-ups compare as many contexts at once as a
// vector has words. A mask says which of the letters must match with at most K mismatches: those of the tiles that the
// seed may lie in. Seeds of other letters in the same bucket differ in these letters, too.
//
// Cost. A look-up lists (seeds / 4^letters) seeds, and those of the same bucket, which are one or fewer. For 20 viruses
// (228 kb, both strands), tiles of 21 at every position have seeds of 9 letters at K = 2, and list 2.
#pragma once

#include <cstdint>
#include <vector>

#include "scan/level.hpp"
#include "scan/packed.hpp"
#include "scan/seed_plan.hpp"
#include "scan/tiles.hpp"

namespace pairhmm {

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

    // Whether the letters that a seed compares stand for few sequences of bases, which are all looked up.
    bool is_looked_up(const uint8_t* letters) const;

    // take(word) for every sequence of bases that these letters stand for, as letters of two bits.
    template <class Take>
    void each_word(const uint8_t* letters, const Take& take, uint32_t word = 0, int at = 0) const {
        while (at < plan_.span && !plan_.compares(at)) ++at;
        if (at == plan_.span) return take(word);
        for (uint32_t base = 0; base < 4; ++base)
            if ((letters[at] >> base & 1) != 0) each_word(letters, take, word | base << 2 * at, at + 1);
    }

    // tell(place) for each seed of a word that may begin at a position of a sample.
    template <class Tell>
    void look_up(uint32_t word, const PackedLetters& letters, int64_t position, const Tell& tell) const {
        const uint32_t bucket = seed_key(word, plan_.letters) >> view_.bucket_shift;
        for (uint32_t seed = first_[bucket]; seed < first_[bucket + 1]; ++seed)
            if (passes(seed, letters, position)) tell(place(seed));
        look_up_careful(word, tell);
    }

    // The same for the seeds that have ambiguous letters inside or beside them: their contexts are not compared.
    template <class Tell>
    void look_up_careful(uint32_t word, const Tell& tell) const {
        if (careful_place_.empty()) return;
        const uint32_t bucket = seed_key(word, plan_.letters) >> view_.bucket_shift;
        for (uint32_t i = careful_first_[bucket]; i < careful_first_[bucket + 1]; ++i) tell(careful_place_[i]);
    }

    bool has_careful() const { return !careful_place_.empty(); }

    // Where tiles begin that no seed finds, in order.
    const std::vector<int64_t>& unseeded() const { return unseeded_; }
    bool is_unseeded(int64_t place) const;

private:
    void choose_masks(const TileRules& rules);
    std::vector<bool> mark(const Patterns& references, const TileRules& rules) const;
    void mark_tiles(const Patterns& references, const TileRules& rules, int64_t reference, int64_t first, int64_t end,
                    std::vector<bool>& is_seed) const;
    void enter(const Patterns& references, const std::vector<bool>& is_seed);
    template <class EachSeed>
    void enter_plain(const EachSeed& each_seed);
    uint32_t key_of(uint64_t context) const {
        return seed_key(static_cast<uint32_t>(context >> 2 * view_.before), plan_.letters);
    }
    void list_unseeded(const Patterns& references, const TileRules& rules, const std::vector<bool>& is_seed);
    bool passes(uint32_t seed, const PackedLetters& letters, int64_t position) const;

    SeedPlan plan_;
    SeedView view_{};  // without its tables
    std::vector<uint64_t> known_, context_;
    std::vector<uint32_t> first_, place_, careful_first_, careful_place_;
    std::vector<int64_t> unseeded_;
};

}  // namespace pairhmm
