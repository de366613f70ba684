// Scores regions as reads arrive: gives batches of regions with their haplotypes and reads, and takes the scores back.
//
// The frontier is where the newest read starts. No later read starts before it. A region is scored once the frontier
// has passed it. Reads are dropped once no region needs them, so that memory grows with the depth of the data, not with
// the size of the file.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calling/fitting_reads.hpp"
#include "calling/haplotypes.hpp"
#include "calling/introns.hpp"
#include "calling/joined_profiles.hpp"
#include "calling/preparation.hpp"
#include "calling/read_buffer.hpp"
#include "calling/region_sources.hpp"
#include "calling/scored_region.hpp"

namespace pairhmm {

// Limits on haplotypes and reads: `EvidenceOptions` in pairhmm/calling/stream.py, `MoleculeOptions` in molecules.py.
struct StreamOptions {
    int64_t max_haplotypes, max_depth, max_cells;
    std::optional<double> error_rate;  // of the bases of reads that fit some haplotype; none: all of them fit
    QualityOptions qualities;          // by which the bases of reads are prepared
    bool joins_reads = false;          // the reads of a molecule become profiles,
    bool join_mates = false;           // and so do mates
    bool of_mixture = false;           // haplotypes are those of a mixture
    bool finds_neighbours = true;      // for genotypes
    // Circular contigs and their bases. Reads, candidates and the reference have them unrolled: three times, end to
    // end. Scored regions are of the second turn, and lie on the contig.
    std::map<std::string, int64_t> circles;
};

struct RegionCounts {
    int64_t regions = 0, reads = 0, pairs = 0;     // that were scored
    int64_t capped_regions = 0, capped_reads = 0;  // regions over the depth limit, and the reads left out there
    int highest_quality = -1;                      // of a base
};

// Regions that are scored in one call.
struct RegionBatch {
    std::vector<ScoredRegion> regions;              // without scores and what follows from them
    std::vector<std::vector<ClippedRead>> clipped;  // [regions] their rows without clips follow the reads' rows
    std::vector<int64_t> ends;                      // [reads of all regions] ends of its molecule that each has: 1 or 2
    std::vector<double> least;                      // [reads of all regions] their scores by their qualities, at least
    int64_t cut_reads = 0;                          // without those that are cut a second time
    bool is_continued = false;                      // the next batch has more reads of the one region
    std::vector<int64_t> cut_offset{0};             // [cut reads + 1] where the bases of each begin
    std::vector<uint8_t> bases, quals;
    std::vector<uint8_t> mapq;                 // [cut reads]
    std::vector<uint8_t> insertion, deletion;  // as bases; empty where no read has indel qualities of its own
    std::optional<JoinedReads> joined;         // the profiles that cut reads become

    // What is scored of a region: its reads, and some of them without clips.
    int64_t rows(size_t region) const { return regions[region].reads() + static_cast<int64_t>(clipped[region].size()); }
    int64_t pairs() const;
};

class RegionStream {
public:
    // given: the haplotypes of every region, in place of combinations of candidates.
    RegionStream(ReferenceBases& reference, RegionSource& source, StreamOptions options,
                 std::optional<std::vector<Haplotype>> given)
        : reference_(reference), source_(source), options_(options), given_(std::move(given)) {}

    // Takes the next reads, of one contig and in order. They are used until next() gives nothing.
    void push(const std::string& chrom, const AlignedReads& reads);
    // There are no more reads.
    void finish() { is_finished_ = true; }
    // The next regions that are ready; none where more reads are needed, or at the end.
    std::optional<RegionBatch> next();
    // The regions of a batch with the scores of their pairs: region after region, [reads][haplotypes]. Batches come in
    // order. A region whose reads several batches have comes with the last of these.
    std::vector<ScoredRegion> scored(RegionBatch&& batch, const double* log10, const uint8_t* precision);

    const RegionCounts& counts() const { return counts_; }

private:
    // A region to score.
    struct Task {
        ScoredRegion scored;
        std::vector<int64_t> reads;
        int64_t slack;  // how many bases a haplotype is shorter than the reference, at most
    };

    bool advance();
    void take(const AlignedReads& aligned_reads);
    void finish_contig();
    void forget();
    RegionBatch batch();
    std::vector<Task> take_tasks();
    double cells(const Task& task, size_t reads) const;
    Task part_of_open();
    void hold_part(std::vector<ScoredRegion>& regions, bool is_continued);
    CutSlices cut(const AlignedReads& reads, const std::vector<Task>& tasks, RegionBatch& batch) const;
    Task task(Region&& region);
    std::vector<int64_t> reads_of(const Region& region) const;
    std::vector<int64_t> select(const Region& region);
    void add_cut_bases(const AlignedReads& reads, const CutSlices& cut, RegionBatch& batch) const;

    ReferenceBases& reference_;
    RegionSource& source_;
    StreamOptions options_;
    std::optional<std::vector<Haplotype>> given_;
    IntronSplitter introns_;
    ReadBuffer buffer_;
    std::deque<Region> pending_, ready_;  // those that later reads may overlap, and those to score
    std::optional<Task> open_;            // a region with so many reads that several batches have them
    size_t open_at_ = 0;                  // those of them that batches have had
    std::optional<ScoredRegion> part_;    // what was scored of such a region
    std::optional<AlignedReads> block_;   // that was pushed, and not yet buffered
    std::string block_chrom_;
    int64_t frontier_ = 0;
    bool is_contig_done_ = true, is_finished_ = false, may_forget_ = false;
    NeighbourFinder finder_;
    RegionCounts counts_;
};

}  // namespace pairhmm
