// A run of the page: reads in, batches to score out, scores in; sites, their records and tables out.
//
// JavaScript reads files asynchronously, and the core asks for the reference and for listed candidates at once. A step
// that lacks some of these changes nothing: JavaScript hands them over, and the step is taken again.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calling/filtered_reads.hpp"
#include "calling/genotyping.hpp"
#include "calling/records.hpp"
#include "calling/reference_walk.hpp"
#include "calling/region_sources.hpp"
#include "calling/region_stream.hpp"
#include "formats/alignments.hpp"
#include "wasm/library_look.hpp"
#include "wasm/paged_reference.hpp"
#include "wasm/run_options.hpp"

namespace pairhmm {

// A batch as the engine takes it, and what reads were prepared from.
struct PreparedBatch {
    RegionBatch batch;
    PreparedReads reads;
    std::vector<uint32_t> group_read{0}, group_haplotype{0}, read_offset, haplotype_offset{0};
    std::vector<uint8_t> haplotypes;
    std::vector<double> rows;  // of the profile model
};

// What the outputs have of a scored region, and what it is drawn from.
struct RegionResult {
    ScoredRegion region;  // as it was scored
    std::string names;    // of the reads, one a line
    std::vector<Site> sites;
    std::string records, likelihoods, haplotypes;  // lines of the VCF, and of the two tables
};

// Whether all candidates of a circle's region lie before its origin.
bool is_before_origin(const RegionResult& result);

class Run {
public:
    RunOptions options;
    PagedReference reference;

    // Circles have the length that they have unrolled.
    void add_contig(const std::string& name, int64_t length);
    void add_circle(int contig, int64_t length) { options.stream.circles[contigs_[contig].first] = length; }
    // Bases of a contig, if that is a circle, or 0.
    int64_t circle(int contig) const;
    void add_sample(std::string name) { samples_.push_back(std::move(name)); }
    const std::vector<std::string>& samples() const { return samples_; }
    void add_family(Family family) { families_.push_back(std::move(family)); }
    void add_interval(int contig, int64_t start, int64_t end, bool is_padded);
    // Listed candidates come in order.
    void add_variant(Variant variant);
    void end_variants() { has_all_variants_ = true; }
    const std::string& contig(int number) const { return contigs_[number].first; }

    // Takes the next reads, which stay until the next step that is taken.
    void push(const AlignmentBlock& block);
    // Before all other steps: looks at these reads for the library's errors. False where it lacked something.
    bool look();
    // Takes what the reads show that were looked at. False where it lacked something.
    bool end_look();
    // How many times as often as in a library without PCR repeats stutter in these reads.
    double stutter() const;
    // The qualities of gaps that they ask for: of opening up to `quality`, and of continuing `gap`.
    GapTables estimated_gaps(uint8_t quality, uint8_t gap) const;
    void finish() { is_finished_ = true; }
    // Makes batches of the regions that are complete. False where it lacked something.
    bool advance();
    bool lacks_variants() const { return lacks_variants_; }

    // Prepares the next batch. False without one.
    bool begin_batch();
    const PreparedBatch& last_begun() const { return begun_.back(); }
    // Takes the scores of the batch that was begun first.
    void score(const double* log10, const uint8_t* precision);
    // Makes the records of its regions, of which a gVCF has none before the origin of a circle. False where it lacked
    // something.
    bool make_records();
    // Makes the lines behind the last record. False where it lacked something.
    bool make_rest();
    const std::vector<RegionResult>& results() const { return results_; }
    // All candidates of these regions, with what their genotypes were weighed by.
    std::vector<WeighedSite> weighed();
    const RecordFormat& format() const { return *format_; }
    const std::string& rest() const { return rest_; }

    const RegionCounts& stream_counts() const { return stream_->counts(); }
    const SiteCounts& site_counts() const { return site_counts_; }
    const FilteredReads& filtered() const { return filtered_; }
    int64_t bases() const { return bases_; }
    int64_t lowered() const { return lowered_; }
    int64_t tagged() const { return tagged_; }

private:
    // How often genotypes expect reads to slip in repeats: as pairhmm/calling/genotyping.py does.
    SlipRates slips() const;

    struct Interval {
        int contig;
        int64_t start, end;
    };
    // What a step changes.
    struct State {
        std::optional<DiscoveredRegions> discovered;
        std::optional<ListedRegions> listed;
        std::optional<RegionStream> stream;
        size_t next_variant;
    };

    template <class Step>
    bool take_look(const Step& step);
    GenomeIntervals intervals(const std::vector<Interval>& given) const;
    State state() const { return {discovered_, listed_, stream_, next_variant_}; }
    void return_to(State&& before);
    std::vector<RegionBatch> next_batches();
    void make_source();
    void make_walk();
    ScoredRegion refined(const ScoredRegion& region) const;
    RegionResult result_of(ScoredRegion&& region);
    void make_genotyper();
    void count_block();
    RegionSource& source();
    std::vector<Variant> next_variants();

    ContigLengths contigs_;
    std::vector<std::string> samples_;
    std::vector<Family> families_;
    std::vector<Interval> requested_, padded_;

    std::vector<Variant> variants_;  // listed ones, from the first that the source did not get yet
    size_t next_variant_ = 0;
    bool has_all_variants_ = false, lacks_variants_ = false;

    std::optional<DiscoveredRegions> discovered_;
    std::optional<ListedRegions> listed_;
    std::optional<RegionStream> stream_;
    const AlignmentBlock* block_ = nullptr;
    std::optional<LibraryLook> look_;
    LibraryErrors library_;
    bool is_finished_ = false;
    std::deque<RegionBatch> waiting_;
    std::deque<PreparedBatch> begun_;

    std::optional<Genotyper> genotyper_;
    std::optional<RecordFormat> format_;
    std::optional<ReferenceWalk> walk_;
    RecordLines lines_;
    std::vector<RegionResult> results_;
    std::string rest_;

    FilteredReads filtered_;
    SiteCounts site_counts_;
    int64_t bases_ = 0, lowered_ = 0, tagged_ = 0;
};

// Reads of a block as the core takes them.
AlignedReads aligned_reads(const AlignmentBlock& block);

}  // namespace pairhmm
