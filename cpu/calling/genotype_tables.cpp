#include "calling/genotype_tables.hpp"

#include <algorithm>
#include <cmath>

namespace pairhmm {

namespace {

constexpr int64_t kManyGenotypes = int64_t{1} << 31;
// The largest tables have a few megabytes.
constexpr size_t kMostTables = 64;

// The sum as NumPy has it: in eight parts up to 128 values, and in halves beyond. Priors are the same everywhere to the
// last bit.
double pairwise_sum(const double* value, int64_t count) {
    constexpr int64_t kParts = 8, kBlock = 128;
    if (count > kBlock) {
        const int64_t half = count / 2 - count / 2 % kParts;
        return pairwise_sum(value, half) + pairwise_sum(value + half, count - half);
    }
    double sum = 0, part[kParts] = {};
    int64_t i = 0;
    for (; i + kParts <= count; i += kParts)
        for (int64_t k = 0; k < kParts; ++k) part[k] += value[i + k];
    sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (; i < count; ++i) sum += value[i];
    return sum;
}

}  // namespace

int64_t count_genotypes(int64_t alleles, int64_t ploidy) {
    const int64_t all = alleles + ploidy - 1, drawn = std::min(ploidy, alleles - 1);
    int64_t count = 1;
    for (int64_t i = 1; i <= drawn && count < kManyGenotypes; ++i) count = count * (all - drawn + i) / i;
    return std::min(count, kManyGenotypes);
}

std::vector<int16_t> genotype_table(int alleles, int ploidy) {
    std::vector<int16_t> table, genotype(static_cast<size_t>(ploidy), 0);
    table.reserve(static_cast<size_t>(count_genotypes(alleles, ploidy) * ploidy));
    for (;;) {
        table.insert(table.end(), genotype.begin(), genotype.end());
        // The first copy that can have a higher allele than it has; those before it begin again.
        int copy = 0;
        while (copy < ploidy && genotype[copy] == (copy + 1 < ploidy ? genotype[copy + 1] : alleles - 1)) ++copy;
        if (copy == ploidy) return table;
        ++genotype[copy];
        std::fill(genotype.begin(), genotype.begin() + copy, int16_t{0});
    }
}

std::vector<double> log10_priors(const std::vector<double>& theta, const std::vector<int16_t>& table, int ploidy) {
    const size_t genotypes = table.size() / ploidy;
    std::vector<double> priors(genotypes, 1.0);
    for (size_t genotype = 0; genotype < genotypes; ++genotype) {
        const int16_t *copy = &table[genotype * ploidy], *const end = copy + ploidy;
        while (copy < end) {
            const int16_t allele = *copy;
            const int16_t* const next = std::find_if(copy, end, [&](int16_t other) { return other != allele; });
            if (allele > 0) priors[genotype] *= theta[allele - 1] / static_cast<double>(next - copy);
            copy = next;
        }
    }
    double highest = 0;
    for (size_t genotype = 1; genotype < genotypes; ++genotype) highest = std::max(highest, priors[genotype]);
    priors[0] = std::max(1.0 - pairwise_sum(priors.data() + 1, static_cast<int64_t>(genotypes) - 1), highest);
    const double all = pairwise_sum(priors.data(), static_cast<int64_t>(genotypes));
    for (double& prior : priors) prior = std::log10(prior / all);
    return priors;
}

const Genotypes& GenotypeTables::of(const std::vector<double>& theta, int ploidy) {
    const auto found = known_.find({ploidy, theta});
    if (found != known_.end()) return found->second;
    const int alleles = static_cast<int>(theta.size()) + 1;
    std::vector<int16_t> table;
    std::vector<double> prior;
    if (ploidy > 0) {
        table = genotype_table(alleles, ploidy);
        prior = log10_priors(theta, table, ploidy);
    }
    Genotypes made(alleles, ploidy, std::move(table), std::move(prior));
    return known_.emplace(std::make_pair(ploidy, theta), std::move(made)).first->second;
}

void GenotypeTables::forget_some() {
    if (known_.size() > kMostTables) known_.clear();
}

}  // namespace pairhmm
