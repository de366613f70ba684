#include "calling/read_buffer.hpp"

#include <algorithm>
#include <utility>

namespace pairhmm {

namespace {

// In place of indel qualities of reads that have none of their own.
constexpr uint8_t kNoQuality = 255;

template <class T>
void append(std::vector<T>& values, const T* from, int64_t first, int64_t last) {
    values.insert(values.end(), from + first, from + last);
}

// Where parts end behind those that are there already: [first, last) of `end`, the first of which begins at `begin`.
void append_ends(std::vector<int64_t>& ends, int64_t offset, const int64_t* end, int64_t begin, int64_t first,
                 int64_t last) {
    for (int64_t i = first; i < last; ++i) ends.push_back(offset + end[i] - begin);
}

// The same, and the letters of the parts.
void append_text(std::string& text, std::vector<int64_t>& ends, const char* from, const int64_t* end, int64_t first,
                 int64_t last) {
    const int64_t begin = first ? end[first - 1] : 0;
    append_ends(ends, static_cast<int64_t>(text.size()), end, begin, first, last);
    text.append(from + begin, from + end[last - 1]);
}

}  // namespace

AlignedReads ReadBuffer::view() const {
    const bool has_indel_qualities = !insertion_.empty();
    return {{static_cast<int64_t>(start_.size()), start_.data(), sample_.data(), base_offset_.data(), base_.data(),
             quality_.data(), cigar_offset_.data(), cigar_.data()},
            end_.data(),
            flag_.data(),
            mapq_.data(),
            names_.data(),
            name_end_.data(),
            has_molecules_ ? molecules_.data() : nullptr,
            has_molecules_ ? molecule_end_.data() : nullptr,
            has_indel_qualities ? insertion_.data() : nullptr,
            has_indel_qualities ? deletion_.data() : nullptr};
}

void ReadBuffer::begin(std::string chrom) {
    *this = ReadBuffer();
    chrom_ = std::move(chrom);
}

void ReadBuffer::append(const AlignedReads& block, const Intervals& wanted) {
    size_t near = 0;
    append_where(block, [&](int64_t read) { return wanted.touch(block.reads.start[read], block.end[read], near); });
}

void ReadBuffer::forget(int64_t position) {
    if (base_.size() < most_bases_) return;
    ReadBuffer kept;
    kept.chrom_ = std::move(chrom_);
    kept.append_where(view(), [&](int64_t read) { return end_[read] > position; });
    kept.most_bases_ = 2 * kept.base_.size();
    *this = std::move(kept);
}

std::vector<int64_t> ReadBuffer::over(int64_t start, int64_t end) const {
    const auto first = std::lower_bound(start_.begin(), start_.end(), start - reach_) - start_.begin();
    const auto last = std::lower_bound(start_.begin(), start_.end(), end) - start_.begin();
    std::vector<int64_t> found;
    for (int64_t read = first; read < last; ++read)
        if (end_[read] > start) found.push_back(read);
    return found;
}

template <class Predicate>
void ReadBuffer::append_where(const AlignedReads& block, Predicate&& is_wanted) {
    for (int64_t first = 0, last; first < block.reads.count; first = last + 1) {
        for (last = first; last < block.reads.count && is_wanted(last);) ++last;
        if (first < last) append_run(block, first, last);
    }
}

void ReadBuffer::append_run(const AlignedReads& block, int64_t first, int64_t last) {
    const Reads& reads = block.reads;
    const int64_t base = reads.base_offset[first], base_end = reads.base_offset[last];
    const int64_t cigar = reads.cigar_offset[first];
    append_molecules(block, first, last);
    append_indel_qualities(block, base, base_end);
    for (int64_t read = first; read < last; ++read) reach_ = std::max(reach_, block.end[read] - reads.start[read]);
    pairhmm::append(start_, reads.start, first, last);
    pairhmm::append(end_, block.end, first, last);
    pairhmm::append(sample_, reads.sample, first, last);
    pairhmm::append(flag_, block.flag, first, last);
    pairhmm::append(mapq_, block.mapq, first, last);
    append_ends(base_offset_, base_offset_.back(), reads.base_offset + 1, base, first, last);
    pairhmm::append(base_, reads.base, base, base_end);
    pairhmm::append(quality_, reads.quality, base, base_end);
    append_ends(cigar_offset_, cigar_offset_.back(), reads.cigar_offset + 1, cigar, first, last);
    pairhmm::append(cigar_, reads.cigar, cigar, reads.cigar_offset[last]);
    append_text(names_, name_end_, block.names, block.name_end, first, last);
}

// Molecules are known where all reads have them.
void ReadBuffer::append_molecules(const AlignedReads& block, int64_t first, int64_t last) {
    has_molecules_ = block.molecules && (has_molecules_ || start_.empty());
    if (has_molecules_) append_text(molecules_, molecule_end_, block.molecules, block.molecule_end, first, last);
}

void ReadBuffer::append_indel_qualities(const AlignedReads& block, int64_t base, int64_t base_end) {
    if (!block.insertion && insertion_.empty()) return;
    for (auto [values, from] : {std::pair(&insertion_, block.insertion), {&deletion_, block.deletion}}) {
        values->resize(base_.size(), kNoQuality);
        if (from) pairhmm::append(*values, from, base, base_end);
        else values->resize(base_.size() + (base_end - base), kNoQuality);
    }
}

}  // namespace pairhmm
