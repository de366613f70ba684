#include "formats/bam_stream.hpp"

#include <algorithm>
#include <cstring>

#include "formats/bam_record.hpp"

namespace pairhmm {
namespace {

constexpr uint8_t kBamMagic[] = {'B', 'A', 'M', 1};

bool may_be_bam(const Bytes& data) {
    return std::memcmp(data.data(), kBamMagic, std::min(data.size(), sizeof kBamMagic)) == 0;
}

}  // namespace

void BamStream::add(const UnpackedBlocks& blocks) {
    give_up_front();
    const size_t before = blocks_.address.size();
    blocks_.append(blocks);
    find_limit(before);
}

bool BamStream::add_from(BlockReader& reader) {
    give_up_front();
    const size_t before = blocks_.address.size();
    if (!reader.read(blocks_)) return false;
    find_limit(before);
    return true;
}

void BamStream::give_up_front() {
    if (at_ == 0 || at_ > size()) return;
    Bytes& data = blocks_.data;
    data.erase(data.begin(), data.begin() + at_);
    blocks_.address.clear();
    blocks_.end.clear();
    if (limit_ >= 0) limit_ -= at_;
    at_ = 0;
}

// Looks for the end that was given in the blocks from `first_block` on.
void BamStream::find_limit(size_t first_block) {
    if (behind_ == kToTheEnd) return;
    for (size_t i = first_block; i < blocks_.address.size() && limit_ < 0; ++i) {
        if (blocks_.address[i] < behind_ >> 16) continue;
        const bool is_within = blocks_.address[i] == behind_ >> 16;
        limit_ = blocks_.begin_of(i) + (is_within ? behind_ & kWithin : 0);
    }
}

AlignmentParser::Stop BamStream::parse(AlignmentParser& parser, int64_t room) {
    const int64_t limit = limit_ < 0 ? size() : std::min(limit_, size());
    return parser.parse(blocks_.data.data(), size(), at_, limit, room);
}

std::string BamStream::take_header(BlockReader& reader) {
    while (add_from(reader) && may_be_bam(blocks_.data)) {
        const BamPiece header = take_bam_header(blocks_.data.data(), size());
        if (header.is_broken) break;
        if (header.end == 0) continue;
        at_ = header.end;
        return {reinterpret_cast<const char*>(blocks_.data.data()), static_cast<size_t>(at_)};
    }
    return {};
}

int64_t BamStream::offset() const {
    size_t block = 0;
    // A place that is both a block's end and the next one's beginning counts as the former, if it can be written so.
    while (block + 1 < blocks_.end.size() &&
           at_ - blocks_.begin_of(block) > std::min(blocks_.end[block] - blocks_.begin_of(block), kWithin))
        ++block;
    return blocks_.address[block] << 16 | (at_ - blocks_.begin_of(block));
}

}  // namespace pairhmm
