// Reference blocks of a gVCF: walks over the requested intervals, between the records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "calling/candidates.hpp"
#include "calling/records.hpp"
#include "calling/reference_confidence.hpp"
#include "calling/variant.hpp"

namespace pairhmm {

// An interval of a contig, by the contig's number, in which the sample has one ploidy, 1 or 2.
struct PloidyInterval {
    int contig;
    int64_t start, end;
    int ploidy;
};

// Gives the reference blocks of one sample, in a run or a shard of one, in order. No block overlaps a record.
class ReferenceWalk {
public:
    // The intervals are disjoint, in the order of the contigs. Bases of a lower quality than the least are not counted.
    // limits: GQ from which on each further band begins, ascending. circles: circular contigs and their bases, whose
    // reads and reference are unrolled (circle_reads.hpp), and whose intervals and records are not. No block is given
    // before the origin.
    ReferenceWalk(ReferenceBases& reference, std::vector<std::string> contigs, std::vector<PloidyInterval> intervals,
                  int min_base_quality, std::vector<int> limits, std::map<std::string, int64_t> circles = {});

    // Counts the next reads, of one contig. Those of an interval come before its blocks are taken.
    // name_end: [reads] where the name of each ends in `names`.
    void add(const std::string& chrom, const Reads& reads, const int64_t* read_end, std::string_view names,
             const int64_t* name_end);
    // Appends the blocks before a position that were not given yet.
    void until(const std::string& chrom, int64_t position, RecordLines& lines) {
        until(Place{number_of(chrom), position}, lines);
    }
    // Appends all blocks that were not given yet.
    void rest(RecordLines& lines) { until(Place{static_cast<int>(contigs_.size()), 0}, lines); }
    // Gives no block before a position any more: a record stands there.
    void pass_over(const std::string& chrom, int64_t position) {
        done_ = std::max(done_, Place{number_of(chrom), position});
    }

private:
    using Place = std::pair<int, int64_t>;  // a contig's number, and a position

    int number_of(const std::string& chrom) const;
    void until(Place target, RecordLines& lines);
    void take(const PloidyInterval& interval, int64_t start, int64_t stop, RecordLines& lines);
    char base_at(const PloidyInterval& interval, int64_t position);

    ReferenceBases& reference_;
    std::vector<std::string> contigs_;
    std::unordered_map<std::string, int> number_;
    std::vector<PloidyInterval> intervals_;
    int min_base_quality_;
    std::vector<int> limits_;
    std::map<std::string, int64_t> circles_;
    size_t next_ = 0;  // of the intervals
    Place done_{0, 0};
    // By contig: reads of one may arrive before the blocks of the one before are taken.
    std::map<int, ReferenceConfidence> counts_;
    Place bases_begin_{-1, 0};  // where the bases that were fetched last begin
    std::string bases_;
};

// Appends the records of sites, with the blocks before each where there is a walk. Of sites before the origin of a
// circle, which are records at its end, it only learns what their deletions take away.
void append_records(const std::vector<Site>& sites, const RecordFormat& format, ReferenceWalk* walk,
                    RecordLines& lines);

}  // namespace pairhmm
