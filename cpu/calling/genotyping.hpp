// Genotypes the candidates of scored regions, and phases their heterozygous sites.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calling/error_rates.hpp"
#include "calling/families.hpp"
#include "calling/genotype_tables.hpp"
#include "calling/ploidy.hpp"
#include "calling/run_slips.hpp"
#include "calling/scored_region.hpp"
#include "calling/sites.hpp"

namespace pairhmm {

struct GenotypingOptions {
    double snv_prior, indel_prior;
    std::vector<SamplePloidy> ploidies;   // [samples]
    std::vector<Family> families;         // their members are numbers of samples
    std::optional<double> score_floor;    // how far a haplotype's score may lie below a read's best; none: no limit
    bool is_discovered;                   // candidates and alleles that no sample has are left out
    bool joins_snvs;                      // neighbouring SNVs of the same chromosomes are one site
    bool has_others;                      // each genotype gets the likelihoods for a gVCF
    SlipRates slips;                      // of reads in repeats, beyond which genotypes expect more
    std::vector<double> contamination;    // [samples] the share of another person's reads
    SourceRates rates;                    // of reads that do not show the genotype
    bool is_mixture = false;              // samples are mixtures of haplotypes, not of chromosomes' copies
    std::vector<std::string> names = {};  // [samples] for the table of a mixture's haplotypes; none: no table
    std::shared_ptr<const ErrorRates> errors = nullptr;  // of a mixture's reads; none: as their qualities have it
};

// The genotypes of a sample with what they are weighed by, log10, in VCF's order.
struct WeighedGenotypes {
    std::vector<std::vector<int>> alleles;  // of each genotype, ascending
    std::vector<double> prior;              // of a sample by itself
    std::vector<double> likelihood;         // of its reads, each of the sample or of another source
    std::vector<double> without_strand_errors, without_foreign, without_contamination;  // the same without a source
    std::vector<double> alone;  // of reads that are all the sample's
};

// A candidate with what its genotypes were weighed by, for who asks.
struct WeighedSite {
    Site site;
    bool is_left_out;                       // no sample has it: a record is not made
    std::vector<WeighedGenotypes> samples;  // none of a sample without reads, or with too many genotypes
};

// It keeps tables of genotypes: each thread has one of its own.
class Genotyper {
public:
    explicit Genotyper(GenotypingOptions options);

    int samples() const { return static_cast<int>(options_.ploidies.size()); }
    // The sites of a region that are asked for, in order of position.
    std::vector<Site> genotype(const ScoredRegion& region);
    // All candidates of a region, those that are left out behind the others.
    std::vector<WeighedSite> weigh(const ScoredRegion& region);
    // The lines of the table of haplotypes that the last regions have.
    std::string take_haplotypes() { return std::exchange(haplotypes_, std::string()); }

private:
    GenotypingOptions options_;
    GenotypeTables tables_;
    std::string haplotypes_;
};

}  // namespace pairhmm
