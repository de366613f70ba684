#include "calling/read_alleles.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace pairhmm {

namespace {

bool is_the_indel(const AlleleKeys& keys, int64_t allele, const Indel& indel) {
    const int64_t first = keys.inserted_offset[allele], size = keys.inserted_offset[allele + 1] - first;
    return indel.anchor == keys.anchor[allele] && indel.deleted == keys.deleted[allele] &&
           int64_t(indel.inserted.size()) == size &&
           (size == 0 || std::memcmp(indel.inserted.data(), keys.inserted + first, size) == 0);
}

int16_t carried_allele(const Reads& reads, int64_t read, const std::vector<Indel>& indels, const AlleleKeys& keys,
                       int64_t candidate, int16_t unknown) {
    const int64_t first = keys.allele_offset[candidate];
    bool is_reference = true;
    for (int64_t allele = first; allele < keys.allele_offset[candidate + 1]; ++allele) {
        const auto number = static_cast<int16_t>(allele - first + 1);
        if (keys.anchor[allele] != kNoIndel) {
            const auto is_it = [&](const Indel& indel) { return is_the_indel(keys, allele, indel); };
            if (std::any_of(indels.begin(), indels.end(), is_it)) return number;
            continue;
        }
        bool is_now = true;
        for (int64_t i = keys.change_offset[allele]; i < keys.change_offset[allele + 1]; ++i) {
            const int letter = letter_at(reads, read, keys.position[i]);
            is_now &= letter == keys.now[i];
            is_reference &= letter == keys.was[i];
        }
        if (is_now) return number;
    }
    return is_reference ? 0 : unknown;
}

}  // namespace

void read_alleles(const Reads& reads, const int64_t* read, int64_t count, const int64_t* read_end,
                  const ReferenceWindows& reference, const AlleleKeys& keys, int16_t unknown, int16_t* carried) {
    std::vector<Indel> indels;
    for (int64_t row = 0; row < count; ++row) {
        const int64_t index = read[row];
        read_indels(reads, index, reference, indels);
        for (int64_t candidate = 0; candidate < keys.candidates; ++candidate, ++carried) {
            const bool spans = reads.start[index] <= keys.begin[candidate] && read_end[row] >= keys.end[candidate];
            *carried = spans ? carried_allele(reads, index, indels, keys, candidate, unknown) : unknown;
        }
    }
}

}  // namespace pairhmm
