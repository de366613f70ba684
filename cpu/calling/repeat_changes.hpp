// Alleles of tandem repeats by what they change of the repeat's length.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "calling/candidates.hpp"

namespace pairhmm {

// Adds the alleles of whole copies that have the lengths which a read gives to tandem repeats of the reference. An
// error of sequencing in a repeat keeps an aligner from shifting an indel, from finding the copies in it, or from
// making it of one part: such reads would each show an allele of their own. A read that ends in a repeat does not show
// its length.
//
// indels: of the read, which is aligned to [start, end), in order.
void add_repeat_changes(const ReferenceWindows& reference, int64_t start, int64_t end, std::vector<Indel>& indels);

// The allele of whole copies of a tandem repeat of the reference that an indel is, told by a read that shows the bases
// [start, end) as the reference has them. None elsewhere, or where it is no whole copies.
std::optional<Indel> whole_copies(const ReferenceWindow& reference, int64_t start, int64_t end, const Indel& indel);

// The insertion and the deletion that make one SNV of two in a tandem repeat of the reference. Where a repeat has
// become longer or shorter, reads that reach its odd copy from the left show it in one place, and those from the right
// in another: few reads, or none, have both ends of the repeat. None for SNVs elsewhere.
std::vector<Indel> changes_between(const ReferenceWindow& reference, int64_t first, int64_t last);

}  // namespace pairhmm
