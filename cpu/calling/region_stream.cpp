#include "calling/region_stream.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "calling/carried_alleles.hpp"
#include "calling/checksum.hpp"

namespace pairhmm {

namespace {

// A batch has up to so many times the cells that were asked for, if one region has them. The reads of larger regions
// are divided: memory does not grow with depth.
constexpr double kLargestBatch = 10;
// Fewer reads have a word by their errors.
constexpr double kLeastShareOfWord = 0.02;

void move_to(std::deque<Region>& regions, std::vector<Region>&& more) {
    regions.insert(regions.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Whether a region is that of one long candidate alone.
bool is_long(const Region& region) {
    constexpr int64_t kLong = 1000;
    const auto is_nuisance = [](const Variant& variant) { return variant.role == Role::kNuisance; };
    const auto nuisances = std::count_if(region.variants.begin(), region.variants.end(), is_nuisance);
    return region.core_end - region.core_start > kLong && static_cast<int64_t>(region.variants.size()) == nuisances + 1;
}

// Drops the unlisted variants of a region that no read lies over.
void drop_unread(const AlignedReads& reads, const std::vector<int64_t>& chosen, Region& region) {
    size_t kept = 0;
    for (size_t i = 0; i < region.variants.size(); ++i) {
        const Extent extent = region.extents[i];
        const auto is_over = [&](int64_t read) { return overlap({reads.reads.start[read], reads.end[read]}, extent); };
        if (region.variants[i].role == Role::kNuisance && std::none_of(chosen.begin(), chosen.end(), is_over)) continue;
        if (kept != i) region.variants[kept] = std::move(region.variants[i]);
        region.extents[kept++] = extent;
    }
    region.variants.resize(kept);
    region.extents.resize(kept);
}

void add_read(const AlignedReads& reads, int64_t read, ScoredRegion& region) {
    region.names += reads.name(read);
    region.name_end.push_back(static_cast<int64_t>(region.names.size()));
    region.sample.push_back(reads.reads.sample[read]);
    region.flag.push_back(reads.flag[read]);
    region.mapq.push_back(reads.mapq[read]);
    const auto [start, end] = kept_extent(reads.reads, read);
    region.start.push_back(start);
    region.end.push_back(end);
    region.length.push_back(reads.length(read));
}

// The words of reads over a region that a share of them have, with their clips.
EdgeSet words_of(const AlignedReads& reads, const std::vector<int64_t>& chosen, const Region& region) {
    std::vector<uint64_t> words;
    for (const int64_t read : chosen) {
        int64_t first, last;
        cut_read(reads.reads, read, region.start, region.end, 0, first, last);
        const uint8_t* const base = reads.reads.base + reads.reads.base_offset[read];
        const std::vector<uint64_t> own = hashes_of_edges({base + first, last - first}, kWordLetters - 1);
        words.insert(words.end(), own.begin(), own.end());
    }
    std::sort(words.begin(), words.end());
    const auto least = static_cast<std::ptrdiff_t>(kLeastShareOfWord * static_cast<double>(chosen.size()));
    std::vector<uint64_t> shared;
    for (auto word = words.begin(); word != words.end();) {
        const auto next = std::upper_bound(word, words.end(), *word);
        if (next - word > least) shared.push_back(*word);
        word = next;
    }
    return EdgeSet(shared);
}

// Adds the cut reads before `end` to the last region of a batch, or the profiles of them, from `row` on. Profiles come
// in the order of their first reads, so those of a region follow each other. least: [cut reads]
void add_rows(const AlignedReads& reads, const CutSlices& cut, const std::vector<double>& least, int64_t end,
              int64_t& row, RegionBatch& batch) {
    ScoredRegion& region = batch.regions.back();
    const auto& joined = batch.joined;
    const auto rows = joined ? static_cast<int64_t>(joined->ends.size()) : cut.count();
    const auto first = [&] { return joined ? joined->member[joined->member_offset[row]] : row; };
    for (; row < rows && first() < end; ++row) {
        const int64_t read = cut.read[first()];
        if (joined) add_profile(reads, cut, *joined, row, region);
        else add_read(reads, read, region);
        for (const Variant& variant : region.region.variants)
            region.from_end.push_back(static_cast<int32_t>(bases_from_end(reads.reads, read, variant.pos)));
        batch.ends.push_back(joined && are_mates(*joined, row) ? 2 : 1);
        batch.least.push_back(least[first()]);
    }
    if (!joined) number_fragments(region);
}

// The alleles that fragments carry: [fragments][candidates]. Where its reads differ, none is known.
std::vector<int16_t> of_fragments(const AlignedReads& reads, const std::vector<int64_t>& chosen,
                                  const std::vector<int16_t>& carried) {
    const size_t width = chosen.empty() ? 0 : carried.size() / chosen.size();
    std::map<std::pair<int32_t, std::string_view>, size_t> number;
    std::vector<int16_t> alleles;
    for (size_t i = 0; i < chosen.size(); ++i) {
        const int16_t* row = carried.data() + i * width;
        const auto [at, is_new] =
            number.try_emplace({reads.reads.sample[chosen[i]], reads.name(chosen[i])}, number.size());
        if (is_new) {
            alleles.insert(alleles.end(), row, row + width);
            continue;
        }
        int16_t* own = alleles.data() + at->second * width;
        for (size_t site = 0; site < width; ++site) {
            if (own[site] == kUnknownAllele) own[site] = row[site];
            else if (row[site] != kUnknownAllele && row[site] != own[site]) own[site] = kUnknownAllele;
        }
    }
    return alleles;
}

}  // namespace

int64_t RegionBatch::pairs() const {
    int64_t pairs = 0;
    for (size_t i = 0; i < regions.size(); ++i) pairs += rows(i) * static_cast<int64_t>(regions[i].haplotypes.size());
    return pairs;
}

void RegionStream::push(const std::string& chrom, const AlignedReads& reads) {
    if (reads.reads.count == 0) return;
    block_chrom_ = chrom;
    block_ = reads;
}

std::optional<RegionBatch> RegionStream::next() {
    while (ready_.empty() && !open_)
        if (!advance()) return {};
    return batch();
}

// Makes regions ready, if it can. False where reads are needed, or at the end.
bool RegionStream::advance() {
    const bool is_other = block_ && block_chrom_ != buffer_.chrom();
    if (!is_contig_done_ && (is_other || (is_finished_ && !block_))) {
        if (introns_.has_rest()) take(introns_.rest());
        else finish_contig();
    } else if (block_) {
        if (is_other) buffer_.begin(block_chrom_);
        take(introns_.split(*block_));
        block_.reset();
    } else if (is_finished_) {
        move_to(ready_, source_.finish_all());
        return !ready_.empty();
    } else {
        if (may_forget_) forget();
        may_forget_ = false;
        return false;
    }
    return true;
}

void RegionStream::finish_contig() {
    ready_.swap(pending_);
    move_to(ready_, source_.finish(buffer_.chrom()));
    is_contig_done_ = true;
}

void RegionStream::take(const AlignedReads& aligned_reads) {
    const Reads& reads = aligned_reads.reads;
    if (reads.count == 0) return;
    const int64_t bases = reads.base_offset[reads.count];
    uint8_t highest = 0;  // this loop becomes vectors; that of std::max_element does not
    for (int64_t base = 0; base < bases; ++base) highest = std::max(highest, reads.quality[base]);
    if (bases) counts_.highest_quality = std::max<int>(counts_.highest_quality, highest);
    Intervals needed;
    if (auto intervals = source_.needed(buffer_.chrom(), reads)) needed.limit_to(std::move(*intervals));
    buffer_.append(aligned_reads, needed);
    frontier_ = reads.start[reads.count - 1];
    move_to(pending_, source_.advance(buffer_.chrom(), reads, frontier_));
    while (!pending_.empty() &&
           (pending_.front().core_end + kNeighbourhood <= frontier_ || pending_.front().chrom != buffer_.chrom())) {
        ready_.push_back(std::move(pending_.front()));
        pending_.pop_front();
    }
    is_contig_done_ = false;
    may_forget_ = true;
}

// Drops the reads that overlap no pending region, no open region and no later one.
void RegionStream::forget() {
    int64_t needed = frontier_ - 2 * kMaxShift;
    for (const Region& region : pending_) needed = std::min(needed, region.core_start);
    if (const auto open = source_.open_start()) needed = std::min(needed, *open);
    buffer_.forget(needed - kNeighbourhood);
}

// The cells of so many reads of a region.
double RegionStream::cells(const Task& task, size_t reads) const {
    int64_t letters = 0;
    for (const Haplotype& haplotype : task.scored.haplotypes)
        letters += static_cast<int64_t>(haplotype.sequence.size());
    const Region& region = task.scored.region;
    return static_cast<double>(reads) * static_cast<double>(region.end - region.start) * static_cast<double>(letters);
}

// The regions of the next batch, or a part of one. Profiles are made of all reads of a region together.
std::vector<RegionStream::Task> RegionStream::take_tasks() {
    std::vector<Task> tasks;
    const auto most = static_cast<double>(options_.max_cells);
    for (double all = 0; !open_ && !ready_.empty() && all <= most;) {
        Task next = task(std::move(ready_.front()));
        ready_.pop_front();
        const double more = cells(next, next.reads.size());
        all += more;
        if (more > kLargestBatch * most && !options_.joins_reads) open_ = std::move(next), open_at_ = 0;
        else tasks.push_back(std::move(next));
    }
    return tasks;
}

// The region that is open, with the next of its reads. With the last of them it is closed.
RegionStream::Task RegionStream::part_of_open() {
    const double most = kLargestBatch * static_cast<double>(options_.max_cells) / cells(*open_, 1);
    const auto begin = open_->reads.begin() + static_cast<std::ptrdiff_t>(open_at_);
    const size_t left = open_->reads.size() - open_at_,
                 count = std::min(left, static_cast<size_t>(std::max(1.0, most)));
    Task part{{}, {begin, begin + static_cast<std::ptrdiff_t>(count)}, open_->slack};
    part.scored.region = open_->scored.region;
    part.scored.haplotypes = open_->scored.haplotypes;
    part.scored.neighbours = std::exchange(open_->scored.neighbours, {});
    open_at_ += count;
    if (count == left) open_.reset();
    return part;
}

RegionBatch RegionStream::batch() {
    std::vector<Task> tasks = take_tasks();
    const AlignedReads reads = buffer_.view();
    RegionBatch batch;
    if (tasks.empty()) {
        tasks.push_back(part_of_open());
        batch.is_continued = open_.has_value();
    }
    const CutSlices slices = cut(reads, tasks, batch);
    add_cut_bases(reads, slices, batch);
    if (options_.joins_reads) batch.joined = join_slices(reads, slices, options_.join_mates);
    const auto least = least_scores(options_.qualities, slices.count(), batch.cut_offset.data(), batch.quals.data(),
                                    batch.mapq.data());
    int64_t row = 0;
    for (size_t i = 0; i < tasks.size(); ++i) {
        std::vector<ClippedRead>& clipped = batch.clipped[i];
        batch.regions.push_back(std::move(tasks[i].scored));
        add_rows(reads, slices, least, slices.region_read[i + 1] - static_cast<int64_t>(clipped.size()), row, batch);
        for (ClippedRead& one : clipped) one.least = least[row++];
    }
    return batch;
}

CutSlices RegionStream::cut(const AlignedReads& reads, const std::vector<Task>& tasks, RegionBatch& batch) const {
    CutSlices slices;
    for (const Task& task : tasks) {
        const Region& region = task.scored.region;
        const int64_t begin = slices.count();
        for (const int64_t read : task.reads) {
            int64_t first, last;
            cut_read(reads.reads, read, region.start, region.end, task.slack, first, last);
            if (last - first >= kMinCutLength) slices.add(read, first, last);
        }
        const int64_t end = slices.count();
        batch.cut_reads += end - begin;
        batch.clipped.emplace_back();
        // Profiles hold their clips.
        for (int64_t i = begin; i < end && !options_.joins_reads; ++i)
            if (const auto [leading, trailing] = slices.add_unclipped(reads.reads, i); leading + trailing > 0)
                batch.clipped.back().push_back({i - begin, leading, trailing});
        slices.region_read.push_back(slices.count());
    }
    return slices;
}

void RegionStream::add_cut_bases(const AlignedReads& reads, const CutSlices& cut, RegionBatch& batch) const {
    for (int64_t i = 0; i < cut.count(); ++i)
        batch.cut_offset.push_back(batch.cut_offset.back() + cut.last[i] - cut.first[i]);
    const auto gather = [&](const uint8_t* from, std::vector<uint8_t>& to) {
        if (!from) return;
        to.reserve(static_cast<size_t>(batch.cut_offset.back()));
        for (int64_t i = 0; i < cut.count(); ++i) {
            const uint8_t* base = from + reads.reads.base_offset[cut.read[i]];
            to.insert(to.end(), base + cut.first[i], base + cut.last[i]);
        }
    };
    gather(reads.reads.base, batch.bases);
    gather(reads.reads.quality, batch.quals);
    gather(reads.insertion, batch.insertion);
    gather(reads.deletion, batch.deletion);
    for (const int64_t read : cut.read) batch.mapq.push_back(reads.mapq[read]);
}

RegionStream::Task RegionStream::task(Region&& region) {
    Task task{{}, select(region), 0};
    if (options_.finds_neighbours && is_long(region)) drop_unread(buffer_.view(), task.reads, region);
    const std::string reference = reference_.fetch(region.chrom, region.haplotype_start, region.haplotype_end);
    if (given_) {
        task.scored.haplotypes = *given_;
    } else {
        const auto carried = [&](const Region& part) {
            const AlignedReads reads = buffer_.view();
            std::vector<int16_t> alleles = carried_alleles(reads, task.reads, part, reference);
            return options_.of_mixture ? of_fragments(reads, task.reads, alleles) : alleles;
        };
        const auto words = [&] { return words_of(buffer_.view(), task.reads, region); };
        task.scored.haplotypes = build_haplotypes(region, reference, options_.max_haplotypes, carried, words,
                                                  source_.discovers(), options_.of_mixture);
        for (const Haplotype& haplotype : task.scored.haplotypes)
            task.slack = std::max(
                task.slack, static_cast<int64_t>(reference.size()) - static_cast<int64_t>(haplotype.sequence.size()));
    }
    if (options_.finds_neighbours && !options_.of_mixture && !options_.joins_reads && buffer_.chrom() == region.chrom)
        task.scored.neighbours = finder_.near(buffer_, reference_, region.core_start, region.core_end);
    task.scored.region = std::move(region);
    return task;
}

// The reads of a region, or whose clips reach it. Profiles are of what is aligned.
std::vector<int64_t> RegionStream::reads_of(const Region& region) const {
    const auto [first, last] = region.of_reads();
    const int64_t start = first, end = last;
    if (options_.joins_reads || options_.of_mixture) return buffer_.over(start, end);
    std::vector<int64_t> reads = buffer_.over(start - kNeighbourhood, end + kNeighbourhood);
    const AlignedReads view = buffer_.view();
    // Genotypes of a long deletion are made from the reads at its ends.
    const bool at_ends = options_.finds_neighbours && is_long(region);
    const auto is_elsewhere = [&](int64_t read) {
        if (at_ends && view.reads.start[read] > start && view.end[read] < end) return true;
        const int64_t before = start - view.end[read], behind = view.reads.start[read] - end;
        if (before < 0 && behind < 0) return false;
        const auto [leading, trailing] = kept_clips(view.reads, read);
        return before >= trailing || behind >= leading;
    };
    reads.erase(std::remove_if(reads.begin(), reads.end(), is_elsewhere), reads.end());
    return reads;
}

// Those of them that are scored: at most `max_depth` of each sample.
std::vector<int64_t> RegionStream::select(const Region& region) {
    if (buffer_.chrom() != region.chrom) return {};
    std::vector<int64_t> reads = reads_of(region);
    const auto before = static_cast<int64_t>(reads.size());
    if (before <= options_.max_depth) return reads;
    const AlignedReads view = buffer_.view();
    // Mates share a name, so they are kept or dropped together. The order of the checksums is independent of alleles.
    std::vector<std::tuple<int32_t, uint32_t, int64_t>> order;
    for (const int64_t read : reads) order.emplace_back(view.reads.sample[read], checksum(view.name(read)), read);
    std::sort(order.begin(), order.end());
    reads.clear();
    int64_t rank = 0;
    for (size_t i = 0; i < order.size(); ++i) {
        rank = i && std::get<0>(order[i]) == std::get<0>(order[i - 1]) ? rank + 1 : 0;
        if (rank < options_.max_depth) reads.push_back(std::get<2>(order[i]));
    }
    std::sort(reads.begin(), reads.end());
    const auto kept = static_cast<int64_t>(reads.size());
    if (kept < before) {
        ++counts_.capped_regions;
        counts_.capped_reads += before - kept;
    }
    return reads;
}

std::vector<ScoredRegion> RegionStream::scored(RegionBatch&& batch, const double* log10, const uint8_t* precision) {
    int64_t read = 0;
    for (size_t i = 0; i < batch.regions.size(); ++i) {
        ScoredRegion& region = batch.regions[i];
        const int64_t width = static_cast<int64_t>(region.haplotypes.size());
        const int64_t pairs = region.reads() * width, all = batch.rows(i) * width;
        region.log10.assign(log10, log10 + pairs);
        region.precision.assign(precision, precision + pairs);
        drop_foreign_clips(region, batch.clipped[i], log10 + pairs, precision + pairs, batch.least.data() + read);
        set_aside(region, batch.ends.data() + read, batch.least.data() + read, options_.error_rate);
        const auto circle = options_.circles.find(region.region.chrom);
        if (circle != options_.circles.end()) turn_back(region, circle->second);
        log10 += all;
        precision += all;
        read += region.reads();
        counts_.pairs += all;
    }
    counts_.reads += batch.cut_reads;
    if (part_ || batch.is_continued) hold_part(batch.regions, batch.is_continued);
    counts_.regions += static_cast<int64_t>(batch.regions.size());
    return std::move(batch.regions);
}

// Joins the part of a region that a batch has to those before. Without the last part, there is no region yet.
void RegionStream::hold_part(std::vector<ScoredRegion>& regions, bool is_continued) {
    if (part_) add_reads(*part_, std::move(regions.front()));
    else part_ = std::move(regions.front());
    regions.clear();
    if (is_continued) return;
    number_fragments(*part_);
    regions.push_back(*std::exchange(part_, std::nullopt));
}

}  // namespace pairhmm
