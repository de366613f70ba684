// Errors of one place that may look like an allele.
#pragma once

#include <cstdint>

namespace pairhmm {

enum class Artefact : uint8_t {
    kNone,
    kStrand,  // errors of one strand, as frequent in all cycles, or more frequent in later ones
    kCycle,   // errors of both strands that are more frequent in later cycles
    kEnds,    // errors at ends of reads
};

}  // namespace pairhmm
