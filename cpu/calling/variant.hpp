// A variant: a position with its alleles, which are trimmed and shifted, and the extent of bases that it touches.
//
// Positions are 0-based, intervals half-open; bases are upper-case letters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calling/artefact.hpp"

namespace pairhmm {

// Bases that an insertion or deletion is shifted through a repeat at most. Short reads do not span longer repeats.
constexpr int64_t kMaxShift = 150;

// The allele of a chromosome on which a deletion that begins further ahead takes a site away (VCF 4.3).
constexpr char kSpannedAllele[] = "*";

// Why a candidate is in a region.
enum class Role : uint8_t {
    kAsked,     // its genotype is written
    kContext,   // it lies outside the regions that were asked for
    kNuisance,  // reads show it, but it is not among the listed candidates
};

struct Variant {
    std::string chrom;
    int64_t pos = 0;  // of the first base of `ref`
    std::string ref;
    std::vector<std::string> alts;
    std::string id;            // of its record; empty without one
    int64_t record_index = 0;  // of its record in the file
    Role role = Role::kAsked;
    int64_t joined_until = 0;  // candidates before this position belong to its region: reads spell them together
    Artefact artefact = Artefact::kNone;  // that explains its alleles' reads better than these, in a mixture

    int64_t end() const { return pos + static_cast<int64_t>(ref.size()); }
};

struct Extent {
    int64_t start, end;
};

inline bool overlap(const Extent& one, const Extent& other) { return one.start < other.end && other.start < one.end; }
// The extent from the first base of two to the last one.
inline Extent span_of(const Extent& one, const Extent& other) {
    return {std::min(one.start, other.start), std::max(one.end, other.end)};
}

// The reference genome.
class ReferenceBases {
public:
    virtual ~ReferenceBases() = default;
    // Bases of [start, end), clamped to the contig.
    virtual std::string fetch(const std::string& chrom, int64_t start, int64_t end) = 0;
};

// Whether all alleles are single bases.
bool is_snv(const Variant& variant);
// Whether an alternative allele has another length than the reference.
bool has_gap(const Variant& variant);

// Whether an alternative allele is shorter than the reference.
bool has_deletion(const Variant& variant);

// Two alleles without the bases that they share.
struct TrimmedAllele {
    int64_t head;               // bases dropped from the start
    std::string_view ref, alt;  // one of the two is empty for a plain insertion or deletion
};

// Drops the bases that two alleles share, at the end first, then at the start.
TrimmedAllele trim_allele(std::string_view ref, std::string_view alt);

// Shifts a trimmed insertion or deletion left as far as it spells the same sequence and keeps an anchor base. `before`,
// which begins at `start` in `reference`, or `after` is empty: other changes are not shifted.
void shift_left(std::string_view reference, int64_t& start, std::string& before, std::string& after);

// The extent of a candidate: its reference bases, and those to which its insertions and deletions can be shifted. One
// base on either side of several that change: there, reads of such an allele are clipped.
Extent variant_extent(const Variant& variant, ReferenceBases& reference);
// The bases that a deletion behind the first base of its extent takes away wherever it is shifted; none of other
// variants.
Extent surely_deleted(const Variant& variant, const Extent& extent);

}  // namespace pairhmm
