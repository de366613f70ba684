#include "formats/bam_reads.hpp"

#include <algorithm>

#include "formats/bam_record.hpp"
#include "genomics/letters.hpp"

namespace pairhmm {
namespace {

constexpr uint32_t kPaired = 0x1, kReverse = 0x10, kFirst = 0x40, kSecond = 0x80, kLeftOut = 0x100 | 0x800;

// The sets that BAM's letters stand for, and their complements. The reference's letter, '=', is not known here: N.
struct LetterTables {
    uint8_t forward[16], reverse[16];
    LetterTables() {
        for (int set = 0; set < 16; ++set) {
            forward[set] = static_cast<uint8_t>(set == 0 ? kAny : set);
            reverse[set] = static_cast<uint8_t>(set == 0 ? kAny : complement_of(set));
        }
    }
};

void add_letters(const BamRecord& record, uint8_t* to) {
    static const LetterTables tables;
    const bool reverse = (record.flag & kReverse) != 0;
    const uint8_t* table = reverse ? tables.reverse : tables.forward;
    for (int64_t i = 0; i < record.length; ++i)
        to[reverse ? record.length - 1 - i : i] =
            table[i % 2 ? record.letters[i / 2] & 15 : record.letters[i / 2] >> 4];
}

void add_read(const BamRecord& record, SampleBlock& block) {
    const size_t before = block.letters.size(), after = before + static_cast<size_t>(record.length);
    block.letters.resize(after);
    add_letters(record, block.letters.data() + before);
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

BamPiece take_bam_header(const uint8_t* data, int64_t size) {
    BamPiece piece;
    int64_t at = 4;  // "BAM\1"
    const auto skip = [&](int64_t more) {
        if (at + 4 > size) return false;
        const int64_t counted = number_at<int32_t>(data + at);
        piece.is_broken = counted < 0;
        at += 4 + counted + more;
        return !piece.is_broken && at <= size;
    };
    if (!skip(0) || at + 4 > size) return piece;
    const int64_t contigs = number_at<int32_t>(data + at);
    at += 4;
    for (int64_t i = 0; i < contigs; ++i) {
        if (!skip(4)) return piece;
    }
    piece.end = at;
    return piece;
}

BamPiece take_bam_reads(const uint8_t* data, int64_t size, SampleBlock& block) {
    BamPiece piece;
    bool known = false;
    while (piece.end + 4 <= size) {
        const int64_t record_size = number_at<int32_t>(data + piece.end);
        piece.is_broken = record_size < kBamFixedSize;
        if (piece.is_broken || piece.end + 4 + record_size > size) return piece;
        BamRecord record;
        piece.is_broken = !split_bam_record(data + piece.end + 4, record_size, record);
        if (piece.is_broken) return piece;
        if ((record.flag & kLeftOut) == 0) {
            if (record.length > 0) {
                if (known && record.has_qualities() != block.has_qualities) return piece;
                block.has_qualities = record.has_qualities();
                known = true;
            }
            add_read(record, block);
        }
        piece.end += 4 + record_size;
    }
    return piece;
}

}  // namespace pairhmm
