#include "calling/region_sources.hpp"

#include <algorithm>

#include "calling/neighbours.hpp"

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

// Adds an interval to some in order of start that do not overlap. It begins behind the last ones, or overlaps them.
void add_interval(std::vector<std::pair<int64_t, int64_t>>& intervals, int64_t start, int64_t end) {
    for (; !intervals.empty() && start <= intervals.back().second; intervals.pop_back()) {
        start = std::min(start, intervals.back().first);
        end = std::max(end, intervals.back().second);
    }
    intervals.emplace_back(start, end);
}

// Drops intervals before a position.
void drop_passed(std::vector<std::pair<int64_t, int64_t>>& intervals, int64_t position) {
    const auto passed = std::find_if(intervals.begin(), intervals.end(),
                                     [&](const auto& interval) { return interval.second > position; });
    intervals.erase(intervals.begin(), passed);
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
      margin_(builder_.options().margin()) {
    ahead(0);  // a list that can't be read is refused at once
}

std::optional<std::vector<std::pair<int64_t, int64_t>>> ListedRegions::needed(const std::string& chrom,
                                                                              const Reads& reads) {
    widen_windows(chrom, reads);
    return needed_;
}

std::vector<Region> ListedRegions::advance(const std::string& chrom, const Reads& reads, int64_t frontier) {
    widen_windows(chrom, reads);
    unlisted_.scan(chrom, reads, windows_);
    join({rank_.at(chrom), frontier});
    close(builder_.advance(chrom, frontier));
    // Unlisted deletions may widen a region.
    const int64_t settled = unlisted_.settled(), reach = kMostDeleted + margin_;
    std::vector<Region> regions;
    while (!joined_.empty() && (joined_.front().chrom != chrom || joined_.front().core_end + reach <= settled))
        take(regions);
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
        needed_.clear();
    }
    int64_t reach = 0;
    for (int64_t read = 0; read < reads.count; ++read) reach = std::max(reach, read_end(reads, read));
    // An extent begins up to kMaxShift bases before its record.
    const Locus behind{rank, reach + margin_ + kMaxShift};
    for (const Listed* listed; (listed = ahead(windowed_)) != nullptr && listed->locus < behind; ++windowed_) {
        if (listed->locus.first != rank) continue;
        const auto [start, end] = listed->extent;
        const int64_t near = std::max(builder_.options().join_distance, kNeighbourhood);
        add_interval(windows_, start - margin_, end + margin_);
        add_interval(needed_, start - near, end + near);
    }
}

// Drops windows and unlisted variants that nothing needs any more.
void ListedRegions::forget(int64_t settled) {
    drop_passed(windows_, settled);
    drop_passed(needed_, settled);
    int64_t needed = settled - margin_;
    for (const Region& region : joined_) needed = std::min(needed, region.start);
    if (const auto start = builder_.open_start()) needed = std::min(needed, *start - margin_);
    unlisted_.forget(needed - kMostDeleted - margin_);
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
        unlisted_.add_to(regions.back(), builder_);
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
