#include "wasm/run.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>

#include "calling/error_rates.hpp"
#include "calling/letters.hpp"
#include "calling/str_rates.hpp"
#include "formats/region_lines.hpp"

namespace pairhmm {

namespace {

// As PRECISIONS in pairhmm/models/batch.py.
const std::vector<std::string> kPrecisions{"float32", "float64", "scaled float32"};

// Puts a part in the place of another one. What others refer to stays where it is.
template <class Part>
void replace(std::optional<Part>& part, std::optional<Part>&& other) {
    if (other) part.emplace(std::move(*other));
    else part.reset();
}

CutBases cut_bases(const RegionBatch& batch, std::vector<uint8_t>& indel_quality) {
    indel_quality = batch.insertion;
    indel_quality.insert(indel_quality.end(), batch.deletion.begin(), batch.deletion.end());
    return {static_cast<int64_t>(batch.mapq.size()),
            batch.cut_offset.data(),
            batch.bases.data(),
            batch.quals.data(),
            batch.mapq.data(),
            indel_quality.empty() ? nullptr : indel_quality.data()};
}

void add_letters(const RegionBatch& batch, PreparedBatch& prepared) {
    for (size_t region = 0; region < batch.regions.size(); ++region) {
        for (const Haplotype& haplotype : batch.regions[region].haplotypes) {
            std::transform(haplotype.sequence.begin(), haplotype.sequence.end(),
                           std::back_inserter(prepared.haplotypes), code_of);
            prepared.haplotype_offset.push_back(static_cast<uint32_t>(prepared.haplotypes.size()));
        }
        prepared.group_read.push_back(prepared.group_read.back() + static_cast<uint32_t>(batch.rows(region)));
        prepared.group_haplotype.push_back(static_cast<uint32_t>(prepared.haplotype_offset.size()) - 1);
    }
}

std::string name_lines(const ScoredRegion& scored) {
    std::string lines;
    for (size_t read = 0; read < scored.name_end.size(); ++read) {
        const int64_t begin = read ? scored.name_end[read - 1] : 0;
        lines.append(read ? "\n" : "").append(scored.names, begin, scored.name_end[read] - begin);
    }
    return lines;
}

}  // namespace

AlignedReads aligned_reads(const AlignmentBlock& block) {
    AlignedReads aligned{
        {block.reads(), block.start.data(), block.sample.data(), block.base_offset.data(), block.bases.data(),
         block.quals.data(), block.cigar_offset.data(), block.cigar.data(), block.flag.data()},
        block.end.data(),
        block.flag.data(),
        block.mapq.data(),
        block.names.data(),
        block.name_end.data()};
    if (block.insertion.empty()) return aligned;
    aligned.insertion = block.insertion.data();
    aligned.deletion = block.deletion.data();
    return aligned;
}

void Run::add_contig(const std::string& name, int64_t length) {
    contigs_.emplace_back(name, length);
    reference.add_contig(name, length);
}

int64_t Run::circle(int contig) const {
    const auto circle = options.stream.circles.find(contigs_[contig].first);
    return circle == options.stream.circles.end() ? 0 : circle->second;
}

void Run::add_interval(int contig, int64_t start, int64_t end, bool is_padded) {
    (is_padded ? padded_ : requested_).push_back({contig, start, end});
}

void Run::add_variant(Variant variant) {
    reference.want(variant.chrom, variant.pos - kMaxShift, variant.end() + kMaxShift);
    variants_.push_back(std::move(variant));
}

GenomeIntervals Run::intervals(const std::vector<Interval>& given) const {
    if (!options.is_limited) return {};
    std::map<std::string, std::vector<std::pair<int64_t, int64_t>>> of_contig;
    for (const auto& [contig, start, end] : given) of_contig[contigs_[contig].first].emplace_back(start, end);
    for (auto& [contig, intervals] : of_contig) std::sort(intervals.begin(), intervals.end());
    return GenomeIntervals(std::move(of_contig));
}

RegionSource& Run::source() { return listed_ ? static_cast<RegionSource&>(*listed_) : *discovered_; }

void Run::make_source() {
    if (options.stream.of_mixture)
        options.thresholds.errors = library_.of_mixture ? library_.of_mixture : std::make_shared<ErrorRates>();
    const CandidateFinder finder(reference, static_cast<int>(samples_.size()), options.thresholds, options.assembles);
    RegionOptions joining = options.joining;
    // A region has no more alleles than haplotypes are allowed beside the reference.
    joining.max_alleles = std::max<int64_t>(1, std::min(joining.max_alleles, options.stream.max_haplotypes - 1));
    const RegionBuilder builder(reference, {contigs_.begin(), contigs_.end()}, joining);
    if (options.is_listed) {
        listed_.emplace([this] { return next_variants(); }, finder, builder, reference, contigs_,
                        intervals(requested_));
    } else {
        discovered_.emplace(finder, builder, intervals(requested_), intervals(padded_));
    }
    options.stream.qualities = options.model.options;
    stream_.emplace(reference, source(), options.stream, std::nullopt);
}

std::vector<Variant> Run::next_variants() {
    lacks_variants_ |= next_variant_ == variants_.size() && !has_all_variants_;
    const auto first = variants_.begin() + static_cast<ptrdiff_t>(next_variant_);
    next_variant_ = variants_.size();
    return {first, variants_.end()};
}

void Run::push(const AlignmentBlock& block) {
    block_ = &block;
    reference.begin_round();
    // What a block needs lies beside its reads, but for regions that wait for later reads.
    const int64_t around = options.joining.flank + options.joining.pad + 2 * kMaxShift + kLongestWindow;
    for (const auto& [start, end] : covered(aligned_reads(block).reads))
        reference.want(contigs_[block.contig].first, start - around, end + around);
    reference.forget();
}

// Takes a step of the look at the library. One that lacks something changes nothing.
template <class Step>
bool Run::take_look(const Step& step) {
    if (reference.lacks()) return false;
    if (!look_) look_.emplace(options);
    std::optional<LibraryLook> before = look_;
    step(*look_);
    if (!reference.lacks()) return true;
    replace(look_, std::move(before));
    return false;
}

bool Run::look() {
    const auto add = [&](LibraryLook& look) {
        look.add(contigs_[block_->contig].first, aligned_reads(*block_), reference);
    };
    if (!take_look(add)) return false;
    block_ = nullptr;
    return true;
}

bool Run::end_look() {
    if (!take_look([&](LibraryLook& look) { look.finish(reference); })) return false;
    library_ = look_->errors();
    look_.reset();
    return true;
}

double Run::stutter() const {
    return stutter_excess(library_.repeats, slip_rates(options.gaps_without_pcr, std::nullopt, options.least_copies,
                                                       options.slip_spread));
}

SlipRates Run::slips() const {
    return options.sees_slips ? seen_slips(options.slips(), library_.repeats) : options.slips();
}

GapTables Run::estimated_gaps(uint8_t quality, uint8_t gap) const {
    const StrRates rates = estimate_rates(library_.repeats, options.least_copies, options.model.options.most_copies);
    return gap_tables(rates, options.least_copies, quality, gap);
}

bool Run::advance() {
    if (reference.lacks()) return false;
    lacks_variants_ = false;
    State before = state();
    std::vector<RegionBatch> batches = next_batches();
    if (reference.lacks() || lacks_variants_) {
        return_to(std::move(before));
        return false;
    }
    std::move(batches.begin(), batches.end(), std::back_inserter(waiting_));
    variants_.erase(variants_.begin(), variants_.begin() + static_cast<ptrdiff_t>(next_variant_));
    next_variant_ = 0;
    count_block();
    block_ = nullptr;
    return true;
}

void Run::return_to(State&& before) {
    replace(discovered_, std::move(before.discovered));
    replace(listed_, std::move(before.listed));
    replace(stream_, std::move(before.stream));
    next_variant_ = before.next_variant;
}

std::vector<RegionBatch> Run::next_batches() {
    std::vector<RegionBatch> batches;
    if (!stream_) make_source();
    if (block_) stream_->push(contigs_[block_->contig].first, aligned_reads(*block_));
    else if (is_finished_) stream_->finish();
    while (std::optional<RegionBatch> batch = stream_->next()) batches.push_back(std::move(*batch));
    return batches;
}

// Counts the reads for the blocks of a gVCF.
void Run::count_block() {
    if (!options.records.gvcf) return;
    if (!walk_) make_walk();
    if (block_)
        walk_->add(contigs_[block_->contig].first, aligned_reads(*block_).reads, block_->end.data(), block_->names,
                   block_->name_end.data());
}

void Run::make_walk() {
    std::vector<PloidyInterval> places;
    for (const auto& [contig, start, end] : requested_)
        places.push_back({contig, start - circle(contig), end - circle(contig), options.ploidy});
    for (size_t contig = 0; !options.is_limited && contig < contigs_.size(); ++contig)
        places.push_back({static_cast<int>(contig), 0, contigs_[contig].second, options.ploidy});
    if (options.ploidy == 0) places.clear();
    std::sort(places.begin(), places.end(), [](const PloidyInterval& a, const PloidyInterval& b) {
        return std::pair(a.contig, a.start) < std::pair(b.contig, b.start);
    });
    std::vector<std::string> names;
    for (const auto& [name, length] : contigs_) names.push_back(name);
    walk_.emplace(reference, names, places, options.thresholds.min_base_quality, options.gq_bands,
                  options.stream.circles);
}

bool Run::begin_batch() {
    if (waiting_.empty()) return false;
    PreparedBatch& begun = begun_.emplace_back();
    begun.batch = std::move(waiting_.front());
    waiting_.pop_front();
    std::vector<uint8_t> indel_quality;
    begun.reads = prepare_reads(options.model, cut_bases(begun.batch, indel_quality), nullptr);
    bases_ += begun.reads.bases;
    lowered_ += begun.reads.lowered;
    tagged_ += begun.reads.tagged;
    begun.read_offset.assign(begun.reads.read_offset.begin(), begun.reads.read_offset.end());
    if (options.model.is_profile()) begun.rows = row_parameters(options.model.profile, begun.reads.profiles);
    add_letters(begun.batch, begun);
    return true;
}

void Run::make_genotyper() {
    const std::vector<SamplePloidy> ploidies(samples_.size(), SamplePloidy{options.ploidy, {}});
    genotyper_.emplace(GenotypingOptions{options.snv_prior,
                                         options.indel_prior,
                                         ploidies,
                                         families_,
                                         options.score_floor,
                                         !options.is_listed,
                                         options.joins_snvs,
                                         options.records.gvcf,
                                         slips(),
                                         std::vector<double>(samples_.size(), options.contamination),
                                         library_.sources,
                                         options.stream.of_mixture,
                                         {},
                                         library_.of_mixture});
    format_.emplace(options.records);
}

void Run::score(const double* log10, const uint8_t* precision) {
    if (!genotyper_) make_genotyper();
    results_.clear();
    for (ScoredRegion& region : stream_->scored(std::move(begun_.front().batch), log10, precision))
        results_.push_back(result_of(std::move(region)));
    begun_.pop_front();
}

// As genotypes take it.
ScoredRegion Run::refined(const ScoredRegion& region) const {
    return options.is_listed ? on_listed_alleles(region) : with_many_unfit(region);
}

std::vector<WeighedSite> Run::weighed() {
    std::vector<WeighedSite> sites;
    for (const RegionResult& result : results_)
        for (WeighedSite& site : genotyper_->weigh(refined(result.region))) sites.push_back(std::move(site));
    return sites;
}

RegionResult Run::result_of(ScoredRegion&& region) {
    RegionResult result{std::move(region), {}, {}, {}, {}, {}};
    result.names = name_lines(result.region);
    RegionLines lines = lines_of_region(result.region, {samples_, kPrecisions, false, {}, 0, 0});
    result.likelihoods = std::move(lines.table);
    result.haplotypes = std::move(lines.haplotypes);
    const ScoredRegion used = refined(result.region);
    filtered_.add(used);
    result.sites = genotyper_->genotype(used);
    site_counts_.add(result.sites);
    return result;
}

bool is_before_origin(const RegionResult& result) {
    const std::vector<Variant>& variants = result.region.region.variants;
    return !variants.empty() && variants.back().pos < 0;
}

bool Run::make_records() {
    std::optional<ReferenceWalk> walk = walk_;
    RecordLines lines = lines_;
    std::vector<std::string> records;
    for (const RegionResult& result : results_) {
        append_records(result.sites, *format_, walk ? &*walk : nullptr, lines);
        records.push_back(lines.take());
    }
    if (reference.lacks()) return false;
    replace(walk_, std::move(walk));
    lines_ = std::move(lines);
    for (size_t i = 0; i < records.size(); ++i) results_[i].records = std::move(records[i]);
    // A gVCF has them as results at the end of the circle.
    if (walk_) results_.erase(std::remove_if(results_.begin(), results_.end(), is_before_origin), results_.end());
    return true;
}

bool Run::make_rest() {
    std::optional<ReferenceWalk> walk = walk_;
    RecordLines lines = lines_;
    if (walk) walk->rest(lines);
    if (reference.lacks()) return false;
    replace(walk_, std::move(walk));
    rest_ = lines.take_all();
    return true;
}

}  // namespace pairhmm
