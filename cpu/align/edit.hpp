// Edit distance by bit vectors: Myers, J. ACM 46 (1999), 395, in Hyyro's form (Nordic J. Comput. 10 (2003), 29).
//
// Method. A word holds the vertical differences of 64 rows, one bit each; a lane of a vector is a pair, and a block is
// 64 rows of all lanes. Letters are three planes of bits, so that lanes compare different letters in five operations.
// Blocks of up to four are a unit, whose words stay in registers over a chunk of 64 columns.
//
// Queries end together: shorter ones have padded rows before their first one. Those pass on what comes from above:
// they match nothing where row 0 counts columns, and everything where it is zero.
//
// Band. A distance of at most k needs only the blocks near the diagonal (global), or those above the last row that has
// a value of at most k (semi-global); diagonals never fall, so that this row moves down by a row a column at most.
// Values outside count as if each step cost 1, which is never too low.
//
// Versions, microseconds a pair of 1,000 bases, global, one thread of an AMD EPYC (benchmarks/align.py):
//
//                                         5% differences   unrelated
//   edlib 1.3.9, 64 rows a step                    14.9        76.3
//   this file without bands, AVX-512                7.7         7.7
//   this file, AVX-512                              1.6         8.3
//
// Limits. What is kept for alignments is of whole vectors, so that align/aligner.cpp takes align/single.hpp for long
// pairs.
//
// Alignments. Two bits a cell are kept: whether a column of two letters is not on a best path, and whether a deletion
// is.

constexpr int kWordLanes = kVectorBytes / 8;
constexpr int kChunk = 64;  // columns
constexpr int kMostUnitBlocks = 4;

typedef uint64_t Words __attribute__((vector_size(kVectorBytes)));
typedef int64_t Longs __attribute__((vector_size(kVectorBytes)));

struct EditBlock {
    Words plus, minus;  // vertical differences of +1 and -1 at the column that was computed last
    Words plane[kPlanes];
    Words padded;
};

struct EditColumn {
    Words plane[kPlanes];  // all ones or all zeros in each lane
};

struct EditCarry {
    Words plus, minus;  // horizontal differences of +1 and -1 at a block's last row, as 0 or 1
};

struct EditTrace {
    Words unmatched, deleted;
};

// A block over one column. `carry` is that of the row above it, and becomes that of its last row.
template <bool kThird, bool kSemi, bool kKeep>
PAIRHMM_INLINE void edit_step(Words& plus, Words& minus, const Words* plane, Words padded, const EditColumn& column,
                              EditCarry& carry, EditTrace* kept) {
    Words differs = (plane[0] ^ column.plane[0]) | (plane[1] ^ column.plane[1]);
    if constexpr (kThird) differs |= plane[2] ^ column.plane[2];
    const Words equal = kSemi ? ~differs | padded : ~(differs | padded);
    const Words vertical = equal | minus;
    const Words starts = equal | carry.minus;
    const Words horizontal = (((starts & plus) + plus) ^ plus) | starts;
    const Words up = minus | ~(horizontal | plus), down = plus & horizontal;
    if constexpr (kKeep) *kept = {(horizontal | minus) & ~equal, up};
    const Words up_above = (up << 1) | carry.plus, down_above = (down << 1) | carry.minus;
    carry = {up >> 63, down >> 63};
    plus = down_above | ~(vertical | up_above);
    minus = up_above & vertical;
}

template <int kBlocks, bool kThird, bool kSemi, bool kKeep>
inline void edit_unit(EditBlock* block, const EditColumn* column, EditCarry* carry, int columns, EditTrace* kept,
                      int64_t stride) {
    Words plus[kBlocks], minus[kBlocks], plane[kBlocks][kPlanes], padded[kBlocks];
    for (int b = 0; b < kBlocks; ++b) {
        plus[b] = block[b].plus, minus[b] = block[b].minus, padded[b] = block[b].padded;
        for (int p = 0; p < kPlanes; ++p) plane[b][p] = block[b].plane[p];
    }
    for (int c = 0; c < columns; ++c) {
        EditCarry passed = carry[c];
        for (int b = 0; b < kBlocks; ++b)
            edit_step<kThird, kSemi, kKeep>(plus[b], minus[b], plane[b], padded[b], column[c], passed,
                                            kKeep ? kept + c * stride + b : nullptr);
        carry[c] = passed;
    }
    for (int b = 0; b < kBlocks; ++b) block[b].plus = plus[b], block[b].minus = minus[b];
}

template <bool kSemi, bool kKeep>
class EditSweep {
public:
    void run(const EditCall& call) {
        load(call);
        start(call);
        for (int32_t begin = 0; begin < widest_; begin += kChunk) {
            const int32_t end = smaller(begin + kChunk, widest_);
            if (*call.stop) {
                for (int l = 0; l < call.count; ++l) call.distance[l] = -1;
                return;
            }
            choose_blocks(call, begin, end);
            compute(begin, end);
            tally(call, begin, end);
            if constexpr (kSemi) drop_blocks(call, end);
        }
        for (int l = 0; l < call.count; ++l) {
            const bool is_known = call.most < 0 || (distance_[l] <= call.most && is_in_band(call, l));
            call.distance[l] = is_known ? distance_[l] : -1;
            if constexpr (kKeep) {
                if (is_known) trace(call, l);
            }
        }
    }

private:
    // Whether the band has the last cell of the pair.
    static bool is_in_band(const EditCall& call, int l) {
        const int64_t excess = int64_t{call.pair[l].query_length} - call.pair[l].target_length;
        return kSemi || (excess <= call.most && -excess <= call.most);
    }

    struct Kept {
        int64_t at;  // in trace_, of the first column
        int32_t first, blocks;
    };

    void load(const EditCall& call) {
        int32_t longest = 0;
        widest_ = 0;
        for (int l = 0; l < call.count; ++l) {
            longest = larger(longest, call.pair[l].query_length);
            widest_ = larger(widest_, call.pair[l].target_length);
        }
        blocks_ = (longest + 63) / 64;
        chunks_ = (widest_ + kChunk - 1) / kChunk;
        EditBlock* block = block_.of(blocks_);
        EditColumn* bits = bits_.of(chunks_);
        std::memset(static_cast<void*>(block), 0, sizeof(EditBlock) * blocks_);
        std::memset(static_cast<void*>(bits), 0, sizeof(EditColumn) * chunks_);
        LetterWord* words = words_.of(larger(blocks_, chunks_) + 1);
        uint64_t third = 0;
        for (int l = 0; l < kWordLanes; ++l) {
            const int32_t length = l < call.count ? call.pair[l].query_length : 0;
            const int32_t pad = padding_[l] = 64 * blocks_ - length;
            for (int32_t b = 0; b < pad / 64; ++b) block[b].padded[l] = ~uint64_t{0};
            if (pad % 64 > 0) block[pad / 64].padded[l] = (uint64_t{1} << pad % 64) - 1;
            if (l >= call.count) continue;
            letter_words(call.pair[l].query, length, words);
            const int shift = pad % 64;
            for (int p = 0; p < kPlanes; ++p) {
                uint64_t carried = 0;
                for (int32_t b = pad / 64, w = 0; b < blocks_; ++b, ++w) {
                    const uint64_t word = 64 * w < length ? words[w].plane[p] : 0;
                    block[b].plane[p][l] = word << shift | carried;
                    carried = shift > 0 ? word >> (64 - shift) : 0;
                    if (p == 2) third |= block[b].plane[p][l];
                }
            }
            const int32_t width = call.pair[l].target_length;
            letter_words(call.pair[l].target, width, words);
            for (int32_t c = 0; c * kChunk < width; ++c) {
                for (int p = 0; p < kPlanes; ++p) bits[c].plane[p][l] = words[c].plane[p];
                third |= words[c].plane[2];
            }
        }
        has_third_ = third != 0;
    }

    void start(const EditCall& call) {
        first_ = 0;
        last_ = -1;
        score_ = Longs{};
        kept_words_ = 0;
        if constexpr (kKeep) kept_.of(chunks_);
        if constexpr (kSemi) {
            int32_t lowest = 0;  // row with a value of at most `most` at column 0
            for (int l = 0; l < call.count; ++l) {
                const int32_t length = call.pair[l].query_length;
                const int32_t rows = call.most < 0 || call.most > length ? length : static_cast<int32_t>(call.most);
                lowest = larger(lowest, padding_[l] + rows);
                best_[l] = length;
                best_at_[l] = 0;
            }
            add_blocks(smaller(blocks_ - 1, (lowest + 63) / 64 - 1));
        }
    }

    // Blocks up to `last` join; their rows go on from the last one that was computed, by a difference a row.
    void add_blocks(int32_t last) {
        while (last_ < last) {
            EditBlock& block = block_[++last_];
            block.plus = ~block.padded;
            block.minus = Words{};
            for (int l = 0; l < kWordLanes; ++l) score_[l] += __builtin_popcountll(block.plus[l]);
        }
    }

    void choose_blocks(const EditCall& call, int32_t begin, int32_t end) {
        if (call.most < 0) {
            add_blocks(blocks_ - 1);
        } else if constexpr (kSemi) {
            add_blocks(smaller(last_ + 1, blocks_ - 1));
        } else {
            int64_t top = INT64_MAX, bottom = 0;  // padded rows, from 1 on
            for (int l = 0; l < call.count; ++l) {
                const int64_t excess = int64_t{call.pair[l].query_length} - call.pair[l].target_length;
                const int64_t highest = begin + padding_[l] + (excess - call.most) / 2 - 1;
                const int64_t lowest = end + padding_[l] + (excess + call.most) / 2 + 1;
                if (highest < top) top = highest;
                if (lowest > bottom) bottom = lowest;
            }
            const int64_t last = (bottom - 1) / 64, first = top < 1 ? 0 : (top - 1) / 64;
            add_blocks(last < blocks_ - 1 ? static_cast<int32_t>(last) : blocks_ - 1);
            first_ = first < last_ ? static_cast<int32_t>(first) : last_;
        }
    }

    void compute(int32_t begin, int32_t end) {
        const int columns = end - begin;
        const EditColumn& bits = bits_[begin / kChunk];
        const Words one = Words{} + 1;
        for (int c = 0; c < columns; ++c) {
            const Words bit = one << c;
            for (int p = 0; p < kPlanes; ++p) column_[c].plane[p] = (Words)((bits.plane[p] & bit) == bit);
            carry_[c] = {kSemi ? Words{} : one, Words{}};
        }
        const int32_t height = last_ - first_ + 1;
        EditTrace* kept = nullptr;
        if constexpr (kKeep) {
            kept_[begin / kChunk] = {kept_words_, first_, height};
            kept = trace_.extended(kept_words_ + int64_t{height} * columns, kept_words_) + kept_words_;
            kept_words_ += int64_t{height} * columns;
        }
        for (int32_t b = first_; b <= last_;) {
            const int32_t left = last_ - b + 1;
            const int32_t size = left >= kMostUnitBlocks ? kMostUnitBlocks : left;
            EditTrace* of_unit = kKeep ? kept + (b - first_) : nullptr;
            if (has_third_) {
                unit<true>(size, b, columns, of_unit, height);
            } else {
                unit<false>(size, b, columns, of_unit, height);
            }
            b += size;
        }
    }

    template <bool kThird>
    void unit(int32_t size, int32_t b, int columns, EditTrace* kept, int64_t stride) {
        EditBlock* block = &block_[b];
        if (size == 4) edit_unit<4, kThird, kSemi, kKeep>(block, column_, carry_, columns, kept, stride);
        if (size == 3) edit_unit<3, kThird, kSemi, kKeep>(block, column_, carry_, columns, kept, stride);
        if (size == 2) edit_unit<2, kThird, kSemi, kKeep>(block, column_, carry_, columns, kept, stride);
        if (size == 1) edit_unit<1, kThird, kSemi, kKeep>(block, column_, carry_, columns, kept, stride);
    }

    // Adds the chunk's horizontal differences to the scores; takes those of lanes that end in it.
    void tally(const EditCall& call, int32_t begin, int32_t end) {
        const bool is_bottom = last_ == blocks_ - 1;
        for (int l = 0; l < call.count; ++l) {
            const int32_t width = call.pair[l].target_length;
            if (width <= begin || width > end) continue;
            int64_t score = score_[l], best = best_[l], best_at = best_at_[l];
            for (int32_t c = 0; c < width - begin; ++c) {
                score += static_cast<int64_t>(carry_[c].plus[l]) - static_cast<int64_t>(carry_[c].minus[l]);
                if (kSemi && is_bottom && score < best) best = score, best_at = begin + c + 1;
            }
            distance_[l] = static_cast<int32_t>(kSemi ? best : score);
            end_[l] = kSemi ? static_cast<int32_t>(best_at) : width;
        }
        Longs score = score_, best = best_, best_at = best_at_;
        for (int32_t c = 0; c < end - begin; ++c) {
            score += (Longs)(carry_[c].plus - carry_[c].minus);
            if (kSemi && is_bottom) {
                const Longs better = score < best;
                best = better ? score : best;
                best_at = better ? Longs{} + (begin + c + 1) : best_at;
            }
        }
        score_ = score, best_ = best, best_at_ = best_at;
    }

    // Drops the blocks at the bottom in which every value is above `most`.
    void drop_blocks(const EditCall& call, int32_t end) {
        if (call.most < 0) return;
        while (last_ > 0) {
            const EditBlock& block = block_[last_];
            Longs above = score_;
            bool is_needed = false;
            for (int l = 0; l < call.count; ++l) {
                above[l] += __builtin_popcountll(block.minus[l]) - __builtin_popcountll(block.plus[l]);
                // A value is at least the mean of those at both ends of the block less the 64 steps between them.
                if (call.pair[l].target_length > end && (above[l] + score_[l] - 64) / 2 <= call.most) is_needed = true;
            }
            if (is_needed) return;
            score_ = above;
            --last_;
        }
    }

    void trace(const EditCall& call, int l) {
        const SequencePair& pair = call.pair[l];
        int32_t i = pair.query_length, j = end_[l];
        cigar_.begin(int64_t{i} + j);
        while (i > 0 && j > 0) {
            const int32_t row = i + padding_[l] - 1;
            const Kept& chunk = kept_[(j - 1) / kChunk];
            const EditTrace& kept =
                trace_[chunk.at + int64_t{(j - 1) % kChunk} * chunk.blocks + row / 64 - chunk.first];
            const int bit = row % 64;
            if ((kept.unmatched[l] >> bit & 1) == 0) {
                cigar_.add(kMatched, 1);
                --i, --j;
            } else if (kept.deleted[l] >> bit & 1) {
                cigar_.add(kDeleted, 1);
                --j;
            } else {
                cigar_.add(kInserted, 1);
                --i;
            }
        }
        cigar_.add(kInserted, i);
        if (!kSemi) {
            cigar_.add(kDeleted, j);
            j = 0;
        }
        call.sink->take(call.sink->context, l, {-distance_[l], j, end_[l], cigar_.size(), cigar_.data()});
    }

    int32_t blocks_ = 0, chunks_ = 0, widest_ = 0, first_ = 0, last_ = -1;
    bool has_third_ = false;
    int32_t padding_[kWordLanes], distance_[kWordLanes], end_[kWordLanes];
    Longs score_, best_, best_at_;  // at the last row of block last_
    Room<EditBlock> block_;
    Room<EditColumn> bits_;  // of each chunk, a bit a column
    Room<LetterWord> words_;
    EditColumn column_[kChunk];
    EditCarry carry_[kChunk];
    Room<Kept> kept_;  // of each chunk
    Room<EditTrace> trace_;
    int64_t kept_words_ = 0;
    CigarFromEnd cigar_;
};

template <bool kSemi, bool kKeep>
inline void edit_over(const EditCall& call) {
    thread_local EditSweep<kSemi, kKeep> sweep;
    sweep.run(call);
}

inline void edit(const EditCall& call) {
    if (call.sink != nullptr) {
        call.semi_global ? edit_over<true, true>(call) : edit_over<false, true>(call);
    } else {
        call.semi_global ? edit_over<true, false>(call) : edit_over<false, false>(call);
    }
}
