// One record of an unpacked BAM file (SAM specification, section 4.2), and its tags. What does not fit the record's own
// size is refused as htslib refuses it, so that no length leads beyond the record.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace pairhmm {

constexpr int64_t kBamFixedSize = 32;  // of a record, behind its size
constexpr uint8_t kBamNoQuality = 0xff;

// An unaligned number; BAM's are little-endian, as are all machines that this runs on.
template <class T>
T number_at(const uint8_t* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

struct BamRecord {
    int32_t contig, start, mate_contig, mate_start, template_length;
    uint16_t flag;
    uint8_t mapq;
    const uint8_t *name, *cigar, *letters, *qualities, *tags, *end;  // tags: [tags, end)
    int64_t name_size;                                               // with the zero behind the name
    int64_t operations;                                              // of 4 bytes each, not aligned
    int64_t length;                                                  // bases: two in a byte of `letters`

    bool has_qualities() const { return length > 0 && qualities[0] != kBamNoQuality; }
};

// How much was taken from the front of a buffer.
struct BamPiece {
    int64_t end = 0;         // bytes taken
    bool is_broken = false;  // the bytes that follow are not BAM
};

// The header, or nothing where the buffer ends before it.
BamPiece take_bam_header(const uint8_t* data, int64_t size);

// The first record, or nothing where the buffer ends before it.
BamPiece take_bam_record(const uint8_t* data, int64_t size, BamRecord& record);

// What a reader makes of BAM's letters, =ACMGRSVTWYHKDBN.
class BamLetters {
public:
    explicit BamLetters(const uint8_t (&codes)[16]) {
        std::memcpy(codes_, codes, sizeof codes_);
        for (int byte = 0; byte < 256; ++byte) {
            pairs_[byte][0] = codes[byte >> 4];
            pairs_[byte][1] = codes[byte & 15];
        }
    }

    void unpack(const BamRecord& record, uint8_t* to) const {
        const int64_t length = record.length;
        for (int64_t i = unpack_many(record, to); i < length / 2; ++i)
            std::memcpy(to + 2 * i, pairs_[record.letters[i]], 2);
        if (length % 2) to[length - 1] = pairs_[record.letters[length / 2]][0];
    }

private:
    // Unpacks the bytes with both letters where 16 of them are one lookup. How many: all or none.
    int64_t unpack_many(const BamRecord& record, uint8_t* to) const;

    uint8_t codes_[16];
    uint8_t pairs_[256][2];  // both letters of a byte
};

// What follows a tag's name: its type, and its value up to `end`, which is behind a text's zero. `type` is null where
// the record lacks the tag, or where a tag up to it is damaged.
struct BamTag {
    const uint8_t *type = nullptr, *end = nullptr;
    bool is_damaged = false;
};

BamTag find_bam_tag(const BamRecord& record, const char* name);
// Two of them in one pass.
std::array<BamTag, 2> find_bam_tags(const BamRecord& record, const char* one, const char* other);

// A CIGAR of more than 65,535 operations stands in the tag CG. False where tags are damaged on the way to it.
bool use_long_cigar(BamRecord& record);

}  // namespace pairhmm
