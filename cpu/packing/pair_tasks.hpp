// Pairs of sequences in the order in which a device aligns them.
//
// Method: each pair goes to the lowest class that has its rows; a class's pairs are sorted by their columns, most
// first, within shares of the batch, and cut into tasks of a class's size. Empty places of a task repeat its last pair,
// without an index.
#pragma once

#include <cstdint>
#include <vector>

#include "threads/pool.hpp"

namespace pairhmm {

// words: [(count + 15) / 16]. unknown: [(count + 31) / 32], bit i % 32 of word i / 32 set for N. What is behind the
// last letter is 0. Returns whether there is any N; without any, `unknown` is not written.
bool pack_two_bits(const uint8_t* codes, int64_t count, uint32_t* words, uint32_t* unknown, ThreadPool& pool);

// words: [(count + 7) / 8].
void pack_four_bits(const uint8_t* codes, int64_t count, uint32_t* words, ThreadPool& pool);

// A sequence's letters are those of `offset` less `base`, in packed letters.
struct PackedSequences {
    const int64_t* offset;
    const int32_t* index;  // [pairs]
    int64_t base;
    const uint32_t* unknown;  // bits of N, by packed letters; null where there is no N
};

struct PairClasses {
    std::vector<int64_t> rows;  // the most, in ascending order; the last class takes any number
    std::vector<int64_t> pairs_of_task;
    enum Rows { kShorter, kQuery, kTarget } rows_are;
    // A pair fits if per_letter * (letters of the shorter) + per_row * rows is at most `most`.
    int64_t per_letter, per_row, most;
};

struct DevicePair {
    uint32_t row_letter, rows, column_letter, columns;
};

class PairTasks {
public:
    // Looks at pairs, whose arrays must stay until write() has returned.
    PairTasks(int64_t pairs, const PackedSequences& queries, const PackedSequences& targets, const PairClasses& classes,
              ThreadPool& pool);

    int64_t slots() const { return slots_; }
    const std::vector<int64_t>& first_task() const { return first_task_; }  // [classes + 1], in tasks of all classes
    const std::vector<int64_t>& first_slot() const { return first_slot_; }  // [classes + 1]
    const std::vector<int64_t>& longest_rows() const { return longest_rows_; }        // [classes]
    const std::vector<int64_t>& longest_columns() const { return longest_columns_; }  // [classes]
    std::vector<int32_t> left() const;  // pairs with N, with an empty sequence, or that do not fit

    // pairs, index: [slots]
    void write(DevicePair* pairs, uint32_t* index, ThreadPool& pool) const;

private:
    struct Share {
        std::vector<uint64_t> keys;   // class, columns, pair within the share
        std::vector<int64_t> counts;  // of each class
        std::vector<int32_t> left;
        std::vector<int64_t> longest_rows, longest_columns;  // of each class
    };

    void look_at(int64_t share);
    DevicePair pair(int64_t i) const;
    bool has_unknown(const PackedSequences& of, int64_t i) const;

    const int64_t pairs_;
    const PackedSequences queries_, targets_;
    const PairClasses classes_;
    std::vector<uint8_t> class_of_rows_;  // up to those of the last class but one
    std::vector<Share> shares_;
    std::vector<int64_t> first_task_, first_slot_, longest_rows_, longest_columns_;
    int64_t slots_ = 0;
};

}  // namespace pairhmm
