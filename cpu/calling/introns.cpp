#include "calling/introns.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "calling/cigar.hpp"

namespace pairhmm {

namespace {

bool is_intron(uint32_t operation) { return (operation & 15) == kSkip && operation >> 4 > 0; }

// A part of a read: its bases and operations [first, last), and the reference bases [start, end).
struct Part {
    const AlignedReads* reads;
    int64_t read, start, end;
    int64_t first_base, last_base, first_operation, last_operation;
    bool is_later = false;  // it follows an intron

    // Parts come before reads that begin with them, so that their order does not depend on how reads are cut into
    // blocks.
    bool operator<(const Part& other) const {
        return std::pair(start, !is_later) < std::pair(other.start, !other.is_later);
    }
};

bool has_aligned_bases(const Part& part) {
    const uint32_t* cigar = part.reads->reads.cigar;
    return std::any_of(cigar + part.first_operation, cigar + part.last_operation,
                       [](uint32_t operation) { return aligned(operation & 15) && operation >> 4 > 0; });
}

// Adds the parts of a read that have aligned bases. A read without an intron is one part, whatever it has.
void add_parts(const AlignedReads& aligned_reads, int64_t read, bool is_later, std::vector<Part>& parts) {
    const Reads& reads = aligned_reads.reads;
    const int64_t first = reads.cigar_offset[read], last = reads.cigar_offset[read + 1], base = reads.base_offset[read];
    Part part{&aligned_reads, read, reads.start[read], reads.start[read], base, base, first, first, is_later};
    for (int64_t c = first; c < last; ++c) {
        const uint32_t operation = reads.cigar[c] & 15;
        const int64_t length = reads.cigar[c] >> 4;
        if (is_intron(reads.cigar[c])) {
            if (has_aligned_bases(part)) parts.push_back(part);
            const int64_t behind = part.end + length;
            part = {&aligned_reads, read, behind, behind, part.last_base, part.last_base, c + 1, c + 1, true};
            continue;
        }
        if (aligned(operation) || skips(operation)) part.end += length;
        if (reads_bases(operation)) part.last_base += length;
        part.last_operation = c + 1;
    }
    if (part.first_operation == first) part.end = aligned_reads.end[read], part.last_base = reads.base_offset[read + 1];
    if (part.first_operation == first || has_aligned_bases(part)) parts.push_back(part);
}

// Adds a part as a read.
void append(const Part& part, ReadColumns& columns) {
    const AlignedReads& of = *part.reads;
    const int64_t read = part.read;
    const int64_t bases[]{part.first_base, part.last_base}, operations[]{part.first_operation, part.last_operation};
    const std::string_view name = of.name(read);
    const std::string_view molecule = of.reads.molecule(read);
    const auto name_end = static_cast<int64_t>(name.size()), molecule_end = static_cast<int64_t>(molecule.size());
    const Reads reads{1,
                      &part.start,
                      of.reads.sample + read,
                      bases,
                      of.reads.base,
                      of.reads.quality,
                      operations,
                      of.reads.cigar,
                      of.flag + read,
                      of.reads.molecules ? molecule.data() : nullptr,
                      &molecule_end};
    columns.append_run(
        {reads, &part.end, of.flag + read, of.mapq + read, name.data(), &name_end, of.insertion, of.deletion}, 0, 1);
}

}  // namespace

AlignedReads IntronSplitter::split(const AlignedReads& block) {
    const Reads& reads = block.reads;
    const uint32_t* cigar = reads.cigar;
    if (!has_rest() && std::none_of(cigar + reads.cigar_offset[0], cigar + reads.cigar_offset[reads.count], is_intron))
        return block;
    const ReadColumns held = std::exchange(held_, {});
    const AlignedReads before = held.view();
    std::vector<Part> parts;
    for (int64_t read = 0; read < before.reads.count; ++read) add_parts(before, read, true, parts);
    for (int64_t read = 0; read < reads.count; ++read) add_parts(block, read, false, parts);
    std::stable_sort(parts.begin(), parts.end());
    given_.clear();
    for (const Part& part : parts) append(part, part.start <= reads.start[reads.count - 1] ? given_ : held_);
    return given_.view();
}

AlignedReads IntronSplitter::rest() {
    given_ = std::exchange(held_, {});
    return given_.view();
}

}  // namespace pairhmm
