// Records of a VCF as text: genotyped sites, and blocks of a gVCF. docs/vcf.md has the fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calling/reference_confidence.hpp"
#include "calling/sites.hpp"

namespace pairhmm {

// The share of the reads over a site that fit no haplotype, from which on INFO has it.
constexpr double kManyUnfit = 0.2;

// Sites, those of them with alternative alleles left out, and those at which many reads fit no haplotype.
struct SiteCounts {
    int64_t sites = 0, limited = 0, unfit = 0;
    std::string first_unfit;  // the first of these

    // Sites before the origin of a circle count at its end.
    void add(const std::vector<Site>& more);
};

// What decides FILTER: `RecordOptions` in pairhmm/variants/genotypes.py.
struct RecordOptions {
    double min_quality = 0;  // QUAL, or the lowest GQ where every genotype is the reference
    bool gvcf = false;       // whether records have <NON_REF> as their last allele
    std::optional<double> min_qd, max_fs, max_sor, min_mq;
};

// An INFO field behind the counts, of type Float.
struct InfoField {
    std::string id;
    int decimals;
    std::string description;
    int annotation;  // its index in site_annotations(), or one below 0
};

// In the order of a record.
const std::vector<InfoField>& info_fields();

// Makes records of sites.
class RecordFormat {
public:
    explicit RecordFormat(const RecordOptions& options);
    // Appends the line of a site.
    void append(const Site& site, std::string& lines) const;

private:
    // A limit on the value of a field, beyond which a record gets a filter.
    struct Limit {
        const char* filter;
        size_t field;
        double sign, limit;  // of a lowest value, both are negative
    };

    void limit(const char* filter, const char* id, double sign, const std::optional<double>& limit);
    void append_filter(const Site& site, const std::vector<double>& values, std::string& lines) const;
    void append_info(const Site& site, const std::vector<double>& values, std::string& lines) const;
    void append_copies(const Site& site, std::string& lines) const;
    void append_likelihoods(const SampleGenotype& sample, std::string& lines) const;
    void append_sample(const SampleGenotype& sample, bool has_phase, std::string& lines) const;
    bool is_sure(const Site& site) const;

    double min_quality_;
    bool gvcf_;
    std::vector<Limit> limits_;
};

// A block of the reference, and where it lies.
struct PlacedBlock {
    std::string chrom;
    char base;   // the reference at its start
    int ploidy;  // 1 or 2
    ReferenceBlock block;
};

// The lines of a part of a run, in order. The blocks at both ends stay open, for those of the parts beside may continue
// them: blocks do not depend on where a run is cut.
struct RecordLines {
    std::optional<PlacedBlock> first;  // nothing stands before it
    std::string text;
    std::optional<PlacedBlock> last;
    std::string haplotypes;  // lines of the table of a mixture's haplotypes

    void append(const PlacedBlock& block);
    void append(const Site& site, const RecordFormat& format);
    // The part of the run that follows.
    void append(const RecordLines& next);
    // Gives the lines that are whole where no part comes before.
    std::string take();
    // Gives all lines: no part follows.
    std::string take_all();

private:
    void close_last();
};

}  // namespace pairhmm
