// What the genotypes of a site were weighed by, as facts and as text: for who asks why it is called, or not.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "calling/evidence_text.hpp"
#include "calling/genotyping.hpp"
#include "calling/records.hpp"

namespace pairhmm {

struct ToldGenotype {
    std::string genotype;
    double prior, likelihood;  // log10
    double posterior;
    double other_sources;  // the share of P(reads | genotype) that is not of reads which are all the sample's
};

// The genotypes of a sample, the likeliest first.
std::vector<ToldGenotype> told_genotypes(const WeighedGenotypes& weighed);

// The best genotype without each of the other sources of reads, by the source's name, where it is another one.
std::vector<std::pair<std::string, std::string>> best_without(const WeighedGenotypes& weighed);

// An allele of a record as discovery has it: insertions and deletions as far left as they can be.
AltAllele leftmost(AltAllele allele, const std::string& chrom, ReferenceBases& reference);

// alleles: of the site, leftmost. is_asked: whether it is in the regions that were asked for.
Lines site_text(const WeighedSite& site, const std::vector<AltAllele>& alleles, const Lines& samples,
                const RecordFormat& format, bool is_asked);

}  // namespace pairhmm
