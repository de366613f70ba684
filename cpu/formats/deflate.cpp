#include "formats/deflate.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "formats/huffman.hpp"

namespace pairhmm {
namespace {

constexpr int kLetters = 286, kDistances = 30, kEndOfBlock = 256, kFirstLength = 257, kCodeLengths = 19;
constexpr int kLongestCode = 15, kLongestCodeOfLengths = 7;
constexpr int kHashBits = 15, kHashed = 6;  // bytes of which a hash is made
constexpr int kCandidates = 4;
constexpr int kLongEnough = 32;  // a match of this length is taken at once
constexpr int kLongestMatch = 258;
constexpr uint32_t kFurthest = 32768;
constexpr uint16_t kNowhere = 0xffff;
constexpr uint32_t kMatch = uint32_t{1} << 31;
constexpr size_t kWord = 8;        // bytes that are loaded and stored at once
constexpr size_t kStoredHead = 5;  // bytes before the data of a stored block
// The longest codes for every letter, and the codes themselves.
constexpr size_t kBlockRoom = Deflater::kLargest * kLongestCode / 8 + 1024;

struct Span {
    uint16_t first;
    uint8_t extra_bits;
};

// The lengths 3 to 258, and the distances 1 to 32768, that share a symbol (RFC 1951, section 3.2.5).
template <size_t count>
constexpr std::array<Span, count> spans(int first, int plain, int per_doubling) {
    std::array<Span, count> result{};
    for (int i = 0; i < static_cast<int>(count); ++i) {
        const int extra = i < plain ? 0 : (i - plain) / per_doubling + 1;
        result[i] = {static_cast<uint16_t>(first), static_cast<uint8_t>(extra)};
        first += 1 << extra;
    }
    return result;
}

constexpr auto kDistanceSpans = spans<kDistances>(1, 4, 2);
constexpr auto kLengthSpans = [] {
    auto result = spans<29>(3, 8, 4);
    result[28] = {kLongestMatch, 0};
    return result;
}();
constexpr auto kLengthSymbol = [] {
    std::array<uint8_t, kLongestMatch + 1> result{};
    for (int symbol = 0; symbol < 29; ++symbol)
        for (int length = kLengthSpans[symbol].first; length <= kLongestMatch; ++length)
            result[length] = static_cast<uint8_t>(symbol);
    return result;
}();

int distance_symbol(uint32_t distance) {
    const uint32_t rest = distance - 1;
    if (rest < 4) return static_cast<int>(rest);
    const int top = 31 - __builtin_clz(rest);
    return 2 * top + static_cast<int>(rest >> (top - 1) & 1);
}

uint64_t load_word(const uint8_t* at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

uint32_t hash_of(const uint8_t* at) {
    return static_cast<uint32_t>((load_word(at) << (64 - 8 * kHashed)) * 0x9e3779b185ebca87u >> (64 - kHashBits));
}

// How many bytes from `a` on are those from `b` on, which lies behind it.
int match_length(const uint8_t* a, const uint8_t* b, const uint8_t* end) {
    const uint8_t *const begin = b, *const limit = std::min(end, b + kLongestMatch);
    for (; b + kWord <= limit; a += kWord, b += kWord)
        if (const uint64_t differing = load_word(a) ^ load_word(b))
            return static_cast<int>(b - begin) + (__builtin_ctzll(differing) >> 3);
    while (b < limit && *a == *b) ++a, ++b;
    return static_cast<int>(b - begin);
}

// The length of a match, less what a far distance costs in bits.
int worth(int length, uint32_t distance) { return length - (distance > 512) - (distance > 8192); }

class BitWriter {
public:
    explicit BitWriter(uint8_t* at) : at_(at) {}

    // At most 48 bits between two flushes.
    void put(uint64_t bits, int count) {
        held_ |= bits << count_;
        count_ += count;
    }

    void flush() {
        std::memcpy(at_, &held_, sizeof held_);
        at_ += count_ >> 3;
        held_ >>= count_ & ~7;
        count_ &= 7;
    }

    const uint8_t* end() {
        flush();
        return at_ + (count_ != 0);
    }

private:
    uint8_t* at_;
    uint64_t held_ = 0;
    int count_ = 0;
};

// The lengths of both codes, as symbols of a third: runs are shortened (RFC 1951, section 3.2.7).
struct PackedLengths {
    int letters = kLetters, distances = kDistances;  // without those at the end that do not occur
    int size = 0;
    uint8_t symbol[kLetters + kDistances], repeats[kLetters + kDistances];
    uint32_t count[kCodeLengths] = {};

    PackedLengths(const HuffmanCode& letter, const HuffmanCode& distance) {
        while (letter.length[letters - 1] == 0) --letters;
        while (distances > 1 && distance.length[distances - 1] == 0) --distances;
        uint8_t all[kLetters + kDistances];
        const uint8_t* const end = std::copy_n(distance.length, distances, std::copy_n(letter.length, letters, all));
        for (const uint8_t* at = all; at < end;) {
            const uint8_t length = *at;
            const int run =
                static_cast<int>(std::find_if(at, end, [&](uint8_t other) { return other != length; }) - at);
            if (length == 0 && run >= 11) at += add_run(18, 11, std::min(run, 138));
            else if (length == 0 && run >= 3) at += add_run(17, 3, run);
            else if (run >= 4) add(length, 0), at += 1 + add_run(16, 3, std::min(run - 1, 6));
            else add(length, 0), ++at;
        }
    }

    static int extra_bits(uint8_t symbol) { return symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7; }

private:
    int add_run(uint8_t name, int least, int run) {
        add(name, run - least);
        return run;
    }

    void add(uint8_t name, int more) {
        symbol[size] = name;
        repeats[size++] = static_cast<uint8_t>(more);
        ++count[name];
    }
};

void write_codes(BitWriter& bits, const HuffmanCode& letter, const HuffmanCode& distance) {
    constexpr uint8_t kOrder[kCodeLengths] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const PackedLengths packed(letter, distance);
    const HuffmanCode code = make_code(packed.count, kCodeLengths, kLongestCodeOfLengths);
    int lengths = kCodeLengths;
    while (lengths > 4 && code.length[kOrder[lengths - 1]] == 0) --lengths;
    bits.put(1, 1);  // the last block
    bits.put(2, 2);  // with codes of its own
    bits.put(static_cast<uint64_t>(packed.letters - kFirstLength), 5);
    bits.put(static_cast<uint64_t>(packed.distances - 1), 5);
    bits.put(static_cast<uint64_t>(lengths - 4), 4);
    for (int i = 0; i < lengths; ++i) {
        bits.flush();
        bits.put(code.length[kOrder[i]], 3);
    }
    for (int i = 0; i < packed.size; ++i) {
        bits.flush();
        bits.put(code.code[packed.symbol[i]], code.length[packed.symbol[i]]);
        bits.put(packed.repeats[i], PackedLengths::extra_bits(packed.symbol[i]));
    }
    bits.flush();
}

}  // namespace

Deflater::Deflater()
    : newest_(size_t{1} << kHashBits), earlier_(kLargest), tokens_(kLargest), block_(kBlockRoom + kWord) {}

void Deflater::append(const uint8_t* data, size_t size, std::string& out) {
    find_tokens(data, size);
    const size_t made = write_block();
    if (made < size + kStoredHead) {
        out.append(reinterpret_cast<const char*>(block_.data()), made);
        return;
    }
    const uint32_t both = static_cast<uint32_t>(size) | ~static_cast<uint32_t>(size) << 16;
    out += '\1';  // the last block, stored
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(both >> shift);
    out.append(reinterpret_cast<const char*>(data), size);
}

void Deflater::find_tokens(const uint8_t* data, size_t size) {
    std::fill(newest_.begin(), newest_.end(), kNowhere);
    std::fill_n(letter_count_, kLetters, 0);
    std::fill_n(distance_count_, kDistances, 0);
    token_count_ = 0;
    last_distance_ = 0;
    const uint8_t* const end = data + size;
    const size_t last = size < kWord ? 0 : size - kWord;  // no whole word begins behind it
    size_t at = 0;
    while (at < last) {
        Match match = find(data, at, end);
        while (match.distance != 0 && match.length < kLongEnough && at + 1 < last) {
            const Match next = find(data, at + 1, end);
            if (next.distance == 0 || worth(next.length, next.distance) <= worth(match.length, match.distance)) break;
            add_letter(data[at++]);
            match = next;
        }
        if (match.distance == 0) {
            add_letter(data[at++]);
            continue;
        }
        add_match(match);
        at += static_cast<size_t>(match.length);
        // The positions just before the end of a match are where later ones begin.
        for (size_t near = at - 2; near < std::min(at, last); ++near) remember(data, near);
    }
    while (at < size) add_letter(data[at++]);
    letter_count_[kEndOfBlock] = 1;
}

Deflater::Match Deflater::find(const uint8_t* data, size_t at, const uint8_t* end) {
    Match best{0, 0};
    int best_worth = 3;
    const auto compare = [&](uint32_t distance) {
        const uint8_t* const here = data + at;
        if (best.distance != 0 && here[best.length] != here[best.length - static_cast<int64_t>(distance)]) return;
        const int length = match_length(here - distance, here, end);
        if (length < 4 || worth(length, distance) <= best_worth) return;
        best = {length, distance};
        best_worth = worth(length, distance);
    };
    if (last_distance_ != 0 && last_distance_ <= at) compare(last_distance_);
    uint16_t candidate = newest_[hash_of(data + at)];
    for (int i = 0; i < kCandidates && candidate != kNowhere && best.length < kLongestMatch; ++i) {
        const uint32_t distance = static_cast<uint32_t>(at) - candidate;
        if (distance > kFurthest || data + at + best.length >= end) break;
        compare(distance);
        candidate = earlier_[candidate];
    }
    remember(data, at);
    return best;
}

void Deflater::remember(const uint8_t* data, size_t at) {
    uint16_t& newest = newest_[hash_of(data + at)];
    if (newest == at) return;
    earlier_[at] = newest;
    newest = static_cast<uint16_t>(at);
}

void Deflater::add_letter(uint8_t letter) {
    ++letter_count_[letter];
    tokens_[token_count_++] = letter;
}

void Deflater::add_match(Match match) {
    ++letter_count_[kFirstLength + kLengthSymbol[static_cast<size_t>(match.length)]];
    ++distance_count_[distance_symbol(match.distance)];
    tokens_[token_count_++] = kMatch | static_cast<uint32_t>(match.length) << 16 | (match.distance - 1);
    last_distance_ = match.distance;
}

size_t Deflater::write_block() {
    const HuffmanCode letter = make_code(letter_count_, kLetters, kLongestCode);
    const HuffmanCode distance = make_code(distance_count_, kDistances, kLongestCode);
    BitWriter bits(block_.data());
    write_codes(bits, letter, distance);
    for (size_t i = 0; i < token_count_; ++i) {
        const uint32_t token = tokens_[i];
        if ((token & kMatch) == 0) {
            bits.put(letter.code[token], letter.length[token]);
        } else {
            const uint32_t length = token >> 16 & 0x7fff, back = (token & 0xffff) + 1;
            const int in_letters = kLengthSymbol[length], in_distances = distance_symbol(back);
            bits.put(letter.code[kFirstLength + in_letters], letter.length[kFirstLength + in_letters]);
            bits.put(length - kLengthSpans[in_letters].first, kLengthSpans[in_letters].extra_bits);
            bits.put(distance.code[in_distances], distance.length[in_distances]);
            bits.put(back - kDistanceSpans[in_distances].first, kDistanceSpans[in_distances].extra_bits);
        }
        bits.flush();
    }
    bits.put(letter.code[kEndOfBlock], letter.length[kEndOfBlock]);
    return static_cast<size_t>(bits.end() - block_.data());
}

}  // namespace pairhmm
