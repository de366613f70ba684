// Exports of calling/candidates.hpp, discovery.hpp, carried.hpp and repeats.hpp (web/src/genomics/discovery.js).
#include "calling/candidates.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "calling/discovery.hpp"
#include "calling/read_alleles.hpp"
#include "calling/repeats.hpp"
#include "wasm/arrays.hpp"
#include "wasm/reads.hpp"

namespace {

using pairhmm::Discovery;
using pairhmm::GivenReads;
using pairhmm::OwnReads;
using pairhmm::reference_windows;
using pairhmm::widened;

// As calling/read_alleles.hpp has them.
struct GivenKeys {
    uint32_t candidates;
    const int32_t *begin, *end;
    const uint32_t* allele_offset;
    const int32_t *anchor, *deleted;  // an anchor of -1: no indel
    const uint32_t* inserted_offset;
    const uint8_t* inserted;
    const uint32_t* change_offset;
    const int32_t* position;
    const uint8_t *was, *now;
};

}  // namespace

// The intervals of the reference that reads are compared with: start and end of each.
PAIRHMM_EXPORT("covered") void* pairhmm_covered(const GivenReads* given) {
    std::vector<int32_t> places;
    for (const auto& [start, end] : pairhmm::covered(OwnReads(*given).reads)) {
        places.push_back(static_cast<int32_t>(start));
        places.push_back(static_cast<int32_t>(end));
    }
    return pairhmm::handed_over(places);
}

PAIRHMM_EXPORT("discovery_make")
Discovery* pairhmm_discovery_make(int32_t samples, int32_t min_base_quality, int32_t min_snv_count,
                                  int32_t min_indel_count, double min_snv_fraction, double min_indel_fraction,
                                  int32_t assembles) {
    return new Discovery(samples,
                         {min_base_quality, min_snv_count, min_indel_count, min_snv_fraction, min_indel_fraction},
                         assembles != 0);
}

PAIRHMM_EXPORT("discovery_reset") void pairhmm_discovery_reset(Discovery* discovery) { discovery->reset(); }

PAIRHMM_EXPORT("discovery_add")
void pairhmm_discovery_add(Discovery* discovery, const GivenReads* given, uint32_t windows, const int32_t* start,
                           const uint32_t* offset, const uint8_t* letters) {
    discovery->add(OwnReads(*given).reads, reference_windows(windows, start, offset, letters));
}

// The windows to assemble before `frontier` (a negative one: all): start and end of each.
PAIRHMM_EXPORT("discovery_windows") void* pairhmm_discovery_windows(Discovery* discovery, int32_t frontier) {
    std::vector<int32_t> places;
    for (const auto& [start, end] :
         discovery->windows(frontier < 0 ? std::numeric_limits<int64_t>::max() / 2 : frontier)) {
        places.push_back(static_cast<int32_t>(start));
        places.push_back(static_cast<int32_t>(end));
    }
    return pairhmm::handed_over(places);
}

PAIRHMM_EXPORT("discovery_assemble")
void pairhmm_discovery_assemble(Discovery* discovery, const GivenReads* given, uint32_t windows, const int32_t* start,
                                const uint32_t* offset, const uint8_t* letters) {
    discovery->assemble(OwnReads(*given).reads, reference_windows(windows, start, offset, letters).windows);
}

// The next candidates: position, length in the reference, whether it is an indel, the position before which candidates
// belong to its region, the number of letters, and the letters' codes.
PAIRHMM_EXPORT("discovery_take") void* pairhmm_discovery_take(Discovery* discovery) {
    std::vector<int32_t> found;
    for (const auto& one : discovery->take()) {
        found.insert(found.end(), {static_cast<int32_t>(one.position), one.ref_length, one.indel,
                                   static_cast<int32_t>(one.joined_until), static_cast<int32_t>(one.alt.size())});
        found.insert(found.end(), one.alt.begin(), one.alt.end());
    }
    return pairhmm::handed_over(found);
}

PAIRHMM_EXPORT("longest_window") int32_t pairhmm_longest_window() { return pairhmm::kLongestWindow; }

PAIRHMM_EXPORT("discovery_settled") int32_t pairhmm_discovery_settled(const Discovery* discovery) {
    return static_cast<int32_t>(std::min<int64_t>(discovery->settled(), std::numeric_limits<int32_t>::max()));
}

// What is left of reads that are cut to windows: query [first, last).
PAIRHMM_EXPORT("cut_reads")
void pairhmm_cut_reads(const GivenReads* given, uint32_t count, const uint32_t* read, const int32_t* start,
                       const int32_t* end, const int32_t* slack, uint32_t* first, uint32_t* last) {
    const OwnReads own(*given);
    for (uint32_t i = 0; i < count; ++i) {
        int64_t from, to;
        pairhmm::cut_read(own.reads, read[i], start[i], end[i], slack[i], from, to);
        first[i] = static_cast<uint32_t>(from);
        last[i] = static_cast<uint32_t>(to);
    }
}

// from_end: group after group, [reads][positions]. read_offset, position_offset: [groups + 1].
PAIRHMM_EXPORT("bases_from_end")
void pairhmm_bases_from_end(const GivenReads* given, uint32_t groups, const uint32_t* read, const uint32_t* read_offset,
                            const int32_t* position, const uint32_t* position_offset, int32_t* from_end) {
    const OwnReads own(*given);
    for (uint32_t group = 0; group < groups; ++group)
        for (uint32_t r = read_offset[group]; r < read_offset[group + 1]; ++r)
            for (uint32_t p = position_offset[group]; p < position_offset[group + 1]; ++p)
                *from_end++ = static_cast<int32_t>(pairhmm::bases_from_end(own.reads, read[r], position[p]));
}

// carried: [reads][candidates], -1 where a read does not show any allele.
PAIRHMM_EXPORT("carried_alleles")
void pairhmm_carried_alleles(const GivenReads* given, const int32_t* read_end, int32_t start, uint32_t length,
                             const uint8_t* letters, const GivenKeys* given_keys, int16_t* carried) {
    const OwnReads own(*given);
    const GivenKeys& keys = *given_keys;
    const auto begin = widened(keys.begin, keys.candidates), end = widened(keys.end, keys.candidates);
    const auto allele_offset = widened(keys.allele_offset, int64_t{keys.candidates} + 1);
    const int64_t alleles = allele_offset.back();
    auto anchor = widened(keys.anchor, alleles);
    for (int64_t& one : anchor) {
        if (one < 0) one = pairhmm::kNoIndel;
    }
    const auto deleted = widened(keys.deleted, alleles), inserted_offset = widened(keys.inserted_offset, alleles + 1);
    const auto change_offset = widened(keys.change_offset, alleles + 1);
    const auto position = widened(keys.position, change_offset.back());
    std::vector<int64_t> reads;
    for (uint32_t read = 0; read < given->count; ++read) reads.push_back(read);
    const auto ends = widened(read_end, given->count);
    pairhmm::read_alleles(
        own.reads, reads.data(), given->count, ends.data(), {{{start, length, letters}}},
        {keys.candidates, begin.data(), end.data(), allele_offset.data(), anchor.data(), deleted.data(),
         inserted_offset.data(), keys.inserted, change_offset.data(), position.data(), keys.was, keys.now},
        -1, carried);
}

PAIRHMM_EXPORT("cap_indel_qualities")
void pairhmm_cap_indel_qualities(uint32_t reads, const uint32_t* offset, const uint8_t* base, const uint8_t* table,
                                 int32_t most, int32_t longest_unit, uint8_t* insertion, uint8_t* deletion) {
    const auto offsets = widened(offset, int64_t{reads} + 1);
    pairhmm::cap_indel_qualities(reads, offsets.data(), base, table, most, longest_unit, insertion, deletion);
}

PAIRHMM_EXPORT("classify_repeats")
void pairhmm_classify_repeats(uint32_t reads, const uint32_t* offset, const uint8_t* base, int32_t most,
                              int32_t longest_unit, uint8_t* kind) {
    const auto offsets = widened(offset, int64_t{reads} + 1);
    pairhmm::classify_repeats(reads, offsets.data(), base, most, longest_unit, kind);
}
