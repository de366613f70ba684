#include "calling/site_genotypes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "calling/shared_alleles.hpp"

namespace pairhmm {

namespace {

SampleGenotype sample_genotype(CalledGenotype called, const Genotypes& genotypes) {
    SampleGenotype sample;
    sample.is_called = called.best >= 0;
    if (sample.is_called) {
        const int16_t* const alleles = genotypes.table.data() + called.best * genotypes.ploidy;
        sample.alleles.assign(alleles, alleles + genotypes.ploidy);
    }
    sample.depths = std::move(called.depths);
    sample.depth = called.depth;
    sample.quality = called.quality;
    sample.likelihoods = std::move(called.likelihoods);
    sample.log10_reference = called.log10_reference;
    sample.ploidy = genotypes.ploidy;
    return sample;
}

double quality_of(double log10_reference) { return std::min(kMaxQual, std::max(0.0, -10.0 * log10_reference)); }

// -10 log10 of the probability that every sample, by itself, has only the reference allele.
double quality_of(const std::vector<SampleGenotype>& samples) {
    double log10_reference = 0;
    for (const SampleGenotype& sample : samples)
        if (sample.is_called) log10_reference += sample.log10_reference;
    return quality_of(log10_reference);
}

// The reference and the alternative alleles that most reads support, as many as kMaxGenotypes allows.
std::vector<int64_t> best_supported(const std::vector<int64_t>& depths, int ploidy) {
    int64_t most = 1;
    while (count_genotypes(most + 2, ploidy) <= kMaxGenotypes) ++most;
    std::vector<int64_t> alleles(depths.size());
    std::iota(alleles.begin(), alleles.end(), 0);
    std::stable_sort(alleles.begin() + 1, alleles.end(), [&](int64_t a, int64_t b) { return depths[a] > depths[b]; });
    alleles.resize(static_cast<size_t>(most) + 1);
    std::sort(alleles.begin(), alleles.end());
    return alleles;
}

SampleGenotype call_best_supported(const SiteReads& reads, int sample, const std::vector<double>& theta, int ploidy,
                                   GenotypeTables& tables) {
    std::vector<int64_t> depths = reads.depths(sample);
    const std::vector<int64_t> kept = best_supported(depths, ploidy);
    std::vector<double> priors;
    for (size_t i = 1; i < kept.size(); ++i) priors.push_back(theta[kept[i] - 1]);
    SampleGenotype found = call_sample(reads.with_alleles(kept), sample, priors, ploidy, tables);
    for (int& allele : found.alleles) allele = static_cast<int>(kept[allele]);
    found.depths = std::move(depths);
    found.likelihoods.clear();
    found.left_out = static_cast<int>(theta.size() - priors.size());
    return found;
}

}  // namespace

SiteGenotypes call_site(const SiteReads& reads, const std::vector<double>& theta, const std::vector<int>& ploidies,
                        const std::vector<Family>& families, GenotypeTables& tables) {
    SiteGenotypes called;
    const int samples = static_cast<int>(ploidies.size());
    const int64_t alleles = static_cast<int64_t>(theta.size()) + 1;
    if (samples <= 1 || count_genotypes(alleles, *std::max_element(ploidies.begin(), ploidies.end())) > kMaxGenotypes) {
        for (int sample = 0; sample < samples; ++sample)
            called.samples.push_back(call_sample(reads, sample, theta, ploidies[sample], tables));
        called.quality = quality_of(called.samples);
        return called;
    }
    std::vector<const Genotypes*> genotypes;
    for (const int ploidy : ploidies) genotypes.push_back(&tables.of(theta, ploidy));
    const SharedAlleles shared = share_alleles(reads, genotypes, theta, families);
    for (int sample = 0; sample < samples; ++sample)
        called.samples.push_back(
            sample_genotype(reads.call(sample, *genotypes[sample], shared.prior[sample]), *genotypes[sample]));
    called.quality = quality_of(shared.log10_reference);
    return called;
}

SampleGenotype call_sample(const SiteReads& reads, int sample, const std::vector<double>& theta, int ploidy,
                           GenotypeTables& tables) {
    const int64_t alleles = static_cast<int64_t>(theta.size()) + 1;
    if (alleles > 2 && count_genotypes(alleles, ploidy) > kMaxGenotypes)
        return call_best_supported(reads, sample, theta, ploidy, tables);
    const Genotypes& genotypes = tables.of(theta, ploidy);
    return sample_genotype(reads.call(sample, genotypes), genotypes);
}

}  // namespace pairhmm
