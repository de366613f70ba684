#include "calling/reference_walk.hpp"

#include <algorithm>

#include "calling/checksum.hpp"
#include "calling/letters.hpp"
#include "simd/failures.hpp"

namespace pairhmm {

namespace {

// Bases that are fetched at once to name those of blocks.
constexpr int64_t kFetched = 1 << 14;

std::vector<uint32_t> name_checksums(std::string_view names, const int64_t* name_end, int64_t count) {
    std::vector<uint32_t> checksums;
    int64_t begin = 0;
    for (int64_t read = 0; read < count; begin = name_end[read++])
        checksums.push_back(checksum(names.substr(static_cast<size_t>(begin),  //
                                                  static_cast<size_t>(name_end[read] - begin))));
    return checksums;
}

}  // namespace

ReferenceWalk::ReferenceWalk(ReferenceBases& reference, std::vector<std::string> contigs,
                             std::vector<PloidyInterval> intervals, int min_base_quality, std::vector<int> limits,
                             std::map<std::string, int64_t> circles)
    : reference_(reference),
      contigs_(std::move(contigs)),
      intervals_(std::move(intervals)),
      min_base_quality_(min_base_quality),
      limits_(std::move(limits)),
      circles_(std::move(circles)) {
    for (size_t i = 0; i < contigs_.size(); ++i) number_.emplace(contigs_[i], static_cast<int>(i));
    for (PloidyInterval& one : intervals_) one.start = std::max<int64_t>(0, one.start);
}

int ReferenceWalk::number_of(const std::string& chrom) const {
    const auto number = number_.find(chrom);
    if (number == number_.end()) invalid_argument("chrom: no contig of the run");
    return number->second;
}

void ReferenceWalk::add(const std::string& chrom, const Reads& reads, const int64_t* read_end, std::string_view names,
                        const int64_t* name_end) {
    const int contig = number_of(chrom);
    const bool is_needed = std::any_of(intervals_.begin() + static_cast<ptrdiff_t>(next_), intervals_.end(),
                                       [&](const PloidyInterval& interval) { return interval.contig == contig; });
    const auto pieces = covered(reads);
    if (pieces.empty() || !is_needed) return;
    std::vector<std::string> letters;
    ReferenceWindows windows;
    // Repeats at the ends of reads show only behind them.
    for (const auto& [start, end] : pieces) {
        letters.push_back(reference_.fetch(chrom, start, end + kMaxShift));
        std::transform(letters.back().begin(), letters.back().end(), letters.back().begin(), code_of);
    }
    for (size_t i = 0; i < pieces.size(); ++i)
        windows.windows.push_back({pieces[i].first, static_cast<int64_t>(letters[i].size()),
                                   reinterpret_cast<const uint8_t*>(letters[i].data())});
    const std::vector<uint32_t> fragment = name_checksums(names, name_end, reads.count);
    counts_.try_emplace(contig, min_base_quality_).first->second.add(reads, read_end, fragment.data(), windows);
}

void ReferenceWalk::until(Place target, RecordLines& lines) {
    for (; next_ < intervals_.size(); ++next_) {
        const PloidyInterval& interval = intervals_[next_];
        const int64_t start = done_.first == interval.contig ? std::max(interval.start, done_.second) : interval.start;
        const int64_t stop = interval.contig < target.first    ? interval.end
                             : interval.contig == target.first ? std::min(interval.end, target.second)
                                                               : start;
        if (start < stop) take(interval, start, stop, lines);
        if (Place{interval.contig, interval.end} > target) break;
    }
    counts_.erase(counts_.begin(), counts_.lower_bound(target.first));
    done_ = std::max(done_, target);
}

void ReferenceWalk::take(const PloidyInterval& interval, int64_t start, int64_t stop, RecordLines& lines) {
    PlacedBlock placed{contigs_[interval.contig], 'N', interval.ploidy, {}};
    const auto circle = circles_.find(placed.chrom);
    const int64_t turn = circle == circles_.end() ? 0 : circle->second;
    ReferenceConfidence& counts = counts_.try_emplace(interval.contig, min_base_quality_).first->second;
    for (const ReferenceBlock& block : counts.take(start + turn, stop + turn, limits_, interval.ploidy == 1)) {
        placed.block = block;
        placed.block.start -= turn;
        placed.block.end -= turn;
        placed.base = base_at(interval, placed.block.start);
        lines.append(placed);
    }
}

char ReferenceWalk::base_at(const PloidyInterval& interval, int64_t position) {
    const int64_t offset = position - bases_begin_.second;
    if (bases_begin_.first != interval.contig || offset < 0 || offset >= static_cast<int64_t>(bases_.size())) {
        const int64_t end = std::min(interval.end, position + kFetched);
        bases_ = reference_.fetch(contigs_[interval.contig], position, end);
        bases_begin_ = {interval.contig, position};
        return bases_.empty() ? 'N' : bases_[0];
    }
    return bases_[static_cast<size_t>(offset)];
}

void append_records(const std::vector<Site>& sites, const RecordFormat& format, ReferenceWalk* walk,
                    RecordLines& lines) {
    for (const Site& site : sites) {
        const bool is_written = walk == nullptr || site.variant.pos >= 0;
        if (walk != nullptr && is_written) walk->until(site.variant.chrom, site.variant.pos, lines);
        if (is_written) lines.append(site, format);
        if (walk != nullptr) walk->pass_over(site.variant.chrom, site.variant.end());
    }
}

}  // namespace pairhmm
