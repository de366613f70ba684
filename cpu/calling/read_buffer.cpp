#include "calling/read_buffer.hpp"

#include <algorithm>
#include <utility>

#include "calling/kept_runs.hpp"

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

AlignedReads ReadColumns::view() const {
    const bool has_indel_qualities = !insertion.empty();
    return {{static_cast<int64_t>(start.size()), start.data(), sample.data(), base_offset.data(), base.data(),
             quality.data(), cigar_offset.data(), cigar.data(), flag.data(), has_molecules ? molecules.data() : nullptr,
             has_molecules ? molecule_end.data() : nullptr},
            end.data(),
            flag.data(),
            mapq.data(),
            names.data(),
            name_end.data(),
            has_indel_qualities ? insertion.data() : nullptr,
            has_indel_qualities ? deletion.data() : nullptr};
}

void ReadColumns::clear() {
    for (auto* values : {&start, &end, &name_end, &molecule_end}) values->clear();
    for (auto* offset : {&base_offset, &cigar_offset}) offset->assign(1, 0);
    for (auto* bytes : {&mapq, &base, &quality, &insertion, &deletion}) bytes->clear();
    sample.clear(), flag.clear(), cigar.clear(), names.clear(), molecules.clear();
    has_molecules = false;
    reach = 0;
}

template <class Predicate>
void ReadColumns::append_where(const AlignedReads& block, Predicate&& is_wanted) {
    for (const auto& [first, last] : kept_runs(block.reads.count, is_wanted)) append_run(block, first, last);
}

void ReadColumns::forget(int64_t position) {
    const KeptRuns runs =
        kept_runs(static_cast<int64_t>(start.size()), [&](int64_t read) { return end[read] > position; });
    const KeptRuns bases = parts_of(runs, base_offset);
    for (auto* bytes : {&base, &quality, &insertion, &deletion})
        if (!bytes->empty()) keep(*bytes, bases);
    keep(cigar, parts_of(runs, cigar_offset));
    for (auto* offset : {&base_offset, &cigar_offset}) keep_offsets(*offset, runs);
    keep(names, ended_parts(runs, name_end));
    keep_ends(name_end, runs);
    if (has_molecules) {
        keep(molecules, ended_parts(runs, molecule_end));
        keep_ends(molecule_end, runs);
    }
    for (auto* values : {&start, &end}) keep(*values, runs);
    keep(sample, runs), keep(flag, runs), keep(mapq, runs);
    reach = 0;
    for (size_t read = 0; read < start.size(); ++read) reach = std::max(reach, end[read] - start[read]);
}

void ReadColumns::append_run(const AlignedReads& block, int64_t first, int64_t last) {
    const Reads& reads = block.reads;
    const int64_t first_base = reads.base_offset[first], last_base = reads.base_offset[last];
    const int64_t first_operation = reads.cigar_offset[first];
    append_molecules(block, first, last);
    append_indel_qualities(block, first_base, last_base);
    for (int64_t read = first; read < last; ++read) reach = std::max(reach, block.end[read] - reads.start[read]);
    pairhmm::append(start, reads.start, first, last);
    pairhmm::append(end, block.end, first, last);
    pairhmm::append(sample, reads.sample, first, last);
    pairhmm::append(flag, block.flag, first, last);
    pairhmm::append(mapq, block.mapq, first, last);
    append_ends(base_offset, base_offset.back(), reads.base_offset + 1, first_base, first, last);
    pairhmm::append(base, reads.base, first_base, last_base);
    pairhmm::append(quality, reads.quality, first_base, last_base);
    append_ends(cigar_offset, cigar_offset.back(), reads.cigar_offset + 1, first_operation, first, last);
    pairhmm::append(cigar, reads.cigar, first_operation, reads.cigar_offset[last]);
    append_text(names, name_end, block.names, block.name_end, first, last);
}

// Molecules are known where all reads have them.
void ReadColumns::append_molecules(const AlignedReads& block, int64_t first, int64_t last) {
    has_molecules = block.reads.molecules && (has_molecules || start.empty());
    if (has_molecules)
        append_text(molecules, molecule_end, block.reads.molecules, block.reads.molecule_end, first, last);
}

void ReadColumns::append_indel_qualities(const AlignedReads& block, int64_t first_base, int64_t last_base) {
    if (!block.insertion && insertion.empty()) return;
    for (auto [values, from] : {std::pair(&insertion, block.insertion), {&deletion, block.deletion}}) {
        values->resize(base.size(), kNoQuality);
        if (from) pairhmm::append(*values, from, first_base, last_base);
        else values->resize(base.size() + (last_base - first_base), kNoQuality);
    }
}

void ReadBuffer::begin(std::string chrom) {
    chrom_ = std::move(chrom);
    columns_.clear();
    most_bases_ = 0;
}

void ReadBuffer::append(const AlignedReads& block, const Intervals& wanted) {
    size_t near = 0;
    columns_.append_where(block,
                          [&](int64_t read) { return wanted.touch(block.reads.start[read], block.end[read], near); });
}

void ReadBuffer::forget(int64_t position) {
    if (columns_.base.size() < most_bases_) return;
    columns_.forget(position);
    most_bases_ = 2 * columns_.base.size();
}

std::vector<int64_t> ReadBuffer::over(int64_t start, int64_t end) const {
    const auto& starts = columns_.start;
    const auto first = std::lower_bound(starts.begin(), starts.end(), start - columns_.reach) - starts.begin();
    const auto last = std::lower_bound(starts.begin(), starts.end(), end) - starts.begin();
    std::vector<int64_t> found;
    for (int64_t read = first; read < last; ++read)
        if (columns_.end[read] > start) found.push_back(read);
    return found;
}

}  // namespace pairhmm
