#include "calling/region_sources.hpp"

#include <algorithm>

namespace pairhmm {

namespace {

std::map<std::string, int64_t> ranks(const ContigLengths& contigs) {
    std::map<std::string, int64_t> rank;
    for (const auto& [chrom, length] : contigs) rank.emplace(chrom, static_cast<int64_t>(rank.size()));
    return rank;
}

// A candidate outside the requested intervals is context.
Variant placed(Variant variant, const GenomeIntervals& requested) {
    if (!requested.have(variant.chrom, variant.pos)) variant.role = Role::kContext;
    return variant;
}

// Whether the genotype of at least one candidate is asked for.
bool is_requested(const Region& region) {
    return std::any_of(region.variants.begin(), region.variants.end(),
                       [](const Variant& variant) { return variant.role == Role::kAsked; });
}

void add_requested(std::vector<Region>& regions, std::optional<Region> region) {
    if (region && is_requested(*region)) regions.push_back(std::move(*region));
}

}  // namespace

std::vector<Region> DiscoveredRegions::advance(const std::string& chrom, const Reads& reads, int64_t) {
    std::vector<Region> regions = join(finder_.scan(chrom, reads));
    add_requested(regions, builder_.advance(chrom, finder_.settled()));
    return regions;
}

std::vector<Region> DiscoveredRegions::finish(const std::string&) {
    std::vector<Region> regions = join(finder_.finish());
    add_requested(regions, builder_.finish());
    return regions;
}

std::optional<int64_t> DiscoveredRegions::open_start() const {
    const int64_t later = finder_.settled() - 2 * kMaxShift;
    return std::min(later, builder_.open_start().value_or(later));
}

std::vector<Region> DiscoveredRegions::join(std::vector<Variant> variants) {
    std::vector<Region> regions;
    for (Variant& variant : variants)
        if (padded_.have(variant.chrom, variant.pos))
            add_requested(regions, builder_.push(placed(std::move(variant), requested_)));
    return regions;
}

ListedRegions::ListedRegions(Next next, CandidateFinder finder, RegionBuilder builder, ReferenceBases& reference,
                             const ContigLengths& contigs, GenomeIntervals requested)
    : next_(std::move(next)),
      unlisted_(std::move(finder), reference),
      builder_(std::move(builder)),
      reference_(reference),
      requested_(std::move(requested)),
      rank_(ranks(contigs)),
      margin_(std::max(builder_.options().flank, builder_.options().join_distance)) {
    ahead(0);  // a list that can't be read is refused at once
}

std::optional<std::vector<std::pair<int64_t, int64_t>>> ListedRegions::needed(const std::string& chrom,
                                                                              const Reads& reads) {
    widen_windows(chrom, reads);
    const int64_t beyond = margin_ - builder_.options().join_distance;
    std::vector<std::pair<int64_t, int64_t>> intervals = windows_;
    for (auto& [start, end] : intervals) start += beyond, end -= beyond;
    return intervals;
}

std::vector<Region> ListedRegions::advance(const std::string& chrom, const Reads& reads, int64_t frontier) {
    widen_windows(chrom, reads);
    unlisted_.scan(chrom, reads, windows_);
    join({rank_.at(chrom), frontier});
    close(builder_.advance(chrom, frontier));
    const int64_t settled = unlisted_.settled();
    std::vector<Region> regions;
    while (!joined_.empty() && (joined_.front().chrom != chrom || joined_.front().end <= settled)) take(regions);
    forget(settled);
    return regions;
}

std::vector<Region> ListedRegions::finish(const std::string& chrom) {
    unlisted_.finish();
    join({rank_.at(chrom) + 1, 0});
    return rest();
}

std::vector<Region> ListedRegions::finish_all() {
    join({static_cast<int64_t>(rank_.size()), 0});
    return rest();
}

std::optional<int64_t> ListedRegions::open_start() const {
    std::optional<int64_t> start = builder_.open_start();
    for (const Region& region : joined_) start = std::min(region.core_start, start.value_or(region.core_start));
    return start;
}

// The candidate behind so many others that are not joined yet, or nullptr.
const ListedRegions::Listed* ListedRegions::ahead(size_t number) {
    while (has_more_ && ahead_.size() <= number) {
        std::vector<Variant> variants = next_();
        has_more_ = !variants.empty();
        for (Variant& variant : variants) {
            const Extent extent = variant_extent(variant, reference_);
            const Locus locus{rank_.at(variant.chrom), variant.pos};
            ahead_.push_back({locus, std::move(variant), extent});
        }
    }
    return number < ahead_.size() ? &ahead_[number] : nullptr;
}

// Adds the windows of a contig that the reads of a block may reach.
void ListedRegions::widen_windows(const std::string& chrom, const Reads& reads) {
    const int64_t rank = rank_.at(chrom);
    if (rank != windows_rank_) {
        windows_rank_ = rank;
        windows_.clear();
    }
    int64_t reach = 0;
    for (int64_t read = 0; read < reads.count; ++read) reach = std::max(reach, read_end(reads, read));
    // An extent begins up to kMaxShift bases before its record.
    const Locus behind{rank, reach + margin_ + kMaxShift};
    for (const Listed* listed; (listed = ahead(windowed_)) != nullptr && listed->locus < behind; ++windowed_) {
        if (listed->locus.first != rank) continue;
        int64_t start = listed->extent.start - margin_, end = listed->extent.end + margin_;
        for (; !windows_.empty() && start <= windows_.back().second; windows_.pop_back()) {
            start = std::min(start, windows_.back().first);
            end = std::max(end, windows_.back().second);
        }
        windows_.emplace_back(start, end);
    }
}

// Drops windows and unlisted variants that nothing needs any more.
void ListedRegions::forget(int64_t settled) {
    const auto passed =
        std::find_if(windows_.begin(), windows_.end(), [&](const auto& window) { return window.second > settled; });
    windows_.erase(windows_.begin(), passed);
    const int64_t flank = builder_.options().flank;
    int64_t needed = settled - flank;
    for (const Region& region : joined_) needed = std::min(needed, region.start);
    if (const auto start = builder_.open_start()) needed = std::min(needed, *start - flank);
    unlisted_.forget(needed - 2 * kMaxShift);
}

// Joins the listed candidates before a locus.
void ListedRegions::join(const Locus& before) {
    while (const Listed* listed = ahead(0)) {
        if (!(listed->locus < before)) break;
        close(builder_.push(placed(listed->variant, requested_), listed->extent));
        ahead_.pop_front();
        if (windowed_ > 0) --windowed_;
    }
}

void ListedRegions::close(std::optional<Region> region) {
    if (region) joined_.push_back(std::move(*region));
}

// Moves the first region whose candidates are complete to those that are given, unless nothing is asked for in it.
void ListedRegions::take(std::vector<Region>& regions) {
    if (is_requested(joined_.front())) {
        regions.push_back(std::move(joined_.front()));
        unlisted_.add_to(regions.back());
    }
    joined_.pop_front();
}

std::vector<Region> ListedRegions::rest() {
    close(builder_.finish());
    std::vector<Region> regions;
    while (!joined_.empty()) take(regions);
    return regions;
}

GivenRegion::GivenRegion(Region region, const ContigLengths& contigs)
    : region_(std::move(region)), rank_(ranks(contigs)) {}

std::vector<Region> GivenRegion::advance(const std::string& chrom, const Reads&, int64_t frontier) {
    const bool is_reached = region_ && std::pair(rank_.at(region_->chrom), region_->core_start - 2 * kMaxShift) <
                                           std::pair(rank_.at(chrom), frontier);
    return is_reached ? finish_all() : std::vector<Region>();
}

std::vector<Region> GivenRegion::finish(const std::string& chrom) {
    return region_ && rank_.at(region_->chrom) <= rank_.at(chrom) ? finish_all() : std::vector<Region>();
}

std::vector<Region> GivenRegion::finish_all() {
    std::vector<Region> regions;
    if (region_) regions.push_back(std::move(*region_));
    region_.reset();
    return regions;
}

}  // namespace pairhmm
