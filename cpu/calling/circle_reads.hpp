// Reads of a circular contig. A run has it unrolled: three times, end to end, of which the second turn is asked for.
// Reads over the origin are whole there, on the first two turns. So candidates beside the origin have the same reads
// and the same neighbours as others.
//
// A host reads the contig once a turn, and before that what lies near the origin.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calling/intervals.hpp"
#include "calling/read_buffer.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

constexpr int kTurns = 3;

class CircleReads {
public:
    using Places = std::vector<std::pair<int64_t, int64_t>>;

    CircleReads(std::string chrom, int64_t length)
        : chrom_(std::move(chrom)), length_(length), whole_(std::make_shared<ReadColumns>()) {}

    // Where alignments of reads over the origin lie, on the contig.
    Places near_origin() const;
    // Takes the reads there, in order, before all others; copies of the circle do not get them. `unrolled` has the
    // contig three times, end to end.
    void take_near_origin(const AlignedReads& reads, ReferenceBases& unrolled);
    // The circle for a run over some places of the unrolled contig, which are in order and do not overlap.
    CircleReads over(Places places) const;

    // The parts of the places that lie on a turn, on the contig.
    Places on_turn(int turn) const;
    // The reads of a turn's block, moved there, with those over the origin that begin before the last of them: in order
    // of start. Of the others, the parts of split reads are left out.
    ReadColumns turned(const AlignedReads& reads, int turn, ReferenceBases& unrolled);
    // Those over the origin that no block has reached.
    ReadColumns rest();

private:
    struct Waiting {
        int64_t start, read, distance;
    };

    std::vector<uint8_t> are_gone(const AlignedReads& reads, ReferenceBases& unrolled) const;
    void add_waiting(int64_t before, ReadColumns& to);

    std::string chrom_;
    int64_t length_;
    Places places_;
    std::shared_ptr<const ReadColumns> whole_;  // the reads over the origin, on the first turn
    std::vector<Waiting> waiting_;              // those of them over the places, on each turn, in order of start
    size_t next_ = 0;
};

}  // namespace pairhmm
