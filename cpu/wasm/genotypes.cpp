// Exports of calling/genotypes.hpp, site_statistics.hpp and phasing.hpp (web/src/genomics/genotypes.js, phasing.js).
#include "calling/genotypes.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "calling/families.hpp"
#include "calling/phasing.hpp"
#include "calling/shared_alleles.hpp"
#include "calling/site_statistics.hpp"
#include "wasm/arrays.hpp"

namespace {

using pairhmm::Genotypes;
using pairhmm::Phaser;
using pairhmm::SiteReads;
using pairhmm::widened;

struct GivenScores {
    uint32_t count;
    uint32_t haplotypes;
    const double* log10;
    const bool* set_aside;
    const int32_t* start;
    const int32_t* end;
    const int32_t* sample;
    const uint32_t* fragment;
};

struct Called {
    double log10_reference;
    int32_t best;  // a genotype's number; -1: there is none
    uint32_t depth;
    int32_t quality;
};

std::vector<pairhmm::Family> families_of(uint32_t numbers, const int32_t* given) {
    std::vector<pairhmm::Family> families;
    for (const int32_t* const end = given + numbers; given < end; given += 3 + given[2]) {
        families.push_back({given[0], given[1], {given + 3, given + 3 + given[2]}});
    }
    return families;
}

}  // namespace

// table: [genotypes][ploidy]
PAIRHMM_EXPORT("genotypes_make")
Genotypes* pairhmm_genotypes_make(int32_t alleles, int32_t ploidy, uint32_t genotypes, const int16_t* table,
                                  const double* prior) {
    return new Genotypes(alleles, ploidy, {table, table + genotypes * ploidy}, {prior, prior + genotypes});
}

PAIRHMM_EXPORT("site_reads_make")
SiteReads* pairhmm_site_reads_make(const GivenScores* given, int32_t first, int32_t last, const int32_t* allele_of,
                                   int32_t alleles, int32_t samples, double score_floor, double floor) {
    const auto start = widened(given->start, given->count), end = widened(given->end, given->count);
    const auto fragment = widened(given->fragment, given->count);
    const pairhmm::ScoredReads reads{given->count, given->haplotypes, given->log10,  given->set_aside,
                                     start.data(), end.data(),        given->sample, fragment.data()};
    return new SiteReads(reads, first, last, widened(allele_of, given->haplotypes), alleles, samples, score_floor,
                         floor);
}

PAIRHMM_EXPORT("site_reads_with_alleles")
SiteReads* pairhmm_site_reads_with_alleles(const SiteReads* reads, uint32_t count, const uint32_t* kept) {
    return new SiteReads(reads->with_alleles(widened(kept, count)));
}

PAIRHMM_EXPORT("site_reads_with_non_reference")
SiteReads* pairhmm_site_reads_with_non_reference(const SiteReads* reads) {
    return new SiteReads(reads->with_non_reference());
}

PAIRHMM_EXPORT("site_reads_free") void pairhmm_site_reads_free(SiteReads* reads) { delete reads; }

// depths: [alleles]
PAIRHMM_EXPORT("site_reads_depths")
void pairhmm_site_reads_depths(const SiteReads* reads, int32_t sample, uint32_t* depths) {
    for (const int64_t depth : reads->depths(sample)) *depths++ = static_cast<uint32_t>(depth);
}

// genotypes: [samples]; theta: [alternatives]; families: of each, its father, its mother, the number of its children
// and these, `numbers` in all; prior: those of all samples' genotypes, end to end. Returns the log10 posterior that
// none of the samples whose reads tell genotypes apart has an alternative allele.
PAIRHMM_EXPORT("site_reads_share")
double pairhmm_site_reads_share(const SiteReads* reads, uint32_t samples, const Genotypes* const* genotypes,
                                uint32_t alternatives, const double* theta, uint32_t numbers, const int32_t* families,
                                double* prior) {
    const auto shared = pairhmm::share_alleles(*reads, {genotypes, genotypes + samples}, {theta, theta + alternatives},
                                               families_of(numbers, families));
    for (const auto& of_sample : shared.prior) prior = std::copy(of_sample.begin(), of_sample.end(), prior);
    return shared.log10_reference;
}

// prior: [genotypes], or none for that of the genotypes; depths: [alleles]; likelihoods: [genotypes]
PAIRHMM_EXPORT("site_reads_call")
void pairhmm_site_reads_call(const SiteReads* reads, int32_t sample, const Genotypes* genotypes, const double* prior,
                             Called* called, uint32_t* depths, uint32_t* likelihoods) {
    const pairhmm::CalledGenotype found = prior == nullptr
                                              ? reads->call(sample, *genotypes)
                                              : reads->call(sample, *genotypes, {prior, prior + genotypes->count()});
    *called = {found.log10_reference, static_cast<int32_t>(found.best), static_cast<uint32_t>(found.depth),
               found.quality};
    for (const int64_t depth : found.depths) *depths++ = static_cast<uint32_t>(depth);
    for (const int64_t one : found.likelihoods) *likelihoods++ = static_cast<uint32_t>(one);
}

// The INFO fields that the reads of a site give, one a line, with a null byte behind them: ID, decimals, description.
PAIRHMM_EXPORT("site_annotations") const char* pairhmm_site_annotations() {
    static const std::string text = [] {
        std::string lines;
        for (const pairhmm::SiteAnnotation& field : pairhmm::site_annotations())
            lines += std::string(field.id) + '\t' + std::to_string(field.decimals) + '\t' + field.description + '\n';
        return lines;
    }();
    return text.c_str();
}

// from_end: [reads][stride], the site's column first; values: [site_annotations], NaN where one is not known;
// strands: [samples][4].
PAIRHMM_EXPORT("site_reads_statistics")
void pairhmm_site_reads_statistics(const SiteReads* reads, const uint16_t* flag, const uint8_t* mapq,
                                   const int32_t* from_end, uint32_t stride, double* values, uint32_t* strands) {
    const pairhmm::SiteStatistics found = pairhmm::site_statistics(*reads, {flag, mapq, from_end, stride});
    std::copy(found.annotations.begin(), found.annotations.end(), values);
    for (const pairhmm::Strands& sample : found.strands)
        for (const int64_t one : sample) *strands++ = static_cast<uint32_t>(one);
}

PAIRHMM_EXPORT("phaser_make") Phaser* pairhmm_phaser_make() { return new Phaser; }

PAIRHMM_EXPORT("phaser_free") void pairhmm_phaser_free(Phaser* phaser) { delete phaser; }

// Twice the number of the site's phase set, and 1 more where `other` comes first.
PAIRHMM_EXPORT("phaser_add")
int32_t pairhmm_phaser_add(Phaser* phaser, const SiteReads* reads, int32_t sample, int32_t one, int32_t other) {
    const Phaser::Assignment assignment = phaser->add(*reads, sample, one, other);
    return static_cast<int32_t>(2 * assignment.set + assignment.swapped);
}

// end: [names]; number: [names], that of the first name that is the same.
PAIRHMM_EXPORT("number_names")
void pairhmm_number_names(const char* text, uint32_t names, const uint32_t* end, uint32_t* number) {
    const auto ends = widened(end, names);
    std::vector<int64_t> numbers(names);
    const size_t size = names == 0 ? 0 : end[names - 1];
    pairhmm::number_names({text, size}, names, ends.data(), numbers.data());
    for (const int64_t one : numbers) *number++ = static_cast<uint32_t>(one);
}
