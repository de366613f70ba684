// What reads of a mixture show at each position of a contig, by strand, place in the read and quality: whether their
// alleles are more than errors.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "calling/artefact.hpp"
#include "calling/candidates.hpp"
#include "calling/error_rates.hpp"

namespace pairhmm {

class MixtureCounts {
public:
    using IndelKey = std::tuple<int64_t, int32_t, std::string>;

    MixtureCounts(int samples, const CandidateThresholds& thresholds)
        : samples_(samples), errors_(thresholds.errors), counter_(thresholds.min_base_quality) {}

    // Counts a read, which ends before `end`, and its indels.
    void add(const Reads& reads, int64_t read, int64_t end, const ReferenceWindows& reference,
             const std::vector<Indel>& indels);
    // Which artefact an allele is that a sample's reads show; nothing where they do not show it. No read to come is
    // over it.
    std::optional<Artefact> snv(int64_t position, int letter, int sample) const;
    std::optional<Artefact> indel(const IndelKey& indel, int sample) const;
    // Counts what reads of molecules show before `frontier`, where every read to come begins, or behind it.
    void take_molecules(int64_t frontier);
    void forget(int64_t before);
    void reset();

private:
    struct Page {
        std::vector<SiteCells> sites;    // [samples][positions]
        std::vector<uint8_t> reference;  // of the positions, with some before and behind them
    };
    // The reads of an indel.
    struct IndelReads {
        std::vector<std::array<uint32_t, kCells>> cells;  // [samples]; single reads have the first class of quality
        int unit = 0, copies = 0;                         // of the repeat that it changes, as far as reads tell
    };

    void count_aligned(const Reads& reads, int64_t read, int64_t query, int64_t position, int64_t length,
                       const ReferenceWindow& reference);
    void count_indel(const Reads& reads, int64_t read, int64_t end, const ReferenceWindow& reference,
                     const Indel& indel);
    const SiteCells* site(int64_t position, int sample) const;
    double slip_rate(const IndelKey& indel, const IndelReads& reads) const;

    int samples_;
    std::shared_ptr<const ErrorRates> errors_;
    CellCounter counter_;
    MoleculeBases molecules_;
    std::map<int64_t, Page> pages_;
    std::map<IndelKey, IndelReads> indels_;
};

}  // namespace pairhmm
