// Exports of wasm/run.hpp (web/src/call/core.js).
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calling/discovery.hpp"
#include "calling/genotypes.hpp"
#include "calling/reference_differences.hpp"
#include "wasm/arrays.hpp"
#include "wasm/run.hpp"

namespace {

using pairhmm::Run;
using pairhmm::Variant;
using pairhmm::View;

// Fields in the order in which web/src/call/core.js reads them.
struct BatchView {
    View group_read, group_haplotype, read_offset, haplotype_offset, haplotypes, bases, base_quality, insertion_quality,
        deletion_quality, gap_quality, rows, kinds, cut_bases, cut_quality, prepared_quality;
};

struct RegionView {
    View names, sample, flag, mapq, log10, precision, records, likelihoods, haplotypes;
};

std::vector<std::string> fields_of(std::string_view text) {
    std::vector<std::string> fields;
    for (size_t tab = text.find('\t'); tab != std::string_view::npos; tab = text.find('\t')) {
        fields.emplace_back(text.substr(0, tab));
        text.remove_prefix(tab + 1);
    }
    fields.emplace_back(text);
    return fields;
}

// A candidate of the fields ID, REF and each ALT, with tabs between them.
Variant variant_of(const std::string& chrom, int32_t pos, std::string_view text) {
    std::vector<std::string> fields = fields_of(text);
    Variant variant;
    variant.chrom = chrom;
    variant.pos = pos;
    variant.id = std::move(fields[0]);
    variant.ref = std::move(fields[1]);
    variant.alts.assign(std::make_move_iterator(fields.begin() + 2), std::make_move_iterator(fields.end()));
    return variant;
}

// A stretch of the reference.
class BasesAround final : public pairhmm::ReferenceBases {
public:
    BasesAround(int64_t start, std::string_view bases) : start_(start), bases_(bases) {}
    std::string fetch(const std::string&, int64_t start, int64_t end) override {
        return std::string(bases_.substr(static_cast<size_t>(start - start_), static_cast<size_t>(end - start)));
    }

private:
    int64_t start_;
    std::string_view bases_;
};

// Lines of a name and a value, with a tab between them.
std::string counts_text(const Run& run) {
    const pairhmm::RegionCounts& stream = run.stream_counts();
    const pairhmm::FilteredReads& filtered = run.filtered();
    const pairhmm::SiteCounts& sites = run.site_counts();
    const auto first_emptied = filtered.first_emptied.value_or(std::pair<std::string, int32_t>("", -1));
    const std::pair<const char*, int64_t> numbers[]{
        {"regions", stream.regions},
        {"reads", stream.reads},
        {"pairs", stream.pairs},
        {"cappedRegions", stream.capped_regions},
        {"cappedReads", stream.capped_reads},
        {"highestQuality", stream.highest_quality},
        {"readsOfRegions", filtered.reads},
        {"setAside", filtered.set_aside},
        {"basesSetAside", filtered.bases},
        {"coveredSites", filtered.sites},
        {"emptied", filtered.emptied},
        {"firstEmptiedSample", first_emptied.second},
        {"namesakes", filtered.namesakes},
        {"sites", sites.sites},
        {"limited", sites.limited},
        {"unfit", sites.unfit},
        {"bases", run.bases()},
        {"lowered", run.lowered()},
        {"tagged", run.tagged()},
    };
    std::string text = "firstEmptied\t" + first_emptied.first + "\nfirstUnfit\t" + sites.first_unfit +
                       "\nfirstNamesake\t" + filtered.first_namesake;
    for (const auto& [name, value] : numbers) ((text += '\n') += name) += '\t' + std::to_string(value);
    return text;
}

}  // namespace

PAIRHMM_EXPORT("longest_window") int32_t pairhmm_longest_window() { return pairhmm::kLongestWindow; }
PAIRHMM_EXPORT("max_shift") int32_t pairhmm_max_shift() { return pairhmm::kMaxShift; }

// bases: those of the contig from max_shift bases before the variant to as many behind it. extent: start and end.
PAIRHMM_EXPORT("variant_extent")
void pairhmm_variant_extent(int32_t pos, const char* text, uint32_t size, const char* bases, uint32_t count,
                            int32_t* extent) {
    BasesAround around(std::max<int64_t>(0, pos - pairhmm::kMaxShift), {bases, count});
    const pairhmm::Extent found = pairhmm::variant_extent(variant_of("", pos, {text, size}), around);
    extent[0] = static_cast<int32_t>(found.start);
    extent[1] = static_cast<int32_t>(found.end);
}

// How many bases of a read of a block are compared with the reference, from the read's start on, and how many differ.
PAIRHMM_EXPORT("alignments_differences")
void* pairhmm_alignments_differences(const pairhmm::AlignmentBlock* block, uint32_t read, const char* bases,
                                     uint32_t count) {
    BasesAround reference(block->start[read], {bases, count});
    const auto found = pairhmm::reference_differences("", pairhmm::aligned_reads(*block).reads, read, reference);
    return pairhmm::handed_over(
        std::vector<int32_t>{static_cast<int32_t>(found.compared), static_cast<int32_t>(found.differing)});
}

PAIRHMM_EXPORT("run_make") Run* pairhmm_run_make() { return new Run; }

// 0 where there is no option of that name.
PAIRHMM_EXPORT("run_set")
uint32_t pairhmm_run_set(Run* run, const char* name, uint32_t size, const double* values, uint32_t count) {
    return run->options.set({name, size}, {values, values + count});
}

PAIRHMM_EXPORT("run_add_contig")
void pairhmm_run_add_contig(Run* run, const char* name, uint32_t size, int32_t length) {
    run->add_contig({name, size}, length);
}

PAIRHMM_EXPORT("run_add_circle") void pairhmm_run_add_circle(Run* run, int32_t contig, int32_t length) {
    run->add_circle(contig, length);
}

PAIRHMM_EXPORT("run_add_sample") void pairhmm_run_add_sample(Run* run, const char* name, uint32_t size) {
    run->add_sample({name, size});
}

PAIRHMM_EXPORT("run_add_family")
void pairhmm_run_add_family(Run* run, int32_t father, int32_t mother, const int32_t* children, uint32_t count) {
    run->add_family({father, mother, {children, children + count}});
}

PAIRHMM_EXPORT("run_add_interval")
void pairhmm_run_add_interval(Run* run, int32_t contig, int32_t start, int32_t end, uint32_t is_padded) {
    run->add_interval(contig, start, end, is_padded != 0);
}

PAIRHMM_EXPORT("run_add_variant")
void pairhmm_run_add_variant(Run* run, int32_t contig, int32_t pos, int32_t number, const char* text, uint32_t size) {
    Variant variant = variant_of(run->contig(contig), pos, {text, size});
    variant.record_index = number;
    run->add_variant(std::move(variant));
}

PAIRHMM_EXPORT("run_end_variants") void pairhmm_run_end_variants(Run* run) { run->end_variants(); }

PAIRHMM_EXPORT("run_push") void pairhmm_run_push(Run* run, const pairhmm::AlignmentBlock* block) { run->push(*block); }
PAIRHMM_EXPORT("run_look") uint32_t pairhmm_run_look(Run* run) { return run->look(); }
PAIRHMM_EXPORT("run_end_look") uint32_t pairhmm_run_end_look(Run* run) { return run->end_look(); }
PAIRHMM_EXPORT("run_stutter") double pairhmm_run_stutter(const Run* run) { return run->stutter(); }

// The qualities of opening insertions, of opening deletions, and of continuing either.
PAIRHMM_EXPORT("run_estimated_gaps") void* pairhmm_run_estimated_gaps(const Run* run, uint32_t quality, uint32_t gap) {
    const pairhmm::GapTables tables = run->estimated_gaps(static_cast<uint8_t>(quality), static_cast<uint8_t>(gap));
    std::vector<int32_t> all(tables.insertion.begin(), tables.insertion.end());
    for (const auto* table : {&tables.deletion, &tables.gap}) all.insert(all.end(), table->begin(), table->end());
    return pairhmm::handed_over(all);
}

PAIRHMM_EXPORT("run_finish") void pairhmm_run_finish(Run* run) { run->finish(); }
PAIRHMM_EXPORT("run_advance") uint32_t pairhmm_run_advance(Run* run) { return run->advance(); }

PAIRHMM_EXPORT("run_lacks_variants") uint32_t pairhmm_run_lacks_variants(const Run* run) {
    return run->lacks_variants();
}

// Contig, start, end, and whether each base is needed: of each interval of the reference that a step lacked.
PAIRHMM_EXPORT("run_missing") void* pairhmm_run_missing(Run* run) {
    return pairhmm::handed_over(run->reference.take_missing());
}

PAIRHMM_EXPORT("run_put")
void pairhmm_run_put(Run* run, int32_t contig, int32_t start, const char* bases, uint32_t size) {
    run->reference.put(contig, start, {bases, size});
}

// 0 without a batch.
PAIRHMM_EXPORT("run_begin") uint32_t pairhmm_run_begin(Run* run) { return run->begin_batch(); }

// The batch that was begun last: its pairs, and its arrays.
PAIRHMM_EXPORT("run_pairs") uint32_t pairhmm_run_pairs(const Run* run) {
    return static_cast<uint32_t>(run->last_begun().batch.pairs());
}

PAIRHMM_EXPORT("run_batch") void pairhmm_run_batch(const Run* run, BatchView* view) {
    const pairhmm::PreparedBatch& batch = run->last_begun();
    const pairhmm::PreparedReads& reads = batch.reads;
    *view = {View(batch.group_read),
             View(batch.group_haplotype),
             View(batch.read_offset),
             View(batch.haplotype_offset),
             View(batch.haplotypes),
             View(reads.base),
             batch.rows.empty() ? View(reads.base_quality) : View(),
             View(reads.insertion_quality),
             View(reads.deletion_quality),
             View(reads.gap_quality),
             View(batch.rows),
             View(reads.profiles.kinds),
             View(batch.batch.bases),
             View(batch.batch.quals),
             View(reads.base_quality)};
}

PAIRHMM_EXPORT("run_score") void pairhmm_run_score(Run* run, const double* log10, const uint8_t* precision) {
    run->score(log10, precision);
}

PAIRHMM_EXPORT("run_records") uint32_t pairhmm_run_records(Run* run) { return run->make_records(); }

// The number of regions that were scored last.
PAIRHMM_EXPORT("run_regions") uint32_t pairhmm_run_regions(const Run* run) {
    return static_cast<uint32_t>(run->results().size());
}

PAIRHMM_EXPORT("run_region") void pairhmm_run_region(const Run* run, uint32_t number, RegionView* view) {
    const pairhmm::RegionResult& result = run->results()[number];
    const pairhmm::ScoredRegion& region = result.region;
    *view = {View(result.names),   View(region.sample),      View(region.flag),
             View(region.mapq),    View(region.log10),       View(region.precision),
             View(result.records), View(result.likelihoods), View(result.haplotypes)};
}

// 0 where it lacked something.
PAIRHMM_EXPORT("run_end") uint32_t pairhmm_run_end(Run* run) { return run->make_rest(); }

// The lines of the VCF behind the last record.
PAIRHMM_EXPORT("run_rest") void pairhmm_run_rest(const Run* run, View* view) { *view = View(run->rest()); }

PAIRHMM_EXPORT("run_counts") void pairhmm_run_counts(const Run* run, View* view) {
    static std::string text;
    text = counts_text(*run);
    *view = View(text);
}
