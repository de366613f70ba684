#include "calling/regions.hpp"

#include <algorithm>

#include "calling/repeats.hpp"

namespace pairhmm {

namespace {

// In as many letters N, reads have room to match without a letter of theirs.
constexpr int64_t kUnknownRun = 20;

// Where the first long run of N behind a place begins, or the end.
int64_t before_unknown(const std::string& letters, int64_t first, int64_t end) {
    int64_t run = 0;
    for (int64_t i = first; i < end; ++i) {
        run = letters[i] == 'N' ? run + 1 : 0;
        if (run == kUnknownRun) return i + 1 - run;
    }
    return end;
}

}  // namespace

Extent Region::of_reads() const {
    Extent whole{core_start, core_end};
    for (size_t i = 0; i < variants.size(); ++i) {
        if (variants[i].role != Role::kNuisance) continue;
        if (overlap(surely_deleted(variants[i], extents[i]), {core_start, core_end}))
            whole = span_of(whole, extents[i]);
    }
    return whole;
}

RegionBuilder::RegionBuilder(ReferenceBases& reference, std::map<std::string, int64_t> contig_length,
                             RegionOptions options)
    : reference_(reference), contig_length_(std::move(contig_length)), options_(options) {}

std::optional<Region> RegionBuilder::push(Variant variant, std::optional<Extent> known) {
    const Extent extent = known ? *known : variant_extent(variant, reference_), core = core_of(variant, extent);
    std::optional<Region> closed;
    if (!variants_.empty() && !joins(variant, extent))
        closed = close(variant.chrom == variants_.front().chrom ? std::optional<int64_t>(core.start) : std::nullopt);
    core_start_ = variants_.empty() ? core.start : std::min(core_start_, core.start);
    core_end_ = variants_.empty() ? core.end : std::max(core_end_, core.end);
    joined_until_ = std::max(joined_until_, variant.joined_until);
    alleles_ += static_cast<int64_t>(variant.alts.size());
    variants_.push_back(std::move(variant));
    extents_.push_back(extent);
    return closed;
}

std::optional<Region> RegionBuilder::advance(const std::string& chrom, int64_t frontier) {
    if (variants_.empty()) return {};
    // An indel's extent begins at most kMaxShift bases before its record.
    const int64_t reach = std::max(core_end_, joined_until_) + options_.margin() + kMaxShift;
    return variants_.front().chrom != chrom || frontier > reach ? finish() : std::nullopt;
}

std::optional<Region> RegionBuilder::finish() {
    return variants_.empty() ? std::nullopt : std::optional<Region>(close({}));
}

std::optional<int64_t> RegionBuilder::open_start() const {
    return variants_.empty() ? std::nullopt : std::optional<int64_t>(core_start_);
}

// What a candidate adds to the core of its region: its window, and what of its extent lies outside.
Extent RegionBuilder::core_of(const Variant& variant, const Extent& extent) const {
    if (options_.window == 0) return extent;
    const int64_t start = variant.pos / options_.window * options_.window;
    const int64_t end = std::min(start + options_.window, contig_length_.at(variant.chrom));
    return span_of({start, end}, extent);
}

bool RegionBuilder::joins(const Variant& variant, const Extent& extent) const {
    if (options_.window > 0)
        return variant.chrom == variants_.back().chrom &&
               variant.pos / options_.window == variants_.back().pos / options_.window;
    // An indel stays with the SNV of the base before it: a gVCF has one record of them.
    const Variant& last = variants_.back();
    if (variant.chrom == last.chrom && variant.pos == last.pos && is_snv(last) && !is_snv(variant)) return true;
    const int64_t span = std::max(core_end_, extent.end) - std::min(core_start_, extent.start);
    // Long ones that nearly coincide are rivals for the same reads. What lies under one that reads show makes it no
    // longer.
    const int64_t open = core_end_ - core_start_, shorter = std::min(open, extent.end - extent.start);
    const int64_t shown = open <= options_.max_span + 2 * options_.join_distance ? open : 0;
    return variant.chrom == last.chrom &&
           (extent.start - core_end_ <= options_.join_distance || variant.pos < joined_until_) &&
           span <= std::max({options_.max_span, shorter + options_.join_distance, shown}) &&
           alleles_ + static_cast<int64_t>(variant.alts.size()) <= options_.max_alleles;
}

void RegionBuilder::widen(Region& region, const Extent& extent) const {
    const auto [start, end] = flanked(region.chrom, extent);
    region.start = std::min(region.start, start);
    region.end = std::max(region.end, end);
    region.haplotype_start = std::min(region.haplotype_start, std::max<int64_t>(0, start - options_.pad));
    region.haplotype_end =
        std::max(region.haplotype_end, std::min(contig_length_.at(region.chrom), end + options_.pad));
}

// A core with its flanks. These end outside repeats: reads that are cut inside one do not show how long it is. They end
// before long runs of N, in which every read would fit whole.
Extent RegionBuilder::flanked(const std::string& chrom, const Extent& core) const {
    const int64_t first = std::max<int64_t>(0, core.start - options_.flank);
    const int64_t last = std::min(contig_length_.at(chrom), core.end + options_.flank);
    const int64_t from = std::max<int64_t>(0, first - kRepeatReach);
    const std::string bases = reference_.fetch(chrom, from, last + kRepeatReach);
    const std::string reversed(bases.rbegin(), bases.rend());
    const auto size = static_cast<int64_t>(bases.size());
    const auto end_of = [&](const std::string& letters, int64_t core_end, int64_t flank_end) {
        return before_unknown(letters, core_end + options_.min_flank, behind_repeats(letters, flank_end));
    };
    return {from + size - end_of(reversed, from + size - core.start, from + size - first),
            from + end_of(bases, core.end - from, last - from)};
}

// Closes the open region. The candidates of the next one on its contig begin at `next_start`.
Region RegionBuilder::close(std::optional<int64_t> next_start) {
    Region region;
    region.chrom = variants_.front().chrom;
    region.core_start = core_start_;
    region.core_end = core_end_;
    const int64_t length = contig_length_.at(region.chrom);
    int64_t first = 0, last = length;
    if (previous_chrom_ == region.chrom)
        // Regions stay in order of start, even where an indel can be shifted to before the last region.
        first = std::max(std::min(previous_core_end_, core_start_ - options_.min_flank), previous_start_);
    if (next_start) last = std::max(*next_start, core_end_ + options_.min_flank);
    // Haplotypes don't depend on the neighbours: they span the whole flanks.
    const auto [start, end] = flanked(region.chrom, {core_start_, core_end_});
    region.start = std::max(start, first);
    region.end = std::min(end, last);
    region.haplotype_start = std::max<int64_t>(0, start - options_.pad);
    region.haplotype_end = std::min(length, end + options_.pad);
    region.variants = std::move(variants_);
    region.extents = std::move(extents_);
    previous_chrom_ = region.chrom;
    previous_start_ = region.start;
    previous_core_end_ = core_end_;
    variants_.clear();
    extents_.clear();
    alleles_ = joined_until_ = 0;
    return region;
}

}  // namespace pairhmm
