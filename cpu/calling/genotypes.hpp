// Genotypes of a site from the likelihoods of its reads. Likelihoods are log10; docs/model.md has the formulas.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "calling/log10_sums.hpp"
#include "calling/other_sources.hpp"

namespace pairhmm {

// All genotypes of some alleles at a ploidy, in VCF order.
struct Genotypes {
    int alleles;
    int ploidy;
    std::vector<int16_t> table;  // [genotypes][ploidy] alleles in ascending order
    std::vector<double> prior;   // [genotypes] log10
    std::vector<double> share;   // [alleles][genotypes] of each allele, made from the table

    Genotypes(int alleles, int ploidy, std::vector<int16_t> table, std::vector<double> prior);
    int64_t count() const { return static_cast<int64_t>(prior.size()); }
};

// The genotype of one sample.
struct CalledGenotype {
    int64_t best = -1;                 // a genotype's number; -1: its reads do not tell genotypes apart
    std::vector<int64_t> depths;       // [alleles] informative reads
    int64_t depth = 0;                 // reads
    int quality = 0;                   // Phred, at most kMaxGq
    std::vector<int64_t> likelihoods;  // [genotypes] Phred, the best 0
    double log10_reference = 0;        // log10 posterior of genotypes without a (listed) alternative allele
};

constexpr double kInformative = 0.2;    // log10 by which the best allele of an informative read is ahead
constexpr int kMaxGq = 99;              // Phred
constexpr double kMaxQual = 1e6;        // Phred
constexpr int64_t kMaxPl = 2147483647;  // Phred

// The reads of a region, as arrays: [reads], and scores [reads][haplotypes].
struct ScoredReads {
    int64_t count;
    int64_t haplotypes;
    const double* log10;
    const bool* set_aside;
    const int64_t* start;
    const int64_t* end;
    const int32_t* sample;
    const int64_t* fragment;               // mates have the same number
    const ReadOrigins* origins = nullptr;  // where reads may be from, beside the sample; none: all are of the sample
    const uint8_t* is_likely = nullptr;    // [samples][haplotypes] that a sample may have; null: all of them
};

// The reads over a site, sample after sample: what each says of the site's alleles.
class SiteReads {
public:
    // The reads over a site, or over the whole of it and the deletions that take it away, that are not set aside. The
    // likelihood of an allele is that of the best
    // likely haplotype that has it, or of any where none is likely, minus the read's best allele. Scores below a read's
    // best score minus `score_floor` are raised to it first, and alleles below -floor to -floor.
    //
    // allele_of: [haplotypes] the allele that each has at the site, or -1. has_unlisted: the last allele stands for all
    // that are not listed. No read is informative for it, and it does not count as an alternative allele.
    SiteReads(const ScoredReads& reads, const Extent& site, const Extent& whole, const std::vector<int64_t>& allele_of,
              int alleles, int samples, double score_floor, double floor, bool has_unlisted = false);

    int alleles() const { return alleles_; }
    // Reads that slip in a repeat: P(a fragment's read shows an allele | its chromosome has another one), and how
    // likely these are. matrix: [alleles of chromosomes][alleles of reads], perhaps of the first alleles alone.
    struct Slips {
        double log10_prior;
        std::vector<double> matrix;
    };
    // From now on, genotypes are weighed with each of these by its prior. All reads of a site slip alike, so that their
    // errors are not independent.
    void set_slips(std::vector<Slips> slips) { slips_ = std::move(slips); }
    // What errors look like each allele: [alleles].
    void set_errors(std::vector<ErrorsLike> errors) { errors_ = std::move(errors); }
    // Informative reads of each allele.
    std::vector<int64_t> depths(int sample) const;
    // Reads of a sample.
    int64_t reads_of(int sample) const { return count(sample); }
    // log10 P(reads of a sample | genotype): [genotypes]. Mates are one observation.
    std::vector<double> likelihoods(int sample, const Genotypes& genotypes) const;
    // The genotype of a sample, with the prior of its genotypes or another one: [genotypes] log10.
    CalledGenotype call(int sample, const Genotypes& genotypes) const {
        return call(sample, genotypes, genotypes.prior);
    }
    CalledGenotype call(int sample, const Genotypes& genotypes, const std::vector<double>& prior) const;
    // The same reads for some of the alleles.
    SiteReads with_alleles(const std::vector<int64_t>& kept) const;
    // The same reads with one allele more, which stands for all others: a read's likelihood of it is the median of
    // those below its best, as GATK has it.
    SiteReads with_non_reference() const;
    // log10 P(read | allele) of a sample's reads, the best 0: [reads][alleles].
    std::vector<double> rows(int sample) const;

    int samples() const { return static_cast<int>(begin_.size()) - 1; }
    // Rows [first, last) are the reads of a sample.
    int64_t first(int sample) const { return begin_[sample]; }
    int64_t last(int sample) const { return begin_[sample + 1]; }
    // Of a row: the read's number in `ScoredReads`, its fragment, log10 P(read | allele), and the allele that it is
    // informative for, or -1.
    int64_t read(int64_t row) const { return read_[row]; }
    int64_t fragment(int64_t row) const { return fragment_[row]; }
    const double* row(int64_t row) const { return &rows_[row * alleles_]; }
    int64_t informative_for(int64_t row) const;
    bool has_alternative(const Genotypes& genotypes, int64_t genotype) const;

private:
    SiteReads() = default;
    // The same reads without what they say of alleles.
    SiteReads without_rows(int alleles) const;
    SeenFragments fragments(int sample, const Genotypes& genotypes) const;
    int64_t count(int sample) const { return begin_[sample + 1] - begin_[sample]; }

    int alleles_ = 0;
    bool has_unlisted_ = false;
    std::vector<int64_t> begin_;      // [samples + 1] the first read of each sample
    std::vector<int64_t> read_;       // [reads] number among all reads of the region
    std::vector<int64_t> fragment_;   // [reads]
    std::vector<double> rows_;        // [reads][alleles]
    std::vector<Slips> slips_;        // empty: no read slips
    std::vector<ErrorsLike> errors_;  // [alleles], or empty
    const ReadOrigins* origins_ = nullptr;
    int64_t first_ = 0, last_ = 0;  // the site
};

// Likelihoods (log10) as they are written: Phred, the best 0.
std::vector<int64_t> phred_likelihoods(const std::vector<double>& log10);

// Whether some genotype is less likely than others, as likelihoods are written, or there is no other one. Where all are
// equal, a genotype would be that of the prior.
bool tell_apart(const std::vector<int64_t>& phred);

}  // namespace pairhmm
