// Letters of two bits, sixteen to a word, at every position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scan/level.hpp"

namespace pairhmm {

constexpr uint32_t kFirstBase = 0x12131213;  // of each of the sixteen sets, two bits

// The first base of a set, as two bits, without a branch.
inline uint32_t two_bits(uint8_t letter) { return kFirstBase >> 2 * letter & 3; }

inline bool is_one_base(uint8_t letter) { return (letter & (letter - 1)) == 0; }

class PackedText {
public:
    // An ambiguous letter is packed as one of its bases. Letters before and behind the text are packed as A.
    void pack(const uint8_t* letters, int64_t count) {
        ambiguous_ = 0;
        for (int64_t i = 0; i < count; ++i) ambiguous_ += !is_one_base(letters[i]);
        pack_with(letters, count, 0, two_bits, word_);
        if (ambiguous_ > 0) pack_with(letters, count, 1, is_one_base, is_plain_);
    }

    int64_t ambiguous() const { return ambiguous_; }

    PackedLetters view() const {
        return {word_.data() + kBeside, ambiguous_ == 0 ? nullptr : is_plain_.data() + kBeside};
    }

private:
    // Two bits a letter; `outside` for those before and behind the text.
    template <class Bits>
    static void pack_with(const uint8_t* letters, int64_t count, uint32_t outside, const Bits& bits,
                          std::vector<uint32_t>& words) {
        words.resize(static_cast<size_t>(count + 3 * kBeside));
        uint32_t* word = words.data() + kBeside;
        uint32_t last = 0;
        for (int i = 0; i < kBeside; ++i) last = last << 2 | outside;
        for (int64_t i = count + 2 * kBeside - 1; i >= count; --i) word[i] = last;
        for (int64_t i = count - 1; i >= 0; --i) word[i] = last = last << 2 | bits(letters[i]);
        for (int64_t i = -1; i >= -kBeside; --i) word[i] = last = last << 2 | outside;
    }

    std::vector<uint32_t> word_, is_plain_;
    int64_t ambiguous_ = 0;
};

}  // namespace pairhmm
