// Exports of formats/alignments.hpp: records of unpacked BAM to flat arrays (web/src/files/alignments.js).
#include "formats/alignments.hpp"

#include <limits>
#include <string>
#include <vector>

#include "formats/bam_record.hpp"
#include "wasm/arrays.hpp"

namespace {

using pairhmm::AlignmentBlock;
using pairhmm::AlignmentParser;
using pairhmm::View;
using pairhmm::widened;

struct GivenRules {
    uint32_t contigs;
    const int32_t* rank;
    const int32_t* length;
    uint32_t excluded_flags;
    int32_t min_mapq;
    int32_t default_quality;
    uint32_t groups;
    const char* group_names;    // end to end
    const uint32_t* group_end;  // [groups]
    const int32_t* group_sample;
    int32_t default_sample;
    int32_t jump;
    uint32_t indel_tags;
};

// Fields in the order in which web/src/files/alignments.js reads them.
struct BlockView {
    int32_t contig;
    View name_end, sample, flag, mapq, start, end, base_offset, bases, quals, insertion, deletion, cigar_offset, cigar,
        names, odd, groups, group_end;
};

std::vector<int32_t> numbers(const int32_t* values, uint32_t count) { return {values, values + count}; }

}  // namespace

// Bytes of the header of an unpacked BAM; 0 where the data end before it, -1 where it is no BAM.
PAIRHMM_EXPORT("bam_header_size") int32_t pairhmm_bam_header_size(const uint8_t* data, uint32_t size) {
    const pairhmm::BamPiece piece = pairhmm::take_bam_header(data, size);
    return piece.is_broken ? -1 : static_cast<int32_t>(piece.end);
}

PAIRHMM_EXPORT("alignments_make") AlignmentParser* pairhmm_alignments_make(const GivenRules* given) {
    pairhmm::AlignmentRules rules;
    rules.rank = numbers(given->rank, given->contigs);
    rules.length = widened(given->length, given->contigs);
    rules.excluded_flags = given->excluded_flags;
    rules.min_mapq = given->min_mapq;
    rules.default_quality = given->default_quality;
    for (uint32_t group = 0, begin = 0; group < given->groups; begin = given->group_end[group++]) {
        const std::string name(given->group_names + begin, given->group_names + given->group_end[group]);
        rules.sample_of_group[name] = given->group_sample[group];
    }
    rules.default_sample = given->default_sample;
    rules.jump = given->jump;
    rules.indel_tags = given->indel_tags != 0;
    return new AlignmentParser(std::move(rules));
}

PAIRHMM_EXPORT("alignments_free") void pairhmm_alignments_free(AlignmentParser* parser) { delete parser; }

// A window whose end is negative has none.
PAIRHMM_EXPORT("alignments_set_window")
void pairhmm_alignments_set_window(AlignmentParser* parser, int32_t contig, int32_t start, int32_t end, int32_t seen,
                                   uint32_t parts, const int32_t* part_start, const int32_t* part_end,
                                   uint32_t may_jump) {
    const int64_t last = end < 0 ? std::numeric_limits<int64_t>::max() : end;
    pairhmm::ContigIntervals places{{}, widened(part_start, parts), widened(part_end, parts)};
    parser->set_window({contig, start, last, seen, std::move(places)}, may_jump != 0);
}

PAIRHMM_EXPORT("alignments_set_goals")
void pairhmm_alignments_set_goals(AlignmentParser* parser, uint32_t count, const int32_t* contig, const int32_t* start,
                                  const int32_t* end) {
    parser->set_goals({numbers(contig, count), widened(start, count), widened(end, count)});
}

// Takes records from `at` on, which is then behind the last one that was taken. Returns an AlignmentParser::Stop.
PAIRHMM_EXPORT("alignments_parse")
uint32_t pairhmm_alignments_parse(AlignmentParser* parser, const uint8_t* data, uint32_t size, uint32_t* at,
                                  uint32_t limit, uint32_t room) {
    int64_t place = *at;
    const AlignmentParser::Stop stop = parser->parse(data, size, place, limit, room);
    *at = static_cast<uint32_t>(place);
    return stop;
}

PAIRHMM_EXPORT("alignments_reads") uint32_t pairhmm_alignments_reads(const AlignmentParser* parser) {
    return static_cast<uint32_t>(parser->reads());
}

PAIRHMM_EXPORT("alignments_has_met") uint32_t pairhmm_alignments_has_met(const AlignmentParser* parser) {
    return parser->has_met();
}

PAIRHMM_EXPORT("alignments_left_out") void* pairhmm_alignments_left_out(const AlignmentParser* parser) {
    return pairhmm::handed_over(std::vector<uint32_t>(parser->left_out(), parser->left_out() + pairhmm::kReasons));
}

// After a stop for a jump: contig and position to go on at, and the position of the last read.
PAIRHMM_EXPORT("alignments_goal") void* pairhmm_alignments_goal(const AlignmentParser* parser) {
    return pairhmm::handed_over(std::vector<int32_t>{parser->goal_contig(), static_cast<int32_t>(parser->goal_start()),
                                                     static_cast<int32_t>(parser->start())});
}

// Of the read that `parse` stopped at: contig, position and its name's bytes.
PAIRHMM_EXPORT("alignments_place") void* pairhmm_alignments_place(const AlignmentParser* parser) {
    std::vector<int32_t> place{parser->contig(), static_cast<int32_t>(parser->start())};
    for (const char letter : parser->name()) place.push_back(static_cast<uint8_t>(letter));
    return pairhmm::handed_over(place);
}

PAIRHMM_EXPORT("alignments_take") AlignmentBlock* pairhmm_alignments_take(AlignmentParser* parser, BlockView* view) {
    auto* block = new AlignmentBlock(parser->take());
    *view = {block->contig,
             View(block->name_end),
             View(block->sample),
             View(block->flag),
             View(block->mapq),
             View(block->start),
             View(block->end),
             View(block->base_offset),
             View(block->bases),
             View(block->quals),
             View(block->insertion),
             View(block->deletion),
             View(block->cigar_offset),
             View(block->cigar),
             View(block->names),
             View(block->odd),
             View(block->groups),
             View(block->group_end)};
    return block;
}

PAIRHMM_EXPORT("alignments_block_free") void pairhmm_alignments_block_free(AlignmentBlock* block) { delete block; }
