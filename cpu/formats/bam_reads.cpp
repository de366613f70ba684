#include "formats/bam_reads.hpp"

#include <algorithm>

#include "calling/letters.hpp"
#include "formats/bam_record.hpp"

namespace pairhmm {
namespace {

constexpr uint32_t kPaired = 0x1, kReverse = 0x10, kFirst = 0x40, kSecond = 0x80, kLeftOut = 0x100 | 0x800;

// The sets that BAM's letters stand for, or their complements. The reference's letter, '=', is not known here: N.
BamLetters sets(bool are_complements) {
    uint8_t codes[16] = {kAny};
    for (int set = 1; set < 16; ++set) codes[set] = static_cast<uint8_t>(are_complements ? complement_of(set) : set);
    return BamLetters(codes);
}

void unpack_letters(const BamRecord& record, uint8_t* to) {
    static const BamLetters forward = sets(false), complements = sets(true);
    const bool reverse = (record.flag & kReverse) != 0;
    (reverse ? complements : forward).unpack(record, to);
    if (reverse) std::reverse(to, to + record.length);
}

void add_read(const BamRecord& record, SampleBlock& block) {
    const size_t before = block.letters.size(), after = before + static_cast<size_t>(record.length);
    block.letters.resize(after);
    unpack_letters(record, block.letters.data() + before);
    if (block.has_qualities) {
        block.qualities.resize(after);
        const uint8_t* end = record.qualities + record.length;
        if (record.flag & kReverse) std::reverse_copy(record.qualities, end, block.qualities.begin() + before);
        else std::copy(record.qualities, end, block.qualities.begin() + before);
    }
    block.offset.push_back(static_cast<int64_t>(after));
    block.names.append(reinterpret_cast<const char*>(record.name), static_cast<size_t>(record.name_size - 1));
    if (record.flag & kPaired) block.names += record.flag & kFirst ? "/1" : record.flag & kSecond ? "/2" : "";
    block.name_end.push_back(static_cast<int64_t>(block.names.size()));
}

}  // namespace

bool take_bam_read(const BamRecord& record, SampleBlock& block) {
    if ((record.flag & kLeftOut) != 0) return true;
    if (record.length > 0) {
        if (!block.letters.empty() && record.has_qualities() != block.has_qualities) return false;
        block.has_qualities = record.has_qualities();
    }
    add_read(record, block);
    return true;
}

BamPiece take_bam_reads(const uint8_t* data, int64_t size, SampleBlock& block) {
    BamPiece piece;
    BamRecord record;
    for (;;) {
        const BamPiece next = take_bam_record(data + piece.end, size - piece.end, record);
        piece.is_broken = next.is_broken;
        if (next.end == 0) return piece;
        if (!take_bam_read(record, block)) return piece;
        piece.end += next.end;
    }
}

}  // namespace pairhmm
