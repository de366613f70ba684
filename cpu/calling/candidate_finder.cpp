#include "calling/candidate_finder.hpp"

#include <algorithm>
#include <limits>

#include "simd/failures.hpp"

namespace pairhmm {

namespace {

// The letters of the reference in some windows.
struct CodedWindows {
    std::vector<std::string> codes;
    std::vector<ReferenceWindow> windows;

    CodedWindows(ReferenceBases& reference, const std::string& chrom,
                 const std::vector<std::pair<int64_t, int64_t>>& intervals) {
        codes.reserve(intervals.size());
        for (const auto& [start, end] : intervals) {
            std::string& letters = codes.emplace_back(reference.fetch(chrom, start, end));
            for (char& letter : letters) letter = static_cast<char>(code_of(letter));
            windows.push_back(
                {start, static_cast<int64_t>(letters.size()), reinterpret_cast<const uint8_t*>(letters.data())});
        }
    }
};

std::string letters_of(const std::string& codes) {
    std::string letters = codes;
    for (char& letter : letters) letter = kBases[static_cast<size_t>(letter)];
    return letters;
}

}  // namespace

std::vector<Variant> CandidateFinder::scan(const std::string& chrom, const Reads& reads,
                                           const std::vector<std::pair<int64_t, int64_t>>* places) {
    if (std::any_of(reads.sample, reads.sample + reads.count,
                    [&](int32_t sample) { return sample < 0 || sample >= discovery_.samples(); }))
        invalid_argument("sample: a read of a sample that is not there");
    if (chrom != chrom_) {
        discovery_.reset();
        chrom_ = chrom;
    }
    if (places != nullptr) discovery_.limit_to(*places);
    // Only parts of the reference are held: reads may lie far apart (targeted sequencing) or have introns.
    CodedWindows reference(reference_, chrom_, discovery_.covered_by(reads));
    if (!reference.windows.empty()) discovery_.add(reads, {std::move(reference.windows)});
    return settle(reads, reads.count ? reads.start[reads.count - 1] : 0);
}

std::vector<Variant> CandidateFinder::finish() {
    const int64_t nothing[] = {0};
    return settle({0, nullptr, nullptr, nothing, nullptr, nullptr, nothing, nullptr},
                  std::numeric_limits<int64_t>::max() / 2);
}

std::vector<Variant> CandidateFinder::settle(const Reads& reads, int64_t frontier) {
    discovery_.assemble(reads, CodedWindows(reference_, chrom_, discovery_.windows(frontier)).windows);
    const std::vector<Candidate> candidates = discovery_.take();
    std::vector<Variant> variants;
    for (size_t first = 0, behind = 0; first < candidates.size(); first = behind) {
        // The indels behind one anchor base are alleles of one record, and so are SNVs of one base.
        while (behind < candidates.size() && candidates[behind].position == candidates[first].position &&
               candidates[behind].indel == candidates[first].indel)
            ++behind;
        variants.push_back(record(candidates, first, behind));
    }
    return variants;
}

// The record of the candidates [first, behind). Its REF spans the longest deletion.
Variant CandidateFinder::record(const std::vector<Candidate>& candidates, size_t first, size_t behind) {
    const int64_t position = candidates[first].position;
    const bool is_indel = candidates[first].indel;
    Variant variant;
    int64_t longest = 0;
    // An artefact beside an allele gets no record.
    const auto is_allele = [&](const Candidate& one) { return one.artefact == Artefact::kNone; };
    const bool has_allele = std::any_of(candidates.begin() + first, candidates.begin() + behind, is_allele);
    if (!has_allele) variant.artefact = candidates[first].artefact;
    for (size_t i = first; i < behind; ++i) {
        if (has_allele && !is_allele(candidates[i])) continue;
        longest = std::max<int64_t>(longest, is_indel ? candidates[i].ref_length : 0);
        variant.joined_until = std::max(variant.joined_until, candidates[i].joined_until);
    }
    variant.chrom = chrom_;
    variant.pos = position;
    variant.ref = reference_.fetch(chrom_, position, position + 1 + longest);
    variant.record_index = found_++;
    for (size_t i = first; i < behind; ++i) {
        if (has_allele && !is_allele(candidates[i])) continue;
        std::string alt = letters_of(candidates[i].alt);
        if (is_indel) {
            const size_t kept = std::min<size_t>(1 + candidates[i].ref_length, variant.ref.size());
            alt = variant.ref.substr(0, 1) + alt + variant.ref.substr(kept);
        }
        variant.alts.push_back(std::move(alt));
    }
    return variant;
}

}  // namespace pairhmm
