// Exports of calling/circle_reads.hpp (web/src/call/circles.js).
#include "calling/circle_reads.hpp"

#include <utility>
#include <vector>

#include "wasm/arrays.hpp"
#include "wasm/run.hpp"

namespace {

using pairhmm::AlignmentBlock;
using pairhmm::CircleReads;
using pairhmm::Run;

// A circle of a run, and the reads that were turned last.
struct RunCircle {
    Run& run;
    int32_t contig;
    CircleReads reads;
    CircleReads::Places places;
    pairhmm::ReadColumns turned = {};
};

// Takes a step of a circle. One that lacks bases of the reference changes nothing.
template <class Step>
uint32_t take(RunCircle& circle, const Step& step) {
    CircleReads before = circle.reads;
    step(circle.reads);
    if (!circle.run.reference.lacks()) return 1;
    circle.reads = std::move(before);
    return 0;
}

AlignmentBlock block_of(const pairhmm::ReadColumns& reads, int32_t contig) {
    AlignmentBlock block;
    block.contig = contig;
    block.sample = reads.sample;
    block.flag = reads.flag;
    block.start = reads.start;
    block.end = reads.end;
    block.base_offset = reads.base_offset;
    block.cigar_offset = reads.cigar_offset;
    block.cigar = reads.cigar;
    block.names = reads.names;
    block.name_end = reads.name_end;
    for (auto [to, from] : {std::pair(&block.mapq, &reads.mapq),
                            {&block.bases, &reads.base},
                            {&block.quals, &reads.quality},
                            {&block.insertion, &reads.insertion},
                            {&block.deletion, &reads.deletion}})
        to->assign(from->begin(), from->end());
    return block;
}

}  // namespace

// places: of the unrolled contig, in order.
PAIRHMM_EXPORT("circle_make")
RunCircle* pairhmm_circle_make(Run* run, int32_t contig, uint32_t places, const int32_t* start, const int32_t* end) {
    CircleReads::Places wanted;
    for (uint32_t i = 0; i < places; ++i) wanted.emplace_back(start[i], end[i]);
    return new RunCircle{*run, contig, CircleReads(run->contig(contig), run->circle(contig)), std::move(wanted)};
}

PAIRHMM_EXPORT("circle_free") void pairhmm_circle_free(RunCircle* circle) { delete circle; }

// Where reads are to be read: on a turn, or, for turn -1, near the origin. Start and end of each place.
PAIRHMM_EXPORT("circle_places") void* pairhmm_circle_places(RunCircle* circle, int32_t turn) {
    if (turn == 0) circle->reads = circle->reads.over(circle->places);
    std::vector<int32_t> places;
    for (const auto& [start, end] : turn < 0 ? circle->reads.near_origin() : circle->reads.on_turn(turn))
        places.insert(places.end(), {static_cast<int32_t>(start), static_cast<int32_t>(end)});
    return pairhmm::handed_over(places);
}

// 0 where it lacked something.
PAIRHMM_EXPORT("circle_take_near_origin")
uint32_t pairhmm_circle_take_near_origin(RunCircle* circle, const AlignmentBlock* block) {
    return take(*circle, [&](CircleReads& reads) {
        reads.take_near_origin(pairhmm::aligned_reads(*block), circle->run.reference);
    });
}

// Turns the reads of a block. 0 where it lacked something.
PAIRHMM_EXPORT("circle_turn")
uint32_t pairhmm_circle_turn(RunCircle* circle, const AlignmentBlock* block, int32_t turn) {
    return take(*circle, [&](CircleReads& reads) {
        circle->turned = reads.turned(pairhmm::aligned_reads(*block), turn, circle->run.reference);
    });
}

// The reads that were turned last.
PAIRHMM_EXPORT("circle_turned") AlignmentBlock* pairhmm_circle_turned(const RunCircle* circle) {
    return new AlignmentBlock(block_of(circle->turned, circle->contig));
}

// The reads that no block has reached.
PAIRHMM_EXPORT("circle_rest") AlignmentBlock* pairhmm_circle_rest(RunCircle* circle) {
    return new AlignmentBlock(block_of(circle->reads.rest(), circle->contig));
}
