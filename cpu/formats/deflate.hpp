// Compresses text with deflate (RFC 1951).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pairhmm {

// Tables, VCF, FASTQ and FASTA become as small as with zlib at level 6 (from 4% smaller to 3% larger), in a quarter of
// its time. zlib is what htslib has in pysam's wheels. igzip takes half the time of this, but its tables are 8% larger.
//
// What it does: it looks for an earlier occurrence of the next bytes at the distance of the last match, where the same
// column of the line above often is, and at the last few places with the same six bytes. Digits of likelihoods are
// random: shorter matches would rarely take fewer bits than letters. A match is put off by a letter if the next
// position has a longer one. Each call makes one block with Huffman codes of its own, or one that is stored.
class Deflater {
public:
    static constexpr size_t kLargest = 0xff00;  // bytes a call, as htslib puts into a block of BGZF

    Deflater();

    void append(const uint8_t* data, size_t size, std::string& out);

private:
    struct Match {
        int length;
        uint32_t distance;  // 0: none
    };

    void find_tokens(const uint8_t* data, size_t size);
    Match find(const uint8_t* data, size_t at, const uint8_t* end);
    void remember(const uint8_t* data, size_t at);
    void add_letter(uint8_t letter);
    void add_match(Match match);
    size_t write_block();

    std::vector<uint16_t> newest_;   // of each hash: the last position, or kNowhere
    std::vector<uint16_t> earlier_;  // of each position: the one before it with the same hash
    std::vector<uint32_t> tokens_;   // a letter, or kMatch | length << 16 | distance - 1
    size_t token_count_ = 0;
    std::vector<uint8_t> block_;
    uint32_t letter_count_[286], distance_count_[30];
    uint32_t last_distance_ = 0;
};

}  // namespace pairhmm
