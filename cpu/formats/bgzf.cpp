#include "formats/bgzf.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "formats/deflate.hpp"
#include "threads/shares.hpp"

namespace pairhmm {
namespace {

static_assert(kBgzfBlockText <= static_cast<int64_t>(Deflater::kLargest));

constexpr int64_t kBlocksPerShare = 4;
constexpr size_t kSlices = 16;  // bytes that the checksum takes at once

// The checksum of a byte, and of a byte with so many bytes 0 behind it.
constexpr auto kChecksums = [] {
    std::array<std::array<uint32_t, 256>, kSlices> tables{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t sum = byte;
        for (int bit = 0; bit < 8; ++bit) sum = (sum & 1) != 0 ? 0xedb88320u ^ sum >> 1 : sum >> 1;
        tables[0][byte] = sum;
    }
    for (size_t slice = 1; slice < kSlices; ++slice)
        for (size_t byte = 0; byte < 256; ++byte) {
            const uint32_t before = tables[slice - 1][byte];
            tables[slice][byte] = tables[0][before & 255] ^ before >> 8;
        }
    return tables;
}();

// CRC-32 as gzip has it (RFC 1952, section 8).
uint32_t checksum(const uint8_t* at, size_t size) {
    uint32_t sum = ~uint32_t{0};
    for (; size >= kSlices; size -= kSlices, at += kSlices) {
        uint8_t bytes[kSlices];
        std::memcpy(bytes, at, kSlices);
        for (int i = 0; i < 4; ++i) bytes[i] ^= static_cast<uint8_t>(sum >> 8 * i);
        sum = 0;
        for (size_t i = 0; i < kSlices; ++i) sum ^= kChecksums[kSlices - 1 - i][bytes[i]];
    }
    for (; size > 0; --size, ++at) sum = kChecksums[0][(sum ^ *at) & 255] ^ sum >> 8;
    return ~sum;
}

void append_little_endian(std::string& out, uint32_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(number >> 8 * i);
}

std::string block_of(Deflater& deflater, const uint8_t* text, size_t size) {
    constexpr char kHead[] = "\x1f\x8b\x08\x04\0\0\0\0\0\xff\6\0BC\2\0";
    std::string block(kHead, sizeof kHead - 1);
    const size_t size_at = block.size();
    append_little_endian(block, 0, 2);
    deflater.append(text, size, block);
    append_little_endian(block, checksum(text, size), 4);
    append_little_endian(block, static_cast<uint32_t>(size), 4);
    std::string total;
    append_little_endian(total, static_cast<uint32_t>(block.size() - 1), 2);
    block.replace(size_at, total.size(), total);
    return block;
}

}  // namespace

std::vector<std::string> bgzf_blocks(const uint8_t* text, int64_t size, int threads) {
    std::vector<std::string> blocks(static_cast<size_t>((size + kBgzfBlockText - 1) / kBgzfBlockText));
    run_shares(static_cast<int64_t>(blocks.size()), kBlocksPerShare, threads, [&](int64_t first, int64_t end) {
        Deflater deflater;
        for (int64_t block = first; block < end; ++block) {
            const int64_t begin = block * kBgzfBlockText, left = std::min(kBgzfBlockText, size - begin);
            blocks[static_cast<size_t>(block)] = block_of(deflater, text + begin, static_cast<size_t>(left));
        }
    });
    return blocks;
}

}  // namespace pairhmm
