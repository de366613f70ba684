// Blocks of BGZF (SAM specification, section 4.1), read and unpacked. isal is not linked: its functions come by their
// addresses, from the library that its Python package brings.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "formats/sample_block.hpp"

namespace pairhmm {

// Unpacks the data of a block.
class Inflater {
public:
    virtual ~Inflater() = default;
    // How many bytes `data` got, at most `room`; -1 where the data is damaged, or does not have that checksum.
    virtual int64_t inflate(const uint8_t* packed, int64_t size, uint32_t checksum, uint8_t* data, int64_t room) = 0;
};

struct IsalFunctions {
    void (*isal_inflate_init)(void*);
    int (*isal_inflate_stateless)(void*);
    uint32_t (*crc32_gzip_refl)(uint32_t, const uint8_t*, uint64_t);
};

class IsalInflater final : public Inflater {
public:
    explicit IsalInflater(const IsalFunctions& functions) : call_(functions), state_(new uint64_t[kStateWords]) {}
    int64_t inflate(const uint8_t* packed, int64_t size, uint32_t checksum, uint8_t* data, int64_t room) override;

private:
    // More than twice isal's inflate_state. Most of that is the window of a stream, whose pages are never touched here.
    static constexpr size_t kStateWords = 1 << 15;

    IsalFunctions call_;
    std::unique_ptr<uint64_t[]> state_;
};

// Bytes of a file, or of a pipe, which is read in order.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    // How many bytes `to` got: fewer than `size` at the end; -errno where they can't be read.
    virtual int64_t read(int64_t address, int64_t size, uint8_t* to) = 0;
};

// A file by its descriptor, whose position does not change.
class FileSource final : public ByteSource {
public:
    explicit FileSource(int descriptor) : descriptor_(descriptor) {}
    int64_t read(int64_t address, int64_t size, uint8_t* to) override;

private:
    int descriptor_;
};

struct UnpackedBlocks {
    Bytes data;                         // end to end
    std::vector<int64_t> address, end;  // of each block: where it begins in the file, and where it ends in `data`

    int64_t begin_of(size_t block) const { return block == 0 ? 0 : end[block - 1]; }
    void append(const UnpackedBlocks& next);
};

// Reads a file block by block.
class BlockReader {
public:
    static constexpr int64_t kEverything = std::numeric_limits<int64_t>::max();

    // Begins with the block at `address`. Behind `enough`, blocks are unpacked one at a time: the caller soon has what
    // it needs.
    BlockReader(ByteSource& source, Inflater& inflater, int64_t address, int64_t enough)
        : source_(source), inflater_(inflater), address_(address), enough_(enough) {}

    // Appends the next blocks. False at the end of the file, and where they can't be read.
    bool read(UnpackedBlocks& blocks);

    bool is_damaged() const { return is_damaged_; }  // the next block is none, or damaged, or cut off
    int error() const { return error_; }             // why the file can't be read (errno), or 0

private:
    bool read_packed();
    void drop_taken();
    bool unpack(UnpackedBlocks& blocks);
    bool unpack_block(const uint8_t* block, int64_t size, UnpackedBlocks& blocks);

    ByteSource& source_;
    Inflater& inflater_;
    int64_t address_;  // of the packed bytes that are held
    int64_t enough_;
    Bytes packed_;
    int64_t at_ = 0, taken_ = 0;  // where the next block begins in `packed_`; bytes read so far
    bool is_damaged_ = false;
    int error_ = 0;
};

}  // namespace pairhmm
