#include "scan/seeds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "genomics/letters.hpp"

namespace pairhmm {
namespace {

constexpr int kMostLetters = 10;        // of a seed: the tables of longer ones leave the caches
constexpr size_t kWordsOfAVector = 16;  // at most: so many near words may be read beyond the last one

// Nanoseconds of a position, from the seeds that its look-up lists (measured).
double expected_cost(double seeds, int letters) {
    constexpr double kLookUp = 1.0, kFarLookUp = 0.8, kListed = 5.0, kSeed = 0.6;
    const double listed = seeds / std::pow(4.0, letters);
    return kLookUp + (letters > 8 ? kFarLookUp : 0) + kListed * (1 - std::exp(-listed)) + kSeed * listed;
}

// The low bit of each of the `count` letters before a seed, nearest first.
uint64_t mask_before(int64_t count) {
    const int64_t letters = std::min<int64_t>(count, kBeside);
    return letters == 0 ? 0 : (kLowBitOfLetters & 0xffffffff) >> (32 - 2 * letters) << (32 - 2 * letters);
}

uint64_t mask_behind(int64_t count) {
    const int64_t letters = std::min<int64_t>(count, kBeside);
    return letters == 0 ? 0 : (kLowBitOfLetters >> (64 - 2 * letters)) << 32;
}

// Of the letters on either side of a seed, the half that is nearer to it.
uint32_t near_of(uint64_t context) { return static_cast<uint32_t>(context >> kBeside); }

}  // namespace

int64_t count_codes(const uint8_t* letters, int64_t count) {
    int64_t codes = 1;
    for (int64_t i = 0; i < count; ++i) {
        codes *= bases_of(letters[i]);
        if (codes > kMostCodes) return 0;
    }
    return codes;
}

SeedPlan seed_plan(const Patterns& references, const TileRules& rules) {
    const int64_t length = rules.length, seeds_each = rules.match.max_mismatches + 1;
    int64_t tiles = 0, places = 0;
    for (int64_t p = 0; p < references.count; ++p) {
        if (references.length(p) < length) continue;
        tiles += (references.length(p) - length) / rules.step + 1;
        places += references.length(p);
    }
    const int64_t part = length / seeds_each;
    SeedPlan best{static_cast<int>(std::min<int64_t>(part, kMostLetters)), part, true};
    double cost = expected_cost(static_cast<double>(std::min(tiles * seeds_each, places)), best.letters);
    for (int letters = 4; letters <= kMostLetters; ++letters) {
        const int64_t apart = (length - letters + 1) / seeds_each;
        if (apart < letters) break;
        const double other = expected_cost(static_cast<double>(places) / static_cast<double>(apart), letters);
        if (other >= cost) continue;
        best = {letters, apart, false};
        cost = other;
    }
    return best;
}

SeedIndex::SeedIndex(const Patterns& references, const TileRules& rules) : plan_(seed_plan(references, rules)) {
    choose_masks(rules);
    const auto is_seed = mark(references, rules);
    enter(references, is_seed);
    list_unseeded(references, rules, is_seed);
}

void SeedIndex::choose_masks(const TileRules& rules) {
    view_.letters = plan_.letters;
    view_.max_mismatches = static_cast<int>(rules.match.max_mismatches);
    const int64_t beside = rules.length - plan_.letters, half = (beside + 1) / 2;
    if (!plan_.of_tiles) {
        // Of the letters of a tile beside a seed, at least half stand on one side of it.
        view_.masks = 2;
        view_.mask[0] = mask_before(half);
        view_.mask[1] = mask_behind(half);
        view_.sides_mask = near_of(mask_before(half) | mask_behind(half));
        return;
    }
    if (view_.max_mismatches >= kMostMasks) {
        view_.masks = 1;  // of no letter: everything passes
        return;
    }
    view_.masks = view_.max_mismatches + 1;
    for (int part = 0; part < view_.masks; ++part) {
        const int64_t before = part * plan_.apart;
        view_.mask[part] = mask_before(before) | mask_behind(beside - before);
    }
    // The letters of the first part's tile stand behind the seed, and nearly all of the last part's before it.
    view_.sides_mask = near_of(mask_before((view_.masks - 1) * plan_.apart) | mask_behind(beside));
    for (int part = 1; part < view_.masks - 1; ++part) view_.both_mask[view_.both_masks++] = near_of(view_.mask[part]);
}

SeedView SeedIndex::view() const {
    SeedView view = view_;
    view.known = known_.data();
    view.first = first_.data();
    view.context = context_.data();
    view.near = near_.data();
    return view;
}

std::vector<bool> SeedIndex::mark(const Patterns& references, const TileRules& rules) const {
    std::vector<bool> is_seed(static_cast<size_t>(references.offset[references.count]), false);
    for (int64_t p = 0; p < references.count; ++p) {
        const int64_t begin = references.offset[p], length = references.length(p);
        if (!plan_.of_tiles) {
            for (int64_t at = 0; length >= rules.length && at + plan_.letters <= length; at += plan_.apart)
                is_seed[static_cast<size_t>(begin + at)] = true;
            continue;
        }
        for (int64_t tile = 0; tile + rules.length <= length; ++tile) {
            if (!begins_tile(rules, length, references.strand[p], tile)) continue;
            for (int64_t part = 0; part <= rules.match.max_mismatches; ++part)
                is_seed[static_cast<size_t>(begin + tile + part * plan_.apart)] = true;
        }
    }
    return is_seed;
}

void SeedIndex::enter(const Patterns& references, const std::vector<bool>& is_seed) {
    const uint8_t* letters = references.letters;
    const auto count = static_cast<int64_t>(is_seed.size());
    PackedText packed;
    packed.pack(letters, count);
    const PackedLetters words = packed.view();
    const size_t codes = size_t{1} << 2 * plan_.letters;
    const uint32_t code_mask = static_cast<uint32_t>(codes - 1);
    const auto is_careful = [&](int64_t at) {
        if (words.is_plain == nullptr) return false;
        const int64_t around[] = {at - kBeside, at, at + plan_.letters};
        return std::any_of(around, around + 3, [&](int64_t from) { return words.is_plain[from] != 0x55555555; });
    };
    // tell(place, code, whether it is careful) for every seed and each of its codes.
    const auto each_seed = [&](const auto& tell) {
        for (int64_t at = 0; at < count; ++at) {
            if (!is_seed[static_cast<size_t>(at)]) continue;
            if (!is_careful(at)) {
                tell(at, words.word[at] & code_mask, false);
            } else if (count_codes(letters + at, plan_.letters) != 0) {
                each_code(letters + at, plan_.letters, [&](uint32_t code) { tell(at, code, true); });
            }
        }
    };
    // Counts stand one code further on: filling moves each start to its end, which is the start of the next code.
    first_.assign(codes + 2, 0);
    careful_first_.assign(codes + 2, 0);
    each_seed([&](int64_t, uint32_t code, bool careful) { ++(careful ? careful_first_ : first_)[code + 2]; });
    known_.assign(codes / 64 + 1, 0);
    for (size_t code = 0; code < codes; ++code) known_[code / 64] |= uint64_t{first_[code + 2] != 0} << (code % 64);
    for (auto* first : {&first_, &careful_first_}) std::partial_sum(first->begin(), first->end(), first->begin());
    place_.resize(first_.back());
    careful_place_.resize(careful_first_.back());
    context_.resize(place_.size());
    near_.assign(place_.size() + kWordsOfAVector, 0);
    each_seed([&](int64_t at, uint32_t code, bool careful) {
        const uint32_t seed = (careful ? careful_first_ : first_)[code + 1]++;
        (careful ? careful_place_ : place_)[seed] = static_cast<uint32_t>(at);
        if (careful) return;
        context_[seed] = uint64_t{words.word[at + plan_.letters]} << 32 | words.word[at - kBeside];
        near_[seed] = near_of(context_[seed]);
    });
}

void SeedIndex::list_unseeded(const Patterns& references, const TileRules& rules, const std::vector<bool>& is_seed) {
    const auto is_entered = [&](int64_t at) { return count_codes(references.letters + at, plan_.letters) != 0; };
    for (int64_t p = 0; p < references.count; ++p) {
        const int64_t begin = references.offset[p], length = references.length(p);
        const uint8_t* letters = references.letters + begin;
        if (std::all_of(letters, letters + length, is_one_base)) continue;
        for (int64_t tile = 0; tile + rules.length <= length; ++tile) {
            if (!begins_tile(rules, length, references.strand[p], tile)) continue;
            const int64_t known = rules.length - std::count(letters + tile, letters + tile + rules.length, kAny);
            if (known < rules.match.min_informative) continue;
            const int64_t last =
                tile + (plan_.of_tiles ? rules.match.max_mismatches * plan_.apart : rules.length - plan_.letters);
            bool is_seeded = true;
            for (int64_t at = tile; at <= last; at += plan_.of_tiles ? plan_.apart : 1)
                is_seeded = is_seeded && (!is_seed[static_cast<size_t>(begin + at)] || is_entered(begin + at));
            if (!is_seeded) unseeded_.push_back(begin + tile);
        }
    }
}

bool SeedIndex::is_unseeded(int64_t place) const {
    return std::binary_search(unseeded_.begin(), unseeded_.end(), place);
}

bool SeedIndex::passes(uint32_t seed, const PackedLetters& letters, int64_t position) const {
    const int64_t behind = position + plan_.letters, before = position - kBeside;
    const uint64_t differs = context_[seed] ^ (uint64_t{letters.word[behind]} << 32 | letters.word[before]);
    uint64_t both = (differs | differs >> 1) & kLowBitOfLetters;
    if (letters.is_plain != nullptr) both &= uint64_t{letters.is_plain[behind]} << 32 | letters.is_plain[before];
    for (int m = 0; m < view_.masks; ++m)
        if (__builtin_popcountll(both & view_.mask[m]) <= view_.max_mismatches) return true;
    return false;
}

}  // namespace pairhmm
