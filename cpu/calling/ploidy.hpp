// The ploidy of a sample, which can differ between places.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pairhmm {

// The ploidy in an interval of a contig. `chrom` "*" stands for all places without a rule of their own.
struct PloidyRule {
    std::string chrom;
    int64_t start, end;
    int ploidy;
};

// The first rule that fits a place counts.
struct SamplePloidy {
    int ploidy;  // where no rule fits
    std::vector<PloidyRule> rules;

    int at(const std::string& chrom, int64_t position) const {
        for (const PloidyRule& rule : rules)
            if (rule.chrom == chrom && rule.start <= position && position < rule.end) return rule.ploidy;
        for (const PloidyRule& rule : rules)
            if (rule.chrom == "*") return rule.ploidy;
        return ploidy;
    }
};

}  // namespace pairhmm
