// Primers of a tiling scheme, and the bases of reads that come from them: these are the primer's, not the sample's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "formats/bam_record.hpp"
#include "formats/read_ends.hpp"

namespace pairhmm {

// Where primers lie: [start, end).
struct Primer {
    int64_t start, end;
};

// The primers of a contig that are on one strand, in order of start.
class PrimersOfStrand {
public:
    PrimersOfStrand() = default;
    explicit PrimersOfStrand(std::vector<Primer> primers);

    bool empty() const { return primers_.empty(); }
    // The bases from the first to the last of the primers that a position lies in.
    std::optional<Primer> around(int64_t position) const;

private:
    std::vector<Primer> primers_;
    int64_t longest_ = 0;
};

// Fragments begin with a forward primer and end with a reverse one.
struct ContigPrimers {
    PrimersOfStrand forward, reverse;

    bool empty() const { return forward.empty() && reverse.empty(); }
};

// Contig, start and end of each primer, and whether it is on the reverse strand.
using PrimerList = std::vector<std::tuple<size_t, int64_t, int64_t, bool>>;

// The primers of so many contigs; nothing without primers.
std::vector<ContigPrimers> primers_of(const PrimerList& primers, size_t contigs);

// What is left of a read without primers, and whether it begins in one.
struct PrimerCut {
    KeptBases kept;
    bool begins_in_primer;
};

// As in iVar, an end of a fragment that lies in a primer of its strand comes from it. A read has its own beginning; one
// without a mate has the other end, too; a pair that faces each other tells it to both. `end` is one behind the read's
// last reference base.
PrimerCut without_primers(const BamRecord& record, int64_t end, const ContigPrimers& primers);

}  // namespace pairhmm
