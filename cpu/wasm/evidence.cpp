// Exports of calling/local_evidence.hpp: what the reads at a position show, as text (web/src/call/explain.js).
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calling/evidence_text.hpp"
#include "wasm/arrays.hpp"
#include "wasm/run.hpp"

namespace {

using pairhmm::AlignmentBlock;
using pairhmm::Run;
using pairhmm::View;

// Fields in the order in which web/src/call/explain.js reads them: a text, and lines.
struct EvidenceView {
    View reason, reads, alleles, windows;
};

struct GivenPosition {
    const AlignmentBlock *all, *used;  // null without reads
    int32_t contig, position;
    uint32_t excluded_flags;
    int32_t min_mapq;
    const char* reasons;  // names of pairhmm::LeftOut, end to end
    const uint32_t* reason_end;
};

std::string reason_text, reads_lines, alleles_lines, windows_lines;

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
    const pairhmm::LocalEvidence evidence(reads, pairhmm::aligned_reads(used).reads, given->position, {},
                                          {run->options.thresholds, run->options.assembles}, run->reference);
    reason_text.clear();
    for (const pairhmm::Reason& reason : {reason_of_reads(evidence), reason_of_alleles(evidence, false),
                                          reason_of_discovery(evidence, false, chrom, run->reference)})
        if (reason && reason_text.empty()) reason_text = reason->second;
    reads_lines = joined(reads_text(evidence, run->samples()));
    alleles_lines = joined(alleles_text(evidence, run->samples()));
    windows_lines = joined(windows_text(evidence, run->samples(), given->position, chrom, run->reference));
    return !run->reference.lacks();
}

PAIRHMM_EXPORT("run_explained") void pairhmm_run_explained(EvidenceView* view) {
    *view = {View(reason_text), View(reads_lines), View(alleles_lines), View(windows_lines)};
}
