// What LocalEvidence has, as text: a fact a line, as `pairhmm explain` and the page show it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calling/local_evidence.hpp"

namespace pairhmm {

using Lines = std::vector<std::string>;

// A number as printf has it.
std::string told(const char* format, double value);
std::string told(const AltAllele& allele);

// samples: their names.
Lines reads_text(const LocalEvidence& evidence, const Lines& samples);
Lines alleles_text(const LocalEvidence& evidence, const Lines& samples);
// position: 0-based.
Lines windows_text(const LocalEvidence& evidence, const Lines& samples, int64_t position, const std::string& chrom,
                   ReferenceBases& reference);

// Why there is no call: a code of pairhmm/explain/verdict.py, and the text.
using Reason = std::optional<std::pair<std::string, std::string>>;

// Whether there are no reads, or none that are used.
Reason reason_of_reads(const LocalEvidence& evidence);
// Whether no read shows the allele that most show; in a run over a list, the one that is listed.
Reason reason_of_alleles(const LocalEvidence& evidence, bool is_listed_run);
// Why that allele is no candidate.
Reason reason_of_discovery(const LocalEvidence& evidence, bool is_listed_run, const std::string& chrom,
                           ReferenceBases& reference);

// Why a k was not taken.
const char* tried_text(TriedK decision);

}  // namespace pairhmm
