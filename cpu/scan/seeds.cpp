#include "scan/seeds.hpp"

#include <algorithm>
#include <numeric>

#include "calling/letters.hpp"

namespace pairhmm {
namespace {

constexpr int64_t kMostCodes = 256;       // of an ambiguous seed
constexpr size_t kContextsOfAVector = 8;  // at most: so many may be read beyond the last one
constexpr int kBitsOfKey = 32;
constexpr int kPartBits = 8;  // of keys whose seeds are sorted together

// The low bit of each letter [begin, end) of a context.
uint64_t mask_of(int64_t begin, int64_t end) {
    begin = std::max<int64_t>(begin, 0);
    end = std::min<int64_t>(end, kContext);
    uint64_t mask = 0;
    for (int64_t letter = begin; letter < end; ++letter) mask |= uint64_t{1} << 2 * letter;
    return mask;
}

}  // namespace

SeedIndex::SeedIndex(const Patterns& references, const TileRules& rules) : plan_(seed_plan(references, rules)) {
    const KeyBits bits = key_bits(seed_count(plan_, references, rules), plan_.compared);
    view_.bucket_shift = kBitsOfKey - bits.bucket;
    view_.known_shift = kBitsOfKey - bits.known;
    choose_masks(rules);
    const auto is_seed = mark(references, rules);
    enter(references, is_seed);
    list_unseeded(references, rules, is_seed);
}

void SeedIndex::choose_masks(const TileRules& rules) {
    view_.letters = plan_.letters;
    view_.max_mismatches = static_cast<int>(rules.match.max_mismatches);
    view_.before = (kContext - plan_.span) / 2;
    // Of the letters of a tile beside a seed, at least half stand on one side of it.
    const int64_t beside = rules.length - plan_.span, half = (beside + 1) / 2;
    const int64_t begin = view_.before, end = begin + plan_.span;
    view_.side_mask[0] = mask_of(begin - half, end);
    view_.side_mask[1] = mask_of(begin, end + half);
    if (plan_.apart > 0 || plan_.shifts.size() > kMostMasks) {
        view_.masks = 2;
        std::copy_n(view_.side_mask, 2, view_.mask);
        return;
    }
    for (const int64_t shift : plan_.shifts) view_.mask[view_.masks++] = mask_of(begin - shift, end + beside - shift);
}

SeedView SeedIndex::view() const {
    SeedView view = view_;
    view.known = known_.data();
    view.first = first_.data();
    view.context = context_.data();
    return view;
}

bool SeedIndex::is_looked_up(const uint8_t* letters) const {
    int64_t codes = 1;
    for (int i = 0; i < plan_.span; ++i) {
        if (plan_.compares(i)) codes *= bases_of(letters[i]);
        if (codes > kMostCodes) return false;
    }
    return true;
}

std::vector<bool> SeedIndex::mark(const Patterns& references, const TileRules& rules) const {
    std::vector<bool> is_seed(static_cast<size_t>(references.offset[references.count]), false);
    const MaskedSpan *masked = rules.masked, *last = rules.masked + rules.masked_count;
    for (int64_t p = 0; p < references.count; ++p) {
        // The tiles between masked ones.
        int64_t begin = references.offset[p];
        const int64_t end = references.offset[p + 1] - rules.length + 1;
        for (; masked != last && masked->begin < end; ++masked) {
            mark_tiles(references, rules, p, begin, masked->begin, is_seed);
            begin = masked->end;
        }
        mark_tiles(references, rules, p, begin, end, is_seed);
    }
    return is_seed;
}

// Marks the seeds of the tiles of a reference that begin in [first, end).
void SeedIndex::mark_tiles(const Patterns& references, const TileRules& rules, int64_t reference, int64_t first,
                           int64_t end, std::vector<bool>& is_seed) const {
    if (first >= end) return;
    const int64_t begin = references.offset[reference];
    if (plan_.apart > 0) {
        const int64_t skipped = (first - begin + plan_.apart - 1) / plan_.apart;
        for (int64_t at = begin + skipped * plan_.apart; at + plan_.span < end + rules.length; at += plan_.apart)
            is_seed[static_cast<size_t>(at)] = true;
        return;
    }
    for (const int64_t shift : plan_.shifts) {
        if (rules.step == 1) {
            std::fill(is_seed.begin() + first + shift, is_seed.begin() + end + shift, true);
            continue;
        }
        const int64_t length = references.length(reference), strand = references.strand[reference];
        for (int64_t tile = first; tile < end; ++tile)
            if (begins_tile(rules, length, strand, tile - begin)) is_seed[static_cast<size_t>(tile + shift)] = true;
    }
}

void SeedIndex::enter(const Patterns& references, const std::vector<bool>& is_seed) {
    const uint8_t* letters = references.letters;
    const auto count = static_cast<int64_t>(is_seed.size());
    PackedText packed;
    packed.pack(letters, count);
    const PackedLetters words = packed.view();
    const auto is_careful = [&](int64_t at) {
        if (words.is_plain == nullptr) return false;
        const uint32_t* is_plain = words.is_plain + at - view_.before;
        return is_plain[0] != kLowBits || is_plain[kBeside] != kLowBits;
    };
    // tell(place, context) for every seed without ambiguous letters inside or beside it.
    const auto each_plain = [&](const auto& tell) {
        for (int64_t at = 0; at < count; ++at)
            if (is_seed[static_cast<size_t>(at)] && !is_careful(at))
                tell(at, context_at(words.word, at - view_.before));
    };
    // tell(place, bucket) for every other seed and each of its words.
    const auto each_careful = [&](const auto& tell) {
        for (int64_t at = 0; words.is_plain != nullptr && at < count; ++at) {
            if (!is_seed[static_cast<size_t>(at)] || !is_careful(at) || !is_looked_up(letters + at)) continue;
            each_word(letters + at,
                      [&](uint32_t word) { tell(at, seed_key(word, plan_.letters) >> view_.bucket_shift); });
        }
    };
    enter_plain(each_plain);
    // Counts stand one bucket further on: filling moves each start to its end, which is the start of the next bucket.
    careful_first_.assign(first_.size() + 1, 0);
    each_careful([&](int64_t, uint32_t bucket) { ++careful_first_[bucket + 2]; });
    std::partial_sum(careful_first_.begin(), careful_first_.end(), careful_first_.begin());
    careful_place_.resize(careful_first_.back());
    each_careful(
        [&](int64_t at, uint32_t bucket) { careful_place_[careful_first_[bucket + 1]++] = static_cast<uint32_t>(at); });
}

// Sorts seeds by their buckets in two steps, each of which writes to places that a cache holds: by the highest bits of
// the key into parts, and each part by the others.
template <class EachSeed>
void SeedIndex::enter_plain(const EachSeed& each_seed) {
    const int bucket_bits = kBitsOfKey - view_.bucket_shift, part_bits = std::min(bucket_bits, kPartBits);
    const int part_shift = kBitsOfKey - part_bits;
    std::vector<uint32_t> part_end((size_t{1} << part_bits) + 1, 0);
    each_seed([&](int64_t, uint64_t context) { ++part_end[(key_of(context) >> part_shift) + 1]; });
    std::partial_sum(part_end.begin(), part_end.end(), part_end.begin());
    place_.resize(part_end.back());
    context_.assign(place_.size() + kContextsOfAVector, 0);
    each_seed([&](int64_t at, uint64_t context) {
        const uint32_t seed = part_end[key_of(context) >> part_shift]++;
        place_[seed] = static_cast<uint32_t>(at);
        context_[seed] = context;
    });
    first_.assign((size_t{1} << bucket_bits) + 1, 0);
    known_.assign((size_t{1} << (kBitsOfKey - view_.known_shift)) / 64 + 1, 0);
    std::vector<uint64_t> contexts;
    std::vector<uint32_t> places;
    const size_t buckets = size_t{1} << (bucket_bits - part_bits);
    for (size_t part = 0; part + 1 < part_end.size(); ++part) {
        const uint32_t begin = part == 0 ? 0 : part_end[part - 1], end = part_end[part];
        contexts.assign(context_.begin() + begin, context_.begin() + end);
        places.assign(place_.begin() + begin, place_.begin() + end);
        uint32_t* next = first_.data() + part * buckets;  // of each bucket: where its next seed stands
        for (const uint64_t context : contexts) {
            const uint32_t key = key_of(context), bit = key >> view_.known_shift;
            known_[bit / 64] |= uint64_t{1} << (bit % 64);
            ++first_[(key >> view_.bucket_shift) + 1];
        }
        std::exclusive_scan(next + 1, next + buckets + 1, next + 1, begin);
        for (size_t i = 0; i < contexts.size(); ++i) {
            const uint32_t seed = first_[(key_of(contexts[i]) >> view_.bucket_shift) + 1]++;
            context_[seed] = contexts[i];
            place_[seed] = places[i];
        }
    }
}

void SeedIndex::list_unseeded(const Patterns& references, const TileRules& rules, const std::vector<bool>& is_seed) {
    for (int64_t p = 0; p < references.count; ++p) {
        const int64_t begin = references.offset[p], length = references.length(p);
        const uint8_t* letters = references.letters + begin;
        if (std::all_of(letters, letters + length, is_one_base)) continue;
        for (int64_t tile = 0; tile + rules.length <= length; ++tile) {
            if (!begins_tile(rules, length, references.strand[p], tile)) continue;
            const int64_t known = rules.length - std::count(letters + tile, letters + tile + rules.length, kAny);
            if (known < rules.match.min_informative) continue;
            const bool is_seeded = std::all_of(plan_.shifts.begin(), plan_.shifts.end(), [&](int64_t shift) {
                const int64_t at = tile + shift;
                return !is_seed[static_cast<size_t>(begin + at)] || is_looked_up(letters + at);
            });
            if (!is_seeded) unseeded_.push_back(begin + tile);
        }
    }
}

bool SeedIndex::is_unseeded(int64_t place) const {
    return std::binary_search(unseeded_.begin(), unseeded_.end(), place);
}

bool SeedIndex::passes(uint32_t seed, const PackedLetters& letters, int64_t position) const {
    const uint64_t bits = context_[seed] ^ context_at(letters.word, position - view_.before);
    uint64_t differing = (bits | bits >> 1) & kLowBitOfLetters;
    if (letters.is_plain != nullptr) differing &= context_at(letters.is_plain, position - view_.before);
    return std::any_of(view_.mask, view_.mask + view_.masks,
                       [&](uint64_t mask) { return __builtin_popcountll(differing & mask) <= view_.max_mismatches; });
}

}  // namespace pairhmm
