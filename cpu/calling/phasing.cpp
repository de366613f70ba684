#include "calling/phasing.hpp"

#include <algorithm>
#include <cmath>

#include "calling/log10_sums.hpp"

namespace pairhmm {

namespace {

// log10 of how much more likely a fragment is where the second alleles of both sites share a haplotype.
double odds(double set, double site) {
    const double top = std::max(set, site), low = std::min(set, site);
    return log10_add(0, set + site) - (top + log10_add(0, low - top));
}

struct Observation {
    int64_t fragment;
    double ratio;  // log10 P(fragment | other allele) - log10 P(fragment | one allele)
};

// What each fragment of a sample says, in order of its first read. Where mates agree, the clearer one counts. Where
// they disagree, they cancel.
std::vector<Observation> observations(const SiteReads& reads, int sample, int one, int other) {
    std::vector<Observation> found;
    std::unordered_map<int64_t, size_t> at;
    for (int64_t row = reads.first(sample); row < reads.last(sample); ++row) {
        const double ratio = reads.row(row)[other] - reads.row(row)[one];
        const auto [place, is_first] = at.try_emplace(reads.fragment(row), found.size());
        if (is_first) {
            found.push_back({reads.fragment(row), ratio});
            continue;
        }
        double& strongest = found[place->second].ratio;
        if ((strongest > 0) != (ratio > 0)) strongest += ratio;
        else if (std::abs(ratio) > std::abs(strongest)) strongest = ratio;
    }
    return found;
}

}  // namespace

Phaser::Assignment Phaser::add(const SiteReads& reads, int sample, int one, int other) {
    const std::vector<Observation> site = observations(reads, sample, one, other);
    int64_t best = -1;
    double clearest = 0;
    for (size_t set = 0; set < sets_.size(); ++set) {
        double sum = 0;
        for (const Observation& seen : site) {
            const auto known = sets_[set].find(seen.fragment);
            if (known != sets_[set].end()) sum += odds(known->second, seen.ratio);
        }
        if (std::abs(sum) >= kPhasedOdds && std::abs(sum) > std::abs(clearest)) {
            best = static_cast<int64_t>(set);
            clearest = sum;
        }
    }
    const bool swapped = clearest < 0;
    if (best < 0) {
        best = static_cast<int64_t>(sets_.size());
        sets_.emplace_back();
    }
    for (const Observation& seen : site) sets_[best][seen.fragment] += swapped ? -seen.ratio : seen.ratio;
    return {best, swapped};
}

}  // namespace pairhmm
