#include "formats/bam_record.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>

#include "calling/cigar.hpp"

namespace pairhmm {
namespace {

#if defined(__x86_64__)
// 16 lookups at once are one instruction of SSSE3, which other functions of this file must do without.
__attribute__((target("ssse3"))) void unpack_16(__m128i codes, const uint8_t* packed, uint8_t* to) {
    const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(packed)), low = _mm_set1_epi8(15);
    const __m128i first = _mm_shuffle_epi8(codes, _mm_and_si128(_mm_srli_epi16(both, 4), low));
    const __m128i second = _mm_shuffle_epi8(codes, _mm_and_si128(both, low));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi8(first, second));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16), _mm_unpackhi_epi8(first, second));
}

__attribute__((target("ssse3"))) void unpack_vectors(const uint8_t* codes, const uint8_t* packed, int64_t bytes,
                                                     uint8_t* to) {
    const __m128i table = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
    for (int64_t i = 0; i < bytes; i += 16) {
        // The last vector ends with the letters, and may have some of the one before.
        const int64_t at = std::min(i, bytes - 16);
        unpack_16(table, packed + at, to + 2 * at);
    }
}
#endif

// Bytes of a value of a type; 0 for types that are not of one size.
int64_t size_of_type(uint8_t type) {
    switch (type) {
        case 'A':
        case 'c':
        case 'C': return 1;
        case 's':
        case 'S': return 2;
        case 'i':
        case 'I':
        case 'f': return 4;
        case 'd': return 8;
        default: return 0;
    }
}

// Where the value ends whose type stands at `at` < `end`; null where it is damaged.
const uint8_t* behind_value(const uint8_t* at, const uint8_t* end) {
    const uint8_t type = *at++;
    if (type == 'Z' || type == 'H') {
        const void* zero = std::memchr(at, 0, static_cast<size_t>(end - at));
        return zero == nullptr ? end : static_cast<const uint8_t*>(zero) + 1;
    }
    int64_t size = size_of_type(type);
    if (type == 'B') {
        if (end - at < 5) return nullptr;
        const int64_t count = number_at<uint32_t>(at + 1);
        size = size_of_type(*at) * count;
        if (size_of_type(*at) == 0) return nullptr;
        at += 5;
    } else if (size == 0) {
        return nullptr;
    }
    return end - at < size ? nullptr : at + size;
}

template <size_t Count>
std::array<BamTag, Count> find(const BamRecord& record, const std::array<const char*, Count>& names) {
    std::array<BamTag, Count> tags;
    std::array<uint16_t, Count> wanted;
    for (size_t i = 0; i < Count; ++i) std::memcpy(&wanted[i], names[i], 2);
    size_t missing = Count;
    for (const uint8_t* at = record.tags; missing > 0 && record.end - at > 2;) {
        const uint8_t* behind = behind_value(at + 2, record.end);
        const bool is_text = at[2] == 'Z' || at[2] == 'H';
        const bool is_cut = behind == nullptr || (is_text && (behind == at + 3 || behind[-1] != 0));
        const auto name = number_at<uint16_t>(at);
        for (size_t i = 0; i < Count; ++i) {
            if (tags[i].type != nullptr || (name != wanted[i] && behind != nullptr)) continue;
            tags[i].is_damaged = is_cut;
            if (is_cut) continue;
            tags[i].type = at + 2;
            tags[i].end = behind;
            --missing;
        }
        if (behind == nullptr) break;
        at = behind;
    }
    return tags;
}

// False where the parts do not fit `size` bytes.
bool split(const uint8_t* data, int64_t size, BamRecord& record) {
    record.contig = number_at<int32_t>(data);
    record.start = number_at<int32_t>(data + 4);
    record.name_size = data[8];
    record.mapq = data[9];
    record.operations = number_at<uint16_t>(data + 12);
    record.flag = number_at<uint16_t>(data + 14);
    record.length = number_at<int32_t>(data + 16);
    record.mate_contig = number_at<int32_t>(data + 20);
    record.mate_start = number_at<int32_t>(data + 24);
    record.template_length = number_at<int32_t>(data + 28);
    const int64_t cigar = kBamFixedSize + record.name_size, letters = cigar + 4 * record.operations;
    if (record.name_size < 1 || record.length < 0) return false;
    const int64_t qualities = letters + (record.length + 1) / 2, tags = qualities + record.length;
    if (tags > size) return false;
    record.name = data + kBamFixedSize;
    record.cigar = data + cigar;
    record.letters = data + letters;
    record.qualities = data + qualities;
    record.tags = data + tags;
    record.end = data + size;
    return true;
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

BamPiece take_bam_record(const uint8_t* data, int64_t size, BamRecord& record) {
    if (size < 4) return {};
    const int64_t record_size = number_at<int32_t>(data);
    if (record_size < kBamFixedSize) return {0, true};
    if (size - 4 < record_size) return {};
    if (!split(data + 4, record_size, record)) return {0, true};
    return {4 + record_size, false};
}

BamTag find_bam_tag(const BamRecord& record, const char* name) { return find<1>(record, {name})[0]; }

std::array<BamTag, 2> find_bam_tags(const BamRecord& record, const char* one, const char* other) {
    return find<2>(record, {one, other});
}

bool use_long_cigar(BamRecord& record) {
    if (record.operations == 0 || record.contig < 0 || record.start < 0) return true;
    const uint32_t first = number_at<uint32_t>(record.cigar);
    if ((first & 15) != kSoftClip || (first >> 4) != record.length) return true;
    const BamTag tag = find_bam_tag(record, "CG");
    if (tag.is_damaged) return false;
    if (tag.type == nullptr || tag.type[0] != 'B' || (tag.type[1] != 'I' && tag.type[1] != 'i')) return true;
    const int64_t operations = number_at<uint32_t>(tag.type + 2);
    if (operations < record.operations || operations >= 1 << 29) return true;
    record.operations = operations;
    record.cigar = tag.type + 6;
    return true;
}

int64_t BamLetters::unpack_many(const BamRecord& record, uint8_t* to) const {
#if defined(__x86_64__)
    static const bool has_lookups = __builtin_cpu_supports("ssse3");
    const int64_t bytes = record.length / 2;
    if (has_lookups && bytes >= 16) {
        unpack_vectors(codes_, record.letters, bytes, to);
        return bytes;
    }
#else
    (void)record, (void)to;
#endif
    return 0;
}

}  // namespace pairhmm
