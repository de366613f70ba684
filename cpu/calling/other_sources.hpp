// Reads over a site that do not show the sample's genotype there: those of a sequence elsewhere that the reference
// lacks, errors of one strand that share a cause, and those of another person. docs/model.md has the formulas.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "calling/neighbours.hpp"

namespace pairhmm {

struct Genotypes;

constexpr uint8_t kUnknownMapq = 255;

// A fragment over a site.
struct Fragment {
    int64_t number;
    bool is_forward, is_reverse;  // the strands of its reads
    uint8_t mapq;                 // the highest of its reads
    double cycle;                 // of the site, as a share of the read; the latest of its reads
    bool begins_near = false;     // so that a primer of amplicons may reach the site

    void add(const Fragment& mate);
    bool is_on(bool reverse) const { return reverse ? is_reverse : is_forward; }
};

// What errors of a strand depend on: the strand, the three letters that it is read before the base, and the letter that
// the base is read as.
constexpr int kErrorContexts = 2 * 64 * 4;
constexpr int kErrorReach = 3;
// The contexts of an error of either strand that shows `letter` at a place of a sequence; -1 where it is not known.
std::array<int, 2> error_contexts(std::string_view sequence, int64_t place, char letter);

// How often errors of a strand show an allele, as a share of how often a chromosome has it: in all cycles alike, and
// growing with their square.
struct ErrorShares {
    double strand = 5e-5, growing = 1e-4;

    bool are_frequent() const { return strand + growing >= 1; }
};
using ContextShares = std::array<ErrorShares, kErrorContexts>;

// Shares of foreign reads, relative to that of a chromosome, and the probability of each where nothing tells of a copy:
// large ones could be those of a chromosome.
constexpr std::pair<double, double> kForeignShares[] = {{0.05, 0.243}, {0.1, 0.243},  {0.2, 0.243},
                                                        {0.3, 0.243},  {0.4, 0.0255}, {0.5, 0.0025}};
// Of each of them.
using OfShares = std::array<double, std::size(kForeignShares)>;

// SNVs in a base of a copy, or of a chromosome that differs as much.
constexpr double kDivergences[] = {0.01, 0.02, 0.04};
using OfDivergences = std::array<double, std::size(kDivergences)>;

// The same of all sources. docs/model.md says what each is.
struct SourceRates {
    ErrorShares errors;                                         // of gaps, and where the context is not known
    double copies = 1.0 / 3000;                                 // places that have a copy
    OfShares shares{0.1, 0.2, 0.2, 0.2, 0.2, 0.1};              // of copies, the probability of each of kForeignShares
    OfDivergences divergences{0.07, 0.465, 0.465};              // of copies, the probability of each
    double divergent = 0.01;                                    // chromosomes that differ as much as a copy
    double divergence = 1e-3;                                   // SNVs of a chromosome in a base
    std::shared_ptr<const ContextShares> of_context = nullptr;  // null: `errors` in each
    bool of_amplicons = false;                                  // reads begin at few places
    double unpromised = 0;                                      // errors of a base beyond those that qualities promise

    const ErrorShares& errors_in(int context) const {
        return of_context && context >= 0 ? (*of_context)[static_cast<size_t>(context)] : errors;
    }
};

// What errors look like an allele.
struct ErrorsLike {
    bool may_be = true;                  // those of a strand
    std::array<int, 2> context{-1, -1};  // of either strand; -1: of none
};

// What is known of the reads of a region beside their likelihoods.
struct ReadOrigins {
    const uint16_t* flag;              // [reads] SAM flags
    const int64_t *start, *end;        // [reads] where each is aligned
    const uint8_t* mapq;               // [reads]; null: they do not count
    const Mismatches* neighbours;      // of the fragments; null: they do not count
    const std::vector<int64_t>* name;  // [reads] of the first read of each fragment, as neighbours have them
    const double* contamination;       // [samples] the share of another person's reads
    SourceRates rates;
    bool have_gaps = false;  // the alleles: mismatches beside them may be of wrong alignments

    // A read over a site, as a fragment with this number.
    Fragment fragment(int64_t read, int64_t number, int64_t site) const;
};

// A sample's fragments over a site, with the likelihoods of what each shows.
struct SeenFragments {
    int alleles;
    std::vector<Fragment> fragments;
    std::vector<double> of_allele;         // [fragments][alleles]
    std::vector<double> of_genotype;       // [fragments][genotypes] the mean of a genotype's alleles
    std::vector<int64_t> informative_for;  // [fragments] the allele, or -1
    std::vector<ErrorsLike> errors;        // [alleles] that look like it; empty: all of them have no context
};

// Shares of the reads of a strand that have an error there, in the last cycle.
constexpr double kErrorShares[] = {0.1, 0.3, 0.5, 0.7, 0.9};

// By how much of such a share each fragment may have the error: all of it, or by the square of the cycle. Mates on both
// strands have none.
std::vector<double> error_weights(const std::vector<Fragment>& fragments, bool is_reverse, bool grows);

// Adds to P(fragments | genotype), log10, that some of them are errors of a strand that show an allele.
void add_strand_errors(const SeenFragments& seen, const Genotypes& genotypes, int allele, bool is_reverse,
                       const ErrorShares& shares, std::vector<double>& log10);

// A site's fragments of amplicons, without those that begin near it if they are likelier to show primers there, which
// are like the reference.
SeenFragments without_primers(const SeenFragments& seen, const Genotypes& genotypes);

// log10 P(fragments | genotype) where foreign reads that show an allele are as frequent as it.
std::vector<double> foreign_likelihoods(const SeenFragments& seen, const Genotypes& genotypes, int allele);

// How likely a cluster of a diploid's fragments is beside those of a usual chromosome, which has SNVs at a rate: by
// each divergence, by each share of a copy's reads beside that of a chromosome, and by errors alone.
struct ClusterLikelihoods {
    OfDivergences of_divergence;
    OfShares of_share;
    double by_chance;
};
ClusterLikelihoods cluster_likelihoods(const Cluster& cluster, double usual);

// Those of a sample's fragments that are likelier of a copy than of a chromosome by all that they show outside
// [first, last).
FragmentNames foreign_fragments(const Mismatches& neighbours, int sample, int64_t first, int64_t last,
                                const FragmentNames& names, const SourceRates& rates, int ploidy);

// log10 P(fragments | genotype) where all of them show the genotype. May change what fragments say of genotypes.
using Alone = std::function<std::vector<double>(SeenFragments&)>;

// The same where some of them do not. [first, last): the site.
std::vector<double> with_other_sources(SeenFragments seen, const Genotypes& genotypes, const ReadOrigins& origins,
                                       int sample, int64_t first, int64_t last, const Alone& alone);

}  // namespace pairhmm
