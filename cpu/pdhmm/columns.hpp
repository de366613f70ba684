// Columns of partially determined haplotypes (pairhmm/models/partially_determined.py), and the tree of a group's
// haplotypes: those that begin alike share their first columns.
#pragma once

#include <cstdint>
#include <vector>

#include "forward/batch.hpp"
#include "threads/pool.hpp"

namespace pairhmm {

// Flags of a letter. The alleles of a SNP, A C G T, are the four bits from kFirstAllele on.
constexpr uint8_t kSnp = 1, kDeletionStarts = 2, kDeletionEnds = 4, kFirstAllele = 8;

// What happens behind a column, in this order.
constexpr uint8_t kJoins = 1;     // a deletion ends: states become the larger of themselves and of those kept
constexpr uint8_t kKeeps = 2;     // the next column begins a deletion: states are kept
constexpr uint8_t kFirstRow = 4;  // of kKeeps: in the first row alone; the others keep zeros

// A letter with its case, and the alleles of its SNP, a bit each; 0 without a SNP.
struct PdLetter {
    uint8_t letter, alleles;
};

inline PdLetter pd_letter(uint8_t letter, uint8_t flags) {
    return {letter, static_cast<uint8_t>(flags & kSnp ? flags / kFirstAllele & 15 : 0)};
}

// The steps behind each column of a haplotype of n letters.
std::vector<uint8_t> pd_steps(const uint8_t* flags, int64_t n);

struct PdHaplotypes {
    int64_t haplotypes;
    const int64_t* offset;  // [haplotypes + 1]
    const uint8_t *letters, *flags;
};

// What WebGPU takes of each letter: bit c is set where the letter matches a base of code c, and the steps behind the
// column are kDeviceSteps bits further up, where no code is.
constexpr int kDeviceSteps = 5;
void pd_device_columns(const PdHaplotypes& of, ThreadPool& pool, uint16_t* columns);

// What CUDA takes of each letter: the bits of A C G T alone, the steps kByteSteps bits further up, and kNear where this
// column or one of the next `run` - 1 has any.
constexpr int kByteSteps = 4;
constexpr uint8_t kUpperBases = 15, kNear = 128;

// The haplotypes of each group in an order in which those that begin alike are neighbours.
struct PdPlace {
    uint32_t haplotype;
    uint32_t common;  // columns that it takes over from the one before it: a multiple of `run`, less than its letters
};

// Writes these columns, and a place for each haplotype. Returns the most states that are kept at once.
// group_haplotype: [groups + 1]
int64_t pd_device_places(const PdHaplotypes& of, int64_t groups, const int64_t* group_haplotype, int64_t run,
                         ThreadPool& pool, uint8_t* columns, PdPlace* places);

// Columns that follow each other without a branch (as Segment in forward/trees.hpp).
struct PdSegment {
    int64_t first, end;  // indices into PdTree::column
    int32_t from;        // the slot that its states are saved in; -1 at the root
    int32_t save;        // the slot that the states behind it are saved in; -1 where no segment follows it
    int32_t leaf;        // of the haplotypes that end with it; -1 where none does
};

struct PdColumn {
    uint8_t letter;  // index into PdTree::letters
    uint8_t steps;
    bool operator==(const PdColumn& other) const { return letter == other.letter && steps == other.steps; }
};

struct PdTree {
    std::vector<PdLetter> letters;    // different ones
    std::vector<PdColumn> columns;    // in depth-first order
    std::vector<PdSegment> segments;  // in depth-first order
    std::vector<int32_t> leaf_of;     // [haplotypes of the group]
    int32_t leaves = 0, slots = 0;
};

PdTree pd_tree(const Batch& batch, int64_t group);

}  // namespace pairhmm
