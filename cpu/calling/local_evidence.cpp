#include "calling/local_evidence.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "calling/candidate_finder.hpp"
#include "calling/cigar.hpp"

namespace pairhmm {

namespace {

// Bases around a position in which other alleles are told.
constexpr int64_t kNearPosition = 10;
constexpr uint16_t kReverseFlag = 16;

AltAllele trimmed(int64_t position, std::string ref, std::string alt) {
    while (ref.size() > 1 && alt.size() > 1 && ref.back() == alt.back()) ref.pop_back(), alt.pop_back();
    while (ref.size() > 1 && alt.size() > 1 && ref[0] == alt[0]) ++position, ref.erase(0, 1), alt.erase(0, 1);
    return {position, std::move(ref), std::move(alt)};
}

// What is asked of the reads at one position.
class Evidence {
public:
    Evidence(const LocalReads& local, int64_t position, const CandidateThresholds& thresholds,
             ReferenceBases& reference)
        : local_(local),
          reads_(local.reads.reads),
          position_(position),
          thresholds_(thresholds),
          reference_(reference) {}

    std::vector<ReadsThere> reads_there() const {
        std::vector<ReadsThere> there(static_cast<size_t>(local_.samples));
        std::vector<std::vector<int64_t>> over(there.size());
        for (int64_t read = 0; read < reads_.count; ++read)
            if (is_over(read, position_)) over[sample_of(read)].push_back(read);
        for (size_t i = 0; i < there.size(); ++i) {
            there[i].over = static_cast<int>(over[i].size());
            there[i].left_out = left_out(over[i]);
            there[i].used = there[i].over;
            for (const auto& [reason, count] : there[i].left_out) there[i].used -= count;
        }
        return there;
    }

    // The reads whose alignments show each allele at the position, or near it.
    std::map<AltAllele, std::vector<int64_t>> readers() const {
        std::map<AltAllele, std::vector<int64_t>> readers;
        const std::pair<int64_t, int64_t> place{std::max<int64_t>(0, position_ - kMaxShift),
                                                position_ + kNearPosition + 1};
        for (int64_t read = 0; read < reads_.count; ++read) {
            if (reads_.start[read] >= place.second || local_.reads.end[read] <= place.first) continue;
            for (const AltAllele& allele : shown_by(read, place)) readers[allele].push_back(read);
        }
        return readers;
    }

    std::vector<AlleleCount> counts(const AltAllele& allele, const std::vector<int64_t>& readers) const {
        std::vector<std::vector<int64_t>> of_sample(static_cast<size_t>(local_.samples));
        for (const int64_t read : readers) of_sample[sample_of(read)].push_back(read);
        std::vector<AlleleCount> counts;
        for (size_t sample = 0; sample < of_sample.size(); ++sample)
            counts.push_back(count(allele, of_sample[sample], sample));
        return counts;
    }

private:
    size_t sample_of(int64_t read) const { return static_cast<size_t>(reads_.sample[read]); }
    bool is_used(int64_t read) const { return local_.reason[static_cast<size_t>(read)].empty(); }
    bool is_over(int64_t read, int64_t position) const {
        return reads_.start[read] <= position && position < local_.reads.end[read];
    }

    LeftOutReads left_out(const std::vector<int64_t>& reads) const {
        LeftOutReads counts;
        for (const int64_t read : reads) {
            const std::string& reason = local_.reason[static_cast<size_t>(read)];
            if (reason.empty()) continue;
            const auto known =
                std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.first == reason; });
            if (known == counts.end()) counts.emplace_back(reason, 1);
            else ++known->second;
        }
        std::stable_sort(counts.begin(), counts.end(),
                         [](const auto& one, const auto& other) { return one.second > other.second; });
        return counts;
    }

    // The alleles that one alignment shows by itself.
    std::vector<AltAllele> shown_by(int64_t read, const std::pair<int64_t, int64_t>& place) const {
        const int32_t sample = 0;
        const Reads one{1,
                        reads_.start + read,
                        &sample,
                        reads_.base_offset + read,
                        reads_.base,
                        reads_.quality,
                        reads_.cigar_offset + read,
                        reads_.cigar,
                        local_.reads.flag + read};
        CandidateFinder finder(reference_, 1, {0, 1, 1, 0, 0}, false);
        const std::vector<std::pair<int64_t, int64_t>> places{place};
        std::vector<Variant> variants = finder.scan(local_.chrom, one, &places);
        for (Variant& variant : finder.finish()) variants.push_back(std::move(variant));
        std::vector<AltAllele> alleles;
        for (const Variant& variant : variants)
            for (AltAllele& allele : alt_alleles(variant)) alleles.push_back(std::move(allele));
        return alleles;
    }

    // The quality of the base that a read aligns to a position; -1 without a base that counts there.
    int quality_at(int64_t read, int64_t position) const {
        const int64_t query = query_at(reads_, read, position), at = reads_.base_offset[read] + query;
        return query < 0 || reads_.base[at] >= kCodeOfN ? -1 : reads_.quality[at];
    }

    bool deletes(int64_t read, int64_t position) const {
        const bool has_skip =
            std::any_of(reads_.cigar + reads_.cigar_offset[read], reads_.cigar + reads_.cigar_offset[read + 1],
                        [](uint32_t one) { return (one & 15) == kSkip; });
        return is_over(read, position) && !has_skip && query_at(reads_, read, position) < 0;
    }

    // Whether a used read has a good base at a position, or a deletion of it.
    bool is_of_depth(int64_t read, int64_t position) const {
        if (!is_used(read) || !is_over(read, position)) return false;
        const int quality = quality_at(read, position);
        return quality < 0 ? deletes(read, position) : quality >= thresholds_.min_base_quality;
    }

    AlleleCount count(const AltAllele& allele, const std::vector<int64_t>& readers, size_t sample) const {
        AlleleCount count;
        for (const int64_t read : readers) {
            if (!is_used(read)) continue;
            ++((local_.reads.flag[read] & kReverseFlag) != 0 ? count.reverse : count.forward);
            if (!allele.is_indel()) count.qualities.push_back(std::max(0, quality_at(read, allele.position)));
        }
        std::sort(count.qualities.begin(), count.qualities.end());
        count.poor = static_cast<int>(std::count_if(count.qualities.begin(), count.qualities.end(), [&](int quality) {
            return quality < thresholds_.min_base_quality;
        }));
        count.good = count.forward + count.reverse - count.poor;
        for (int64_t read = 0; read < reads_.count; ++read)
            count.depth += sample_of(read) == sample && is_of_depth(read, allele.position);
        count.left_out = left_out(readers);
        count.least_count = allele.is_indel() ? thresholds_.min_indel_count : thresholds_.min_snv_count;
        count.least_share = allele.is_indel() ? thresholds_.min_indel_fraction : thresholds_.min_snv_fraction;
        return count;
    }

    const LocalReads& local_;
    const Reads& reads_;
    int64_t position_;
    const CandidateThresholds& thresholds_;
    ReferenceBases& reference_;
};

int reads_of(const ShownAllele& shown) {
    return std::accumulate(shown.samples.begin(), shown.samples.end(), 0,
                           [](int sum, const AlleleCount& one) { return sum + one.all_reads(); });
}

bool is_told_before(const ShownAllele& one, const ShownAllele& other) {
    if (one.is_here != other.is_here) return one.is_here;
    const int reads = reads_of(one), others = reads_of(other);
    return reads != others ? reads > others : one.allele < other.allele;
}

}  // namespace

std::vector<AltAllele> alt_alleles(const Variant& variant) {
    std::vector<AltAllele> alleles;
    for (const std::string& alt : variant.alts) alleles.push_back(trimmed(variant.pos, variant.ref, alt));
    return alleles;
}

AltAllele spelled(const Candidate& candidate, const std::string& chrom, ReferenceBases& reference) {
    std::string alt = candidate.alt;
    for (char& letter : alt) letter = kBases[static_cast<size_t>(letter)];
    const std::string ref =
        reference.fetch(chrom, candidate.position, candidate.position + candidate.ref_length + candidate.indel);
    return {candidate.position, ref, candidate.indel ? ref.substr(0, 1) + alt : alt};
}

bool is_at(const AltAllele& allele, const std::string& chrom, int64_t position, ReferenceBases& reference) {
    Variant variant;
    variant.chrom = chrom;
    variant.pos = allele.position;
    variant.ref = allele.ref;
    if (allele.alt != kSpannedAllele) variant.alts = {allele.alt};
    const Extent extent = variant_extent(variant, reference);
    return extent.start <= position && position < extent.end + (allele.alt.size() > allele.ref.size());
}

int AlleleCount::all_reads() const {
    return std::accumulate(left_out.begin(), left_out.end(), good + poor,
                           [](int sum, const auto& one) { return sum + one.second; });
}

LocalEvidence::LocalEvidence(const LocalReads& reads, const Reads& used, int64_t position,
                             const std::set<AltAllele>& listed, const DiscoveryOptions& options,
                             ReferenceBases& reference) {
    CandidateFinder finder(reference, reads.samples, options.thresholds, options.assembles);
    finder.watch();
    std::vector<Variant> variants = finder.scan(reads.chrom, used);
    for (Variant& variant : finder.finish()) variants.push_back(std::move(variant));
    std::set<AltAllele> candidates;
    for (const Variant& variant : variants)
        for (AltAllele& allele : alt_alleles(variant)) candidates.insert(std::move(allele));
    for (const WindowDecision& window : finder.decisions())
        if (window.start <= position && position < window.end) windows_.push_back(window);

    const Evidence evidence(reads, position, options.thresholds, reference);
    reads_ = evidence.reads_there();
    auto readers = evidence.readers();
    for (const std::set<AltAllele>* known : {&std::as_const(candidates), &listed})
        for (const AltAllele& allele : *known) readers.try_emplace(allele);
    for (const auto& [allele, own] : readers) {
        const bool is_here = is_at(allele, reads.chrom, position, reference),
                   is_candidate = candidates.count(allele) > 0, is_listed = listed.count(allele) > 0;
        const bool is_near =
            (is_candidate || is_listed || own.size() > 1) && std::abs(allele.position - position) <= kNearPosition;
        if (is_here || is_near)
            alleles_.push_back({allele, is_here, is_candidate, is_listed, evidence.counts(allele, own)});
    }
    std::sort(alleles_.begin(), alleles_.end(), is_told_before);
}

void LocalEvidence::turn_back(int64_t length) {
    circle_ = length;
    for (ShownAllele& shown : alleles_) shown.allele.position %= length;
    for (WindowDecision& window : windows_) {
        window.start %= length;
        window.end = (window.end - 1) % length + 1;
        for (auto& explained : window.explained) explained.first.position %= length;
        window.twins = {window.twins.first % length, window.twins.second % length};
        for (Candidate& change : window.changes) change.position %= length;
        for (auto& told : window.told_by_clips) told.first.position %= length;
        for (AssemblySteps& steps : window.steps)
            for (JudgedWay& way : steps.ways)
                for (Candidate& one : way.shown) one.position %= length;
    }
}

}  // namespace pairhmm
