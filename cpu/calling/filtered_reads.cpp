#include "calling/filtered_reads.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace pairhmm {

namespace {

// A sample that has reads over an extent, all of which are set aside: the first one, or -1.
int32_t emptied_sample(const ScoredRegion& region, const Extent& extent) {
    std::vector<int64_t> kept;  // [samples] -1: no read covers the extent
    for (int64_t read = 0; read < region.reads(); ++read) {
        if (!region.is_over(read, extent)) continue;
        const auto sample = static_cast<size_t>(region.sample[read]);
        if (kept.size() <= sample) kept.resize(sample + 1, -1);
        kept[sample] = std::max<int64_t>(kept[sample], 0) + !region.set_aside[read];
    }
    const auto first = std::find(kept.begin(), kept.end(), 0);
    return first == kept.end() ? -1 : static_cast<int32_t>(first - kept.begin());
}

bool is_covered(const ScoredRegion& region, const Extent& extent) {
    for (int64_t read = 0; read < region.reads(); ++read)
        if (region.is_over(read, extent)) return true;
    return false;
}

constexpr uint16_t kMate = 0x40 | 0x80;

// Reads over a base of another read of their sample, of the same name and mate. Parts of one read lie side by side.
std::vector<int64_t> namesakes_of(const ScoredRegion& region) {
    std::vector<int64_t> last(region.name_end.size(), -1), before(region.name_end.size(), -1);  // of the same name
    std::vector<int64_t> found;
    for (int64_t read = 0; read < region.reads(); ++read) {
        int64_t other = before[read] = std::exchange(last[region.fragment[read]], read);
        while (other >= 0 && (region.sample[other] != region.sample[read] ||
                              (region.flag[other] & kMate) != (region.flag[read] & kMate)))
            other = before[other];
        if (other >= 0 && region.start[read] < region.end[other]) found.push_back(read);
    }
    return found;
}

}  // namespace

void FilteredReads::add_namesakes(const ScoredRegion& region) {
    // Profiles of a molecule have its name.
    if (!region.members.empty()) return;
    const std::vector<int64_t> found = namesakes_of(region);
    namesakes += static_cast<int64_t>(found.size());
    if (found.empty() || !first_namesake.empty()) return;
    first_namesake = region.name(found.front());
}

void FilteredReads::add(const ScoredRegion& region) {
    int64_t aside = 0;
    for (int64_t read = 0; read < region.reads(); ++read) {
        if (!region.is_unfit(read)) continue;
        ++aside;
        bases += region.length[read];
    }
    reads += region.reads();
    set_aside += aside;
    add_namesakes(region);
    for (size_t site = 0; site < region.region.variants.size(); ++site) {
        const Variant& variant = region.region.variants[site];
        const Extent& extent = region.region.extents[site];
        if (variant.role != Role::kAsked || !is_covered(region, extent)) continue;
        ++sites;
        const int32_t sample = aside ? emptied_sample(region, extent) : -1;
        if (sample < 0) continue;
        ++emptied;
        if (!first_emptied) first_emptied = {variant.chrom + ":" + std::to_string(variant.pos + 1), sample};
    }
}

}  // namespace pairhmm
