#include "calling/molecules.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace pairhmm {

namespace {

constexpr uint16_t kPaired = 0x1, kReverse = 0x10, kFirst = 0x40, kSecond = 0x80;

struct FragmentKey {
    std::string_view text;  // the molecule, or the name where it is not known
    int32_t sample;
    bool is_molecule;

    bool operator==(const FragmentKey& other) const {
        return sample == other.sample && is_molecule == other.is_molecule && text == other.text;
    }
};

struct HashOfFragment {
    size_t operator()(const FragmentKey& key) const {
        return std::hash<std::string_view>()(key.text) ^ static_cast<size_t>(key.sample);
    }
};

// The mate's number; 0 for a read without a mate.
uint8_t mate_of(uint16_t flag) {
    if (!(flag & kPaired)) return 0;
    return flag & kFirst ? 1 : flag & kSecond ? 2 : 0;
}

}  // namespace

Molecules::Molecules(const CutReads& cut)
    : fragment(cut.count), family(cut.count), end(cut.count), base(cut.count + 1) {
    std::iota(family.begin(), family.end(), int64_t{0});
    for (int64_t region = 0; region < cut.regions; ++region)
        number(cut, cut.region_read[region], cut.region_read[region + 1]);
    for (int64_t i = 0; i < cut.count; ++i) base[i + 1] = base[i] + cut.last[i] - cut.first[i];
}

// The reads of one region.
void Molecules::number(const CutReads& cut, int64_t begin, int64_t stop) {
    std::unordered_map<FragmentKey, int64_t, HashOfFragment> fragments;
    std::unordered_map<int64_t, int64_t> families[2];  // of either strand, by fragment
    for (int64_t i = begin; i < stop; ++i) {
        const bool is_molecule = cut.molecule != nullptr && !cut.molecule[i].empty();
        const bool is_reverse = (cut.flag[i] & kReverse) != 0;
        const FragmentKey key{is_molecule ? cut.molecule[i] : cut.name[i], cut.sample[i], is_molecule};
        fragment[i] = fragments.try_emplace(key, i).first->second;
        if (is_molecule) family[i] = families[is_reverse].try_emplace(fragment[i], i).first->second;
        end[i] = is_molecule ? is_reverse : mate_of(cut.flag[i]);
    }
}

std::vector<int64_t> Molecules::order() const {
    std::vector<int64_t> reads(fragment.size());
    std::iota(reads.begin(), reads.end(), int64_t{0});
    std::sort(reads.begin(), reads.end(), [&](int64_t a, int64_t b) {
        return std::tie(fragment[a], family[a], a) < std::tie(fragment[b], family[b], b);
    });
    return reads;
}

}  // namespace pairhmm
