#include "calling/neighbouring_sites.hpp"

#include <algorithm>
#include <map>

namespace pairhmm {

namespace {

// The reference bases that an alternative allele deletes.
Extent deleted(const Variant& variant, int allele) {
    const TrimmedAllele trimmed = trim_allele(variant.ref, variant.alts[allele - 1]);
    const int64_t start = variant.pos + trimmed.head;
    const bool is_shorter = trimmed.alt.size() < trimmed.ref.size();
    return {start, start + (is_shorter ? static_cast<int64_t>(trimmed.ref.size()) : 0)};
}

bool are_neighbours(const Variant& one, const Variant& other) {
    return other.pos == one.pos + 1 && is_snv(one) && is_snv(other);
}

using Alleles = std::vector<int64_t>;

// The alleles of a haplotype at each of some sites.
Alleles alleles_at(const std::vector<const std::vector<int64_t>*>& allele_of, size_t haplotype) {
    Alleles alleles;
    for (const std::vector<int64_t>* of_site : allele_of) alleles.push_back((*of_site)[haplotype]);
    return alleles;
}

bool is_reference(const Alleles& alleles) {
    return std::count(alleles.begin(), alleles.end(), 0) == std::ptrdiff_t(alleles.size());
}

std::string spell(const std::vector<const Variant*>& variants, const Alleles& alleles) {
    std::string spelled;
    for (size_t i = 0; i < variants.size(); ++i)
        spelled += alleles[i] > 0 ? variants[i]->alts[alleles[i] - 1] : variants[i]->ref;
    return spelled;
}

AllelePairs paired(const std::vector<int>& bases, const std::vector<int>& indels) {
    AllelePairs pairs;
    for (size_t copy = 0; copy < bases.size(); ++copy) pairs.emplace_back(bases[copy], indels[copy]);
    return pairs;
}

// The letters of an SNV's allele and of an allele of the indel behind it on one chromosome. Where another deletion
// takes one of the two sites away, they are those of the other.
std::string spell_pair(const Variant& snv, int64_t base, const Variant& indel, int64_t letters) {
    const std::string& at_base = base > 0 ? snv.alts[base - 1] : snv.ref;
    const std::string& behind = letters > 0 ? indel.alts[letters - 1] : indel.ref;
    if (at_base == kSpannedAllele) return letters > 0 ? behind : kSpannedAllele;
    if (behind == kSpannedAllele) return base > 0 ? at_base + indel.ref.substr(1) : kSpannedAllele;
    return at_base + behind.substr(1);
}

// The number of an allele with these letters, or -1.
int64_t allele_number(const Variant& variant, const std::string& letters) {
    if (letters == variant.ref) return 0;
    const auto found = std::find(variant.alts.begin(), variant.alts.end(), letters);
    return found == variant.alts.end() ? -1 : found - variant.alts.begin() + 1;
}

}  // namespace

SpanningDeletions deletions_over(size_t site, const std::vector<CalledVariant>& sites) {
    const int64_t position = sites[site].variant.pos;
    SpanningDeletions spanning;
    for (size_t other = 0; other < sites.size(); ++other) {
        if (other == site) continue;
        for (const int allele : sites[other].called) {
            const Extent gone = deleted(sites[other].variant, allele);
            if (position < gone.start || position >= gone.end) continue;
            for (size_t haplotype = 0; haplotype < sites[site].allele_of.size(); ++haplotype)
                if (sites[other].allele_of[haplotype] == allele && sites[site].allele_of[haplotype] == 0) {
                    spanning.sites.insert(other);
                    spanning.haplotypes.insert(haplotype);
                }
        }
    }
    return spanning;
}

std::vector<std::pair<size_t, size_t>> snv_runs(const std::vector<const Variant*>& variants) {
    std::vector<std::pair<size_t, size_t>> runs;
    for (size_t first = 0, last; first < variants.size(); first = last) {
        last = first + 1;
        while (last < variants.size() && are_neighbours(*variants[last - 1], *variants[last])) ++last;
        for (size_t size = last - first; size > 1; --size)
            for (size_t begin = first; begin + size <= last; ++begin) runs.emplace_back(begin, begin + size);
    }
    return runs;
}

JoinedSnvs join_snvs(const std::vector<const Variant*>& variants,
                     const std::vector<const std::vector<int64_t>*>& allele_of) {
    JoinedSnvs joined{*variants[0], {}, {}};
    std::vector<Alleles> of_haplotype;
    std::map<Alleles, int64_t> number_of;
    for (size_t haplotype = 0; haplotype < allele_of[0]->size(); ++haplotype) {
        const Alleles& alleles = of_haplotype.emplace_back(alleles_at(allele_of, haplotype));
        const bool is_known = *std::min_element(alleles.begin(), alleles.end()) >= 0;
        if (is_known && !is_reference(alleles)) number_of[alleles] = 0;
    }
    joined.variant.ref.clear();
    for (const Variant* variant : variants) joined.variant.ref += variant->ref;
    joined.variant.alts.clear();
    for (auto& [alleles, number] : number_of) {
        joined.variant.alts.push_back(spell(variants, alleles));
        number = static_cast<int64_t>(joined.variant.alts.size());
        if (std::count(alleles.begin(), alleles.end(), 0) == 0) joined.changed.insert(static_cast<int>(number));
    }
    for (const Alleles& alleles : of_haplotype) {
        const auto found = number_of.find(alleles);
        joined.allele_of.push_back(found != number_of.end() ? found->second : is_reference(alleles) ? 0 : -1);
    }
    return joined;
}

std::vector<AllelePairs> possible_pairs(const SampleGenotype& snv, const SampleGenotype& indel) {
    std::vector<int> bases = snv.phased.empty() ? snv.alleles : snv.phased;
    std::vector<int> indels = indel.phased.empty() ? indel.alleles : indel.phased;
    std::vector<AllelePairs> possible{paired(bases, indels)};
    const bool is_phased = snv.phase_set && snv.phase_set == indel.phase_set;
    if (is_phased || bases.front() == bases.back() || indels.front() == indels.back()) return possible;
    // The order of the haplotypes stays where it is known.
    std::vector<int>& turned = snv.phased.empty() ? bases : indels;
    std::reverse(turned.begin(), turned.end());
    possible.push_back(paired(bases, indels));
    return possible;
}

JoinedSites join_sites(const CalledVariant& snv, const CalledVariant& indel, const AllelePairs& pairs) {
    JoinedSites joined{indel.variant, {}, {}};
    joined.variant.alts.clear();
    const auto letters = [&](int64_t base, int64_t behind) {
        return spell_pair(snv.variant, base, indel.variant, behind);
    };
    for (const auto& [base, behind] : pairs) {
        const std::string allele = letters(base, behind);
        if (allele_number(joined.variant, allele) < 0) joined.variant.alts.push_back(allele);
        joined.alleles.push_back(static_cast<int>(allele_number(joined.variant, allele)));
    }
    for (size_t haplotype = 0; haplotype < snv.allele_of.size(); ++haplotype) {
        const int64_t base = snv.allele_of[haplotype], behind = indel.allele_of[haplotype];
        joined.allele_of.push_back(base < 0 || behind < 0 ? -1 : allele_number(joined.variant, letters(base, behind)));
    }
    return joined;
}

}  // namespace pairhmm
