// Exports of calling/local_evidence.hpp and site_text.hpp: what is told of a position, as text
// (web/src/call/explain.js).
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calling/evidence_text.hpp"
#include "calling/site_text.hpp"
#include "wasm/arrays.hpp"
#include "wasm/run.hpp"

namespace {

using pairhmm::AlignmentBlock;
using pairhmm::Run;
using pairhmm::View;

// Fields in the order in which web/src/call/explain.js reads them: a text, and lines.
struct EvidenceView {
    View reason, reads, alleles, windows, sites;
};

struct GivenPosition {
    const AlignmentBlock *all, *used;  // null without reads
    int32_t contig, position;
    uint32_t excluded_flags;
    int32_t min_mapq;
    const char* reasons;  // names of pairhmm::LeftOut, end to end
    const uint32_t* reason_end;
};

// What is told of a position.
struct Explained {
    std::string chrom;
    int64_t position;           // on circles, unrolled
    int64_t circle;             // bases of the contig, or 0
    std::set<int64_t> anchors;  // positions of candidates there: other alleles of such a record count as there, too
    std::string reason, reads, alleles, windows;
    pairhmm::Lines sites = {};
    std::string sites_text = {};
} explained;

std::string joined(const pairhmm::Lines& lines) {
    std::string text;
    for (const std::string& line : lines) (text += text.empty() ? "" : "\n") += line;
    return text;
}

std::vector<std::string> reasons(const AlignmentBlock& block, const GivenPosition& given) {
    std::vector<std::string> reasons;
    for (size_t read = 0; read < block.flag.size(); ++read) {
        const uint32_t excluded = block.flag[read] & given.excluded_flags;
        const bool is_used = excluded == 0 && block.mapq[read] >= given.min_mapq;
        const int reason = pairhmm::reason_of(excluded);
        const uint32_t begin = reason ? given.reason_end[reason - 1] : 0;
        reasons.push_back(is_used ? "" : std::string(given.reasons + begin, given.reasons + given.reason_end[reason]));
    }
    return reasons;
}

}  // namespace

// 0 where it lacked something.
PAIRHMM_EXPORT("run_explain") uint32_t pairhmm_run_explain(Run* run, const GivenPosition* given) {
    const AlignmentBlock none, &all = given->all ? *given->all : none, &used = given->used ? *given->used : none;
    const std::string& chrom = run->contig(given->contig);
    run->reference.begin_round();
    const pairhmm::LocalReads reads{chrom, pairhmm::aligned_reads(all), reasons(all, *given),
                                    static_cast<int>(run->samples().size())};
    pairhmm::LocalEvidence evidence(reads, pairhmm::aligned_reads(used).reads, given->position, {},
                                    {run->options.thresholds, run->options.assembles}, run->reference);
    const int64_t circle = run->circle(given->contig);
    if (circle) evidence.turn_back(circle);
    const int64_t position = circle ? given->position % circle : given->position;
    explained = {chrom,
                 given->position,
                 circle,
                 {},
                 {},
                 joined(reads_text(evidence, run->samples())),
                 joined(alleles_text(evidence, run->samples())),
                 joined(windows_text(evidence, run->samples(), position, chrom, run->reference))};
    for (const pairhmm::ShownAllele& one : evidence.alleles())
        if (one.is_here && one.is_candidate) explained.anchors.insert(one.allele.position);
    for (const pairhmm::Reason& reason : {reason_of_reads(evidence), reason_of_alleles(evidence, false),
                                          reason_of_discovery(evidence, false, chrom, run->reference)})
        if (reason && explained.reason.empty()) explained.reason = reason->second;
    return !run->reference.lacks();
}

// Adds what is told of the candidates there, of the regions that were scored last. 0 where it lacked something.
PAIRHMM_EXPORT("run_explain_sites") uint32_t pairhmm_run_explain_sites(Run* run) {
    pairhmm::Lines lines;
    const int64_t circle = explained.circle;
    for (const pairhmm::WeighedSite& site : run->weighed()) {
        std::vector<pairhmm::AltAllele> alleles;
        bool is_there = false;
        for (pairhmm::AltAllele& one : alt_alleles(site.site.variant)) {
            one.position += circle;
            alleles.push_back(leftmost(std::move(one), explained.chrom, run->reference));
            pairhmm::AltAllele& allele = alleles.back();
            is_there |= is_at(allele, explained.chrom, explained.position, run->reference);
            if (circle) allele.position %= circle;
            is_there |= explained.anchors.count(allele.position) > 0;
        }
        if (!is_there) continue;
        for (std::string& line : site_text(site, alleles, run->samples(), run->format(), true))
            lines.push_back(std::move(line));
    }
    if (run->reference.lacks()) return 0;
    explained.sites.insert(explained.sites.end(), lines.begin(), lines.end());
    return 1;
}

PAIRHMM_EXPORT("run_explained") void pairhmm_run_explained(EvidenceView* view) {
    explained.sites_text = joined(explained.sites);
    *view = {View(explained.reason), View(explained.reads), View(explained.alleles), View(explained.windows),
             View(explained.sites_text)};
}
