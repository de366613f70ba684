// SNVs that reads show in and around a region, and which fragments show them. Alleles of one chromosome, or of one copy
// of a sequence elsewhere, are seen together: so a site is judged by more fragments than its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "calling/read_buffer.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

// How far around a region they are sought: as far as the mates of its reads lie. Reads are at hand up to 1,000 bases
// beyond intervals that are asked for.
constexpr int64_t kNeighbourhood = 600;

struct Neighbour {
    int64_t position;
    int32_t sample;
    std::vector<int64_t> covering,
        with;  // names of fragments over it, and those of them that show the allele; ascending
};

// What tells fragments apart: a hash of the name of their reads.
int64_t fragment_name(std::string_view name);

// The SNVs that reads show near [start, end). None where each allele inside has the share of the reads that alleles of
// a chromosome have.
std::vector<Neighbour> find_neighbours(const ReadBuffer& buffer, ReferenceBases& reference, int64_t start, int64_t end);

// What fragments that do not cover a site say of one of its alleles: how many cover a neighbour whose allele is seen
// together with it, and how many show that.
struct Linked {
    int64_t covering = 0, with = 0, neighbours = 0;
};

// covering, with: [fragments] of one sample over the site and those with the allele, ascending; [first, last): the
// site.
Linked linked_to(const std::vector<Neighbour>& neighbours, int32_t sample, int64_t first, int64_t last,
                 const std::vector<int64_t>& covering, const std::vector<int64_t>& with);

}  // namespace pairhmm
