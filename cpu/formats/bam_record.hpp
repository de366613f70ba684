// One record of an unpacked BAM file (SAM specification, section 4.2), and its tags. What does not fit the record's own
// size is refused as htslib refuses it, so that no length leads beyond the record.
#pragma once

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

// False where the parts do not fit `size` bytes.
bool split_bam_record(const uint8_t* data, int64_t size, BamRecord& record);

// What follows a tag's name: its type, and its value up to `end`, which is behind a text's zero. `type` is null where
// the record lacks the tag, or where a tag up to it is damaged.
struct BamTag {
    const uint8_t *type = nullptr, *end = nullptr;
    bool is_damaged = false;
};

BamTag find_bam_tag(const BamRecord& record, const char* name);

// A CIGAR of more than 65,535 operations stands in the tag CG. False where tags are damaged on the way to it.
bool use_long_cigar(BamRecord& record);

}  // namespace pairhmm
