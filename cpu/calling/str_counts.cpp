#include "calling/str_counts.hpp"

#include <algorithm>
#include <numeric>

#include "calling/cigar.hpp"

namespace pairhmm {

namespace {

// Aligned bases that a read has on both sides of a repeat, at least.
constexpr int64_t kFlankOfRepeat = 5;
// The least number of reads over a repeat.
constexpr int kLeastOverRepeat = 4;
// Bases in which repeats are found at once, at least.
constexpr int64_t kFoundAtOnce = 1 << 14;

bool is_spanned(const Tract& tract, int64_t start, int64_t end) {
    return start + kFlankOfRepeat <= tract.start && tract.end + kFlankOfRepeat <= end;
}

}  // namespace

void StrCounter::add(const std::string& chrom, const AlignedReads& aligned_reads, ReferenceBases& reference) {
    if (chrom != chrom_) {
        forget(tracts_.size());
        chrom_ = chrom;
        done_ = 0;
    }
    const Reads& reads = aligned_reads.reads;
    for (int64_t read = 0; read < reads.count; ++read) {
        const int64_t start = reads.start[read], end = aligned_reads.end[read];
        forget(first_from(start + kFlankOfRepeat));
        done_ = std::max(done_, start);
        // A gap at the end of a read may lie beside a repeat that begins there.
        find(end + 2, reference);
        count(start, end);
        for (int64_t c = reads.cigar_offset[read], at = start; c < reads.cigar_offset[read + 1]; ++c) {
            const uint32_t operation = reads.cigar[c] & 15;
            const int64_t length = reads.cigar[c] >> 4;
            if (operation == kInsert) count_change(at, length, start, end);
            if (operation == kDelete) count_change(at, -length, start, end);
            if (aligned(operation) || skips(operation)) at += length;
        }
    }
}

StrSites StrCounter::sites() const {
    StrSites sites = sites_;
    for (const Counted& counted : tracts_) add_site(counted, sites);
    return sites;
}

// Forgets the first repeats, which later reads don't span.
void StrCounter::forget(size_t count) {
    for (size_t i = 0; i < count; ++i) add_site(tracts_[i], sites_);
    tracts_.erase(tracts_.begin(), tracts_.begin() + static_cast<ptrdiff_t>(count));
}

// Finds the repeats that begin before an end.
void StrCounter::find(int64_t end, ReferenceBases& reference) {
    if (end <= done_) return;
    end = std::max(end, done_ + kFoundAtOnce);
    for (const Tract& tract : find_tracts(chrom_, done_, end, least_copies_, reference)) tracts_.push_back({tract});
    done_ = end;
}

size_t StrCounter::first_from(int64_t start) const {
    const auto found = std::lower_bound(tracts_.begin(), tracts_.end(), start,
                                        [](const Counted& one, int64_t at) { return one.tract.start < at; });
    return static_cast<size_t>(found - tracts_.begin());
}

// Counts a read, which is aligned to [start, end).
void StrCounter::count(int64_t start, int64_t end) {
    for (size_t i = first_from(start + kFlankOfRepeat); i < tracts_.size() && tracts_[i].tract.start < end; ++i)
        tracts_[i].reads[kMostChange] += is_spanned(tracts_[i].tract, start, end);
}

// Counts the change of a read by a gap, which stands before the base `at`. Alignments have a gap at the left end of its
// repeat, as a rule.
void StrCounter::count_change(int64_t at, int64_t size, int64_t start, int64_t end) {
    const size_t behind = first_from(at + 2);
    for (size_t i = behind; i > 0 && i + 2 > behind; --i) {
        Counted& counted = tracts_[i - 1];
        const Tract& tract = counted.tract;
        if (at + 1 < tract.start || at > tract.end || size % tract.unit != 0 || !is_spanned(tract, start, end))
            continue;
        const int64_t units = std::clamp<int64_t>(size / tract.unit, -kMostChange, kMostChange);
        ++counted.reads[static_cast<size_t>(kMostChange + units)];
        --counted.reads[kMostChange];
        return;
    }
}

void StrCounter::add_site(const Counted& counted, StrSites& sites) const {
    auto reads = counted.reads;
    for (int& one : reads) one = std::max(one, 0);
    const auto most = std::max_element(reads.begin(), reads.end());
    const int fewer = std::accumulate(reads.begin(), most, 0), more = std::accumulate(most + 1, reads.end(), 0);
    const int depth = fewer + *most + more;
    if (depth < kLeastOverRepeat) return;
    const int64_t copies = counted.tract.copies() + (most - reads.begin()) - kMostChange;
    const int known = static_cast<int>(std::clamp<int64_t>(copies, 1, most_copies_));
    ++sites[{counted.tract.unit, known, depth, fewer, more}];
}

}  // namespace pairhmm
