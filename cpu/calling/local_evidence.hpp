// What the alignments at a position show, and what discovery makes of it: for who asks why a variant is called, or not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "calling/aligned_reads.hpp"
#include "calling/discovery.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

// An alternative allele as VCF writes it.
struct AltAllele {
    int64_t position;  // 0-based
    std::string ref, alt;

    bool is_indel() const { return ref.size() != alt.size(); }
    bool operator<(const AltAllele& other) const {
        return std::tie(position, ref, alt) < std::tie(other.position, other.ref, other.alt);
    }
    bool operator==(const AltAllele& other) const {
        return std::tie(position, ref, alt) == std::tie(other.position, other.ref, other.alt);
    }
};

// The alternative alleles of a record, each with no more reference bases than it needs.
std::vector<AltAllele> alt_alleles(const Variant& variant);

// An allele of discovery, spelled.
AltAllele spelled(const Candidate& candidate, const std::string& chrom, ReferenceBases& reference);

// Whether a position lies in the extent of an allele, or behind that of an insertion.
bool is_at(const AltAllele& allele, const std::string& chrom, int64_t position, ReferenceBases& reference);

// Reads by the reason why they are left out, the most frequent first.
using LeftOutReads = std::vector<std::pair<std::string, int>>;

// The reads of a sample over the position.
struct ReadsThere {
    int over = 0, used = 0;
    LeftOutReads left_out;
};

// How a sample's alignments show an allele.
struct AlleleCount {
    int good = 0, poor = 0;           // used reads whose base there has the least quality of an SNV, and others
    int depth = 0;                    // used reads with a good base at the allele's position, or with a deletion of it
    int forward = 0, reverse = 0;     // strands of the used reads that show it
    std::vector<int> qualities = {};  // of the base of each used read that shows an SNV, ascending
    LeftOutReads left_out = {};       // reads that are left out and show it
    int least_count = 1;              // what a candidate needs: good reads, and their share of the depth
    double least_share = 0;

    int all_reads() const;
    // Whether the reads make a candidate; `more` reads are added.
    bool is_enough(int more = 0) const {
        return good + more >= least_count && good + more >= least_share * (depth + more);
    }
    double share() const { return depth ? static_cast<double>(good) / depth : 0; }
};

struct ShownAllele {
    AltAllele allele;
    bool is_here;  // the position lies in its extent; else it is near
    bool is_candidate, is_listed;
    std::vector<AlleleCount> samples;
};

// The reads around a position, those that are left out among them.
struct LocalReads {
    std::string chrom;
    AlignedReads reads;
    std::vector<std::string> reason;  // [reads] why one is left out; empty: it is used
    int samples;
};

struct DiscoveryOptions {
    CandidateThresholds thresholds;
    bool assembles;
};

class LocalEvidence {
public:
    // `used`: the reads that are used, by themselves. `listed`: alleles of a list.
    LocalEvidence(const LocalReads& reads, const Reads& used, int64_t position, const std::set<AltAllele>& listed,
                  const DiscoveryOptions& options, ReferenceBases& reference);

    const std::vector<ReadsThere>& reads() const { return reads_; }
    // Those here first, and those with most reads before others.
    const std::vector<ShownAllele>& alleles() const { return alleles_; }
    // The windows of assembly over the position.
    const WindowDecisions& windows() const { return windows_; }

    // Moves alleles and windows of an unrolled circle of so many bases to the contig.
    void turn_back(int64_t length);
    // Bases between two positions, on a circle the shorter way.
    int64_t distance(int64_t one, int64_t other) const {
        return std::min(std::abs(one - other), std::abs(circle_ - std::abs(one - other)));
    }

private:
    std::vector<ReadsThere> reads_;  // [samples]
    std::vector<ShownAllele> alleles_;
    WindowDecisions windows_;
    int64_t circle_ = std::numeric_limits<int64_t>::max();
};

}  // namespace pairhmm
