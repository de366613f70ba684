#include "formats/bgzf.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "formats/bam_record.hpp"

namespace pairhmm {
namespace {

// The beginning of isal's inflate_state (igzip_lib.h).
struct IsalState {
    uint8_t* next_out;
    uint32_t room, total;
    uint8_t* next_in;
    uint64_t bits;
    uint32_t left;
    int32_t bit_count;
};

// Packed bytes that are read at once: as many as were read before, since a jump may need a single block. The most are
// so few that a core's cache holds them unpacked, until they are parsed.
constexpr int64_t kFewest = 1 << 16, kMost = 1 << 17;
constexpr int64_t kHead = 18, kTail = 8;  // bytes of a block before its data and behind it
constexpr int64_t kLargest = 1 << 16;     // unpacked
constexpr uint8_t kGzip[] = {0x1f, 0x8b, 0x08}, kField[] = {6, 0, 'B', 'C', 2, 0};
constexpr uint8_t kHasField = 4;

// The size of the block with this head; 0 where it is not the head of a block.
int64_t block_size(const uint8_t* head) {
    const bool is_block = std::memcmp(head, kGzip, sizeof kGzip) == 0 && (head[3] & kHasField) != 0 &&
                          std::memcmp(head + 10, kField, sizeof kField) == 0;
    const int64_t size = number_at<uint16_t>(head + 16) + 1;
    return is_block && size >= kHead + kTail ? size : 0;
}

}  // namespace

int64_t IsalInflater::inflate(const uint8_t* packed, int64_t size, uint32_t checksum, uint8_t* data, int64_t room) {
    call_.isal_inflate_init(state_.get());
    auto* state = reinterpret_cast<IsalState*>(state_.get());
    state->next_in = const_cast<uint8_t*>(packed);
    state->left = static_cast<uint32_t>(size);
    state->next_out = data;
    state->room = static_cast<uint32_t>(room);
    if (call_.isal_inflate_stateless(state) != 0) return -1;
    const int64_t unpacked = state->next_out - data;
    return call_.crc32_gzip_refl(0, data, static_cast<uint64_t>(unpacked)) == checksum ? unpacked : -1;
}

int64_t FileSource::read(int64_t address, int64_t size, uint8_t* to) {
    int64_t done = 0;
    while (done < size) {
        const ssize_t count = pread(descriptor_, to + done, static_cast<size_t>(size - done), address + done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -errno;
        if (count == 0) break;
        done += count;
    }
    return done;
}

void UnpackedBlocks::append(const UnpackedBlocks& next) {
    const auto before = static_cast<int64_t>(data.size());
    data.insert(data.end(), next.data.begin(), next.data.end());
    address.insert(address.end(), next.address.begin(), next.address.end());
    for (const int64_t one : next.end) end.push_back(before + one);
}

bool BlockReader::read(UnpackedBlocks& blocks) {
    if (is_damaged_) return false;
    do {
        if (unpack(blocks)) {
            drop_taken();
            return true;
        }
    } while (!is_damaged_ && read_packed());
    return false;
}

// A thousand files may wait here: nothing is held that the caller has.
void BlockReader::drop_taken() {
    packed_ = Bytes(packed_.begin() + at_, packed_.end());
    address_ += at_;
    at_ = 0;
}

bool BlockReader::read_packed() {
    const auto left = static_cast<int64_t>(packed_.size());
    const int64_t soon = enough_ == kEverything ? kMost : enough_ - (address_ + left);
    const int64_t size = std::max(kFewest, std::min({taken_, kMost, soon}));
    packed_.resize(static_cast<size_t>(left + size));
    const int64_t count = source_.read(address_ + left, size, packed_.data() + left);
    packed_.resize(static_cast<size_t>(left + std::max<int64_t>(count, 0)));
    taken_ += std::max<int64_t>(count, 0);
    error_ = count < 0 ? static_cast<int>(-count) : 0;
    is_damaged_ = count == 0 && left > 0;
    return count > 0;
}

// Whether any blocks were unpacked.
bool BlockReader::unpack(UnpackedBlocks& blocks) {
    const auto size = static_cast<int64_t>(packed_.size());
    bool any = false;
    while (size - at_ >= kHead) {
        const uint8_t* block = packed_.data() + at_;
        const int64_t length = block_size(block);
        if (length > 0 && length > size - at_) break;
        if (length == 0 || !unpack_block(block, length, blocks)) {
            // The blocks before it are given first. It is met again in the next call.
            is_damaged_ = !any;
            break;
        }
        any = true;
        blocks.address.push_back(address_ + at_);
        blocks.end.push_back(static_cast<int64_t>(blocks.data.size()));
        at_ += length;
        if (address_ + at_ > enough_) break;
    }
    return any;
}

bool BlockReader::unpack_block(const uint8_t* block, int64_t size, UnpackedBlocks& blocks) {
    const uint8_t* tail = block + size - kTail;
    const size_t before = blocks.data.size();
    blocks.data.resize(before + kLargest);
    const int64_t unpacked = inflater_.inflate(block + kHead, tail - block - kHead, number_at<uint32_t>(tail),
                                               blocks.data.data() + before, kLargest);
    blocks.data.resize(before + static_cast<size_t>(std::max<int64_t>(unpacked, 0)));
    return unpacked >= 0;
}

}  // namespace pairhmm
