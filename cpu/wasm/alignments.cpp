// Exports of formats/alignments.hpp: records of unpacked BAM to flat arrays (web/src/files/alignments.js).
#include "formats/alignments.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "calling/cigar.hpp"
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
    const int32_t *length, *is_circle;
    uint32_t excluded_flags;
    int32_t min_mapq;
    int32_t default_quality, highest_quality;
    uint32_t groups;
    const char* group_names;    // end to end
    const uint32_t* group_end;  // [groups]
    const int32_t* group_sample;
    int32_t default_sample;
    int32_t jump;
    uint32_t indel_tags, trims_ends;
    uint32_t primers;
    const int32_t *primer_contig, *primer_start, *primer_end, *primer_is_reverse;
};

pairhmm::PrimerList primers_in(const GivenRules& given) {
    pairhmm::PrimerList primers;
    for (uint32_t i = 0; i < given.primers; ++i)
        primers.emplace_back(given.primer_contig[i], given.primer_start[i], given.primer_end[i],
                             given.primer_is_reverse[i] != 0);
    return primers;
}

// Fields in the order in which web/src/files/read_block.js reads them.
struct BlockView {
    View name_end, sample, flag, start, end, base_offset, names, odd, groups, group_end;
};

std::vector<int32_t> numbers(const int32_t* values, uint32_t count) { return {values, values + count}; }

template <class Values>
void append_part(const Values& from, int64_t first, int64_t end, Values& to) {
    to.insert(to.end(), from.begin() + first, from.begin() + end);
}

// Indel qualities of a read, which may be in a block without any.
void append_indel_qualities(const pairhmm::Bytes& from, int64_t first, int64_t end, pairhmm::Bytes& to) {
    if (from.empty()) to.resize(to.size() + static_cast<size_t>(end - first), pairhmm::kNoIndelQuality);
    else append_part(from, first, end, to);
}

void append_read(const AlignmentBlock& from, int64_t read, bool has_indel_qualities, AlignmentBlock& to) {
    const int64_t base = from.base_offset[read], base_end = from.base_offset[read + 1];
    append_part(from.bases, base, base_end, to.bases);
    append_part(from.quals, base, base_end, to.quals);
    if (has_indel_qualities) {
        append_indel_qualities(from.insertion, base, base_end, to.insertion);
        append_indel_qualities(from.deletion, base, base_end, to.deletion);
    }
    append_part(from.cigar, from.cigar_offset[read], from.cigar_offset[read + 1], to.cigar);
    const int64_t name = read == 0 ? 0 : from.name_end[read - 1];
    to.names.append(from.names, static_cast<size_t>(name), static_cast<size_t>(from.name_end[read] - name));
    to.base_offset.push_back(static_cast<int64_t>(to.bases.size()));
    to.cigar_offset.push_back(static_cast<int64_t>(to.cigar.size()));
    to.name_end.push_back(static_cast<int64_t>(to.names.size()));
    to.sample.push_back(from.sample[read]);
    to.flag.push_back(from.flag[read]);
    to.mapq.push_back(from.mapq[read]);
    to.start.push_back(from.start[read]);
    to.end.push_back(from.end[read]);
}

AlignmentBlock merged(uint32_t parts, const AlignmentBlock* const* block, const uint32_t* first, const uint32_t* end) {
    std::vector<std::pair<const AlignmentBlock*, int64_t>> reads;
    bool has_indel_qualities = false;
    for (uint32_t part = 0; part < parts; ++part) {
        for (int64_t read = first[part]; read < end[part]; ++read) reads.emplace_back(block[part], read);
        has_indel_qualities |= !block[part]->insertion.empty();
    }
    std::stable_sort(reads.begin(), reads.end(),
                     [](const auto& a, const auto& b) { return a.first->start[a.second] < b.first->start[b.second]; });
    AlignmentBlock whole;
    whole.contig = block[0]->contig;
    for (const auto& [from, read] : reads) append_read(*from, read, has_indel_qualities, whole);
    return whole;
}

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
    rules.is_circle.assign(given->is_circle, given->is_circle + given->contigs);
    rules.excluded_flags = given->excluded_flags;
    rules.min_mapq = given->min_mapq;
    rules.default_quality = given->default_quality;
    rules.highest_quality = given->highest_quality;
    for (uint32_t group = 0, begin = 0; group < given->groups; begin = given->group_end[group++]) {
        const std::string name(given->group_names + begin, given->group_names + given->group_end[group]);
        rules.sample_of_group[name] = given->group_sample[group];
    }
    rules.default_sample = given->default_sample;
    rules.jump = given->jump;
    rules.indel_tags = given->indel_tags != 0;
    rules.trims_ends = given->trims_ends != 0;
    rules.primers = pairhmm::primers_of(primers_in(*given), given->contigs);
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

// Of reads on contigs with primers: how many begin in none, and in one.
PAIRHMM_EXPORT("alignments_begun") void* pairhmm_alignments_begun(const AlignmentParser* parser) {
    return pairhmm::handed_over(std::vector<uint32_t>(parser->begun(), parser->begun() + 2));
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

PAIRHMM_EXPORT("alignments_take") AlignmentBlock* pairhmm_alignments_take(AlignmentParser* parser) {
    return new AlignmentBlock(parser->take());
}

// The reads [first, end) of some blocks of a contig as a block, by start. Those of one start stay in the given order.
PAIRHMM_EXPORT("alignments_merge")
AlignmentBlock* pairhmm_alignments_merge(uint32_t parts, const AlignmentBlock* const* block, const uint32_t* first,
                                         const uint32_t* end) {
    return new AlignmentBlock(merged(parts, block, first, end));
}

// Its number in the run; -1 without reads.
PAIRHMM_EXPORT("alignments_contig") int32_t pairhmm_alignments_contig(const AlignmentBlock* block) {
    return block->contig;
}

PAIRHMM_EXPORT("alignments_view") void pairhmm_alignments_view(const AlignmentBlock* block, BlockView* view) {
    *view = {View(block->name_end), View(block->sample),      View(block->flag),  View(block->start),
             View(block->end),      View(block->base_offset), View(block->names), View(block->odd),
             View(block->groups),   View(block->group_end)};
}

// The first read that nothing else takes: its number, its highest quality, the bases that its CIGAR spells, and those
// that it has. Nothing without one.
PAIRHMM_EXPORT("alignments_unfit") void* pairhmm_alignments_unfit(const AlignmentBlock* block) {
    std::vector<int32_t> unfit;
    if (const int64_t read = block->unfit; read >= 0) {
        const auto first = block->quals.begin() + block->base_offset[read];
        const auto end = block->quals.begin() + block->base_offset[read + 1];
        int32_t spelled = 0;
        for (int64_t i = block->cigar_offset[read]; i < block->cigar_offset[read + 1]; ++i)
            if (pairhmm::reads_bases(block->cigar[i] & 15)) spelled += static_cast<int32_t>(block->cigar[i] >> 4);
        unfit = {static_cast<int32_t>(read), first == end ? 0 : *std::max_element(first, end), spelled,
                 static_cast<int32_t>(end - first)};
    }
    return pairhmm::handed_over(unfit);
}

PAIRHMM_EXPORT("alignments_block_free") void pairhmm_alignments_block_free(AlignmentBlock* block) { delete block; }
