// Records of a BAM file in blocks, from a place of it on, for an AlignmentParser.
#pragma once

#include <cstdint>
#include <string>

#include "formats/alignments.hpp"
#include "formats/bgzf.hpp"

namespace pairhmm {

// Unpacked bytes, whose front is given up as records are taken. Blocks come from a reader, or are added one by one.
class BamStream {
public:
    static constexpr int64_t kToTheEnd = -1;

    // The records that begin at virtual offsets [begin, behind).
    BamStream(int64_t begin, int64_t behind) : at_(begin & kWithin), behind_(behind) {}

    // Adds the next blocks. Of a reader: false where it has none.
    void add(const UnpackedBlocks& blocks);
    bool add_from(BlockReader& reader);

    // Gives records to a parser until it stops. kMore: more blocks are needed, unless it is done.
    AlignmentParser::Stop parse(AlignmentParser& parser, int64_t room);

    // Whether all records were taken that begin before the end that was given.
    bool is_done() const { return 0 <= limit_ && limit_ <= at_; }
    // Whether the bytes end within a record.
    bool is_cut() const { return at_ != size(); }

    // Takes the header, from the beginning of a file on. Empty where there is none, or none that is whole.
    std::string take_header(BlockReader& reader);
    // The virtual offset of the next record, as long as no record was taken.
    int64_t offset() const;

private:
    static constexpr int64_t kWithin = 0xffff;

    int64_t size() const { return static_cast<int64_t>(blocks_.data.size()); }
    void give_up_front();
    void find_limit(size_t first_block);

    UnpackedBlocks blocks_;
    int64_t at_;          // where the next record begins
    int64_t behind_;      // the end that was given
    int64_t limit_ = -1;  // where it is in the bytes, once they hold it
};

}  // namespace pairhmm
