#include "scan/seed_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

namespace pairhmm {
namespace {

// Shapes of up to kLongestSeed letters that compare the most letters of all that are lossless: wherever in `tile`
// letters up to `mismatches` of them differ, the shape has a shift at which it meets none. Found by trying all shapes.
// A longer tile has the tile inside, so that its shape holds, too.
struct Shape {
    int mismatches, tile;
    const char* letters;
};

constexpr Shape kShapes[] = {
    {1, 10, "###-###"},          {1, 12, "####-###"},         {1, 13, "####-####"},        {1, 14, "###-###-###"},
    {1, 16, "#####-#####"},      {1, 17, "####-####-###"},    {1, 18, "####-####-####"},   {1, 20, "#####-#####-###"},
    {1, 21, "#####-#####-####"}, {1, 24, "########-#######"}, {2, 15, "###-#--##"},        {2, 16, "###-#--###"},
    {2, 18, "###-#--###-#"},     {2, 21, "####-#---####"},    {2, 22, "###-#--###-#--##"}, {2, 25, "#####-##---####"},
    {2, 26, "#####-##---#####"}, {2, 32, "#########-####"},   {2, 34, "#####-#######-##"}, {2, 37, "##########-#####"},
    {3, 20, "####-##"},          {3, 22, "###-#-----###"},    {3, 24, "###-#--#---###"},   {3, 26, "###-#--#---###-#"},
    {3, 31, "#####-##-###"},     {3, 34, "#####-####-##"},    {3, 36, "#####-####-###"},   {3, 39, "######-###-####"},
    {3, 42, "######-#####-###"},
};

SeedPlan plan_of(const char* letters, std::vector<int64_t> shifts, int64_t apart) {
    SeedPlan plan{0, static_cast<int>(std::strlen(letters)), 0, std::move(shifts), apart};
    for (int i = 0; i < plan.span; ++i) {
        if (letters[i] != '#') continue;
        plan.letters |= uint32_t{3} << 2 * i;
        ++plan.compared;
    }
    return plan;
}

SeedPlan plan_of(const Shape& shape) {
    std::vector<int64_t> shifts;
    for (int64_t shift = 0; shift + static_cast<int64_t>(std::strlen(shape.letters)) <= shape.tile; ++shift)
        shifts.push_back(shift);
    return plan_of(shape.letters, std::move(shifts), 0);
}

SeedPlan parts_of(const TileRules& rules) {
    const int64_t part = rules.length / (rules.match.max_mismatches + 1);
    std::vector<int64_t> shifts;
    for (int64_t i = 0; i <= rules.match.max_mismatches; ++i) shifts.push_back(i * part);
    const auto letters = static_cast<size_t>(std::min<int64_t>(part, kLongestSeed));
    return plan_of(std::string(letters, '#').c_str(), std::move(shifts), 0);
}

// Any window that lies in a tile may be the one without a mismatch.
SeedPlan windows_of(const TileRules& rules, int letters, int64_t apart) {
    std::vector<int64_t> shifts;
    for (int64_t shift = 0; shift + letters <= rules.length; ++shift) shifts.push_back(shift);
    return plan_of(std::string(static_cast<size_t>(letters), '#').c_str(), std::move(shifts), apart);
}

// Nanoseconds of a position, from the seeds that its look-up lists (measured).
double expected_cost(int64_t seeds, int letters) {
    constexpr double kLookUp = 1, kListed = 5, kListedFar = 12, kSeed = 0.6;
    constexpr int64_t kManySeeds = 1 << 17;  // so many leave the caches of a core
    const auto all = static_cast<double>(seeds);
    const double share_listed = 1 - std::exp(-std::ldexp(all, -key_bits(seeds, letters).known));
    const double listed = std::ldexp(all, -2 * letters);
    return kLookUp + (seeds > kManySeeds ? kListedFar : kListed) * share_listed + kSeed * listed;
}

int bits_for(int64_t count) {
    int bits = 0;
    while ((int64_t{1} << bits) < count) ++bits;
    return bits;
}

}  // namespace

int64_t seed_count(const SeedPlan& plan, const Patterns& references, const TileRules& rules) {
    const auto each_tile = static_cast<int64_t>(plan.shifts.size());
    int64_t count = 0;
    for (int64_t p = 0; p < references.count; ++p) {
        const int64_t length = references.length(p);
        if (length < rules.length) continue;
        const int64_t tiles = (length - rules.length) / rules.step + 1, places = length - plan.span + 1;
        count += plan.apart > 0 ? (places - 1) / plan.apart + 1 : std::min(tiles * each_tile, places);
    }
    return count;
}

KeyBits key_bits(int64_t seeds, int letters) {
    constexpr int kMostBucketBits = 23;  // 32 MB
    constexpr int kBitsOfABucket = 2;    // the map has a bit for each quarter of a bucket
    constexpr int kFewKnownBits = 20;    // of the map: a cache holds them
    const int bucket = std::clamp(bits_for(seeds), 1, std::min(2 * letters, kMostBucketBits));
    return {bucket, std::min(2 * letters, std::max(bucket + kBitsOfABucket, kFewKnownBits))};
}

SeedPlan seed_plan(const Patterns& references, const TileRules& rules) {
    SeedPlan best = parts_of(rules);
    double cost = expected_cost(seed_count(best, references, rules), best.compared);
    const auto consider = [&](SeedPlan other) {
        const double its_cost = expected_cost(seed_count(other, references, rules), other.compared);
        if (its_cost >= cost) return;
        best = std::move(other);
        cost = its_cost;
    };
    for (const Shape& shape : kShapes)
        if (shape.mismatches == rules.match.max_mismatches && shape.tile <= rules.length) consider(plan_of(shape));
    for (int letters = 4; letters <= kLongestSeed; ++letters) {
        const int64_t apart = (rules.length - letters + 1) / (rules.match.max_mismatches + 1);
        if (apart < letters) break;
        consider(windows_of(rules, letters, apart));
    }
    return best;
}

}  // namespace pairhmm
