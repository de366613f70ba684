#include "calling/haplotype_errors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "calling/allele_evidence.hpp"
#include "calling/letters.hpp"

namespace pairhmm {

namespace {

constexpr uint16_t kReverseFlag = 16;
// A haplotype that fits by less (log10) adds nothing: errors are rarer.
constexpr double kLeastAhead = 1;
// An error is no more frequent. Where few sites have a context, an allele of all reads may have been learned as one.
constexpr double kMostErrors = 0.03;

// An error that makes reads of one haplotype fit another.
struct LetterError {
    size_t of, fits;  // haplotypes
    int64_t position;
    int letter;
    std::array<int, kStrands> contexts;
};

// The letter of an allele at an SNV.
uint8_t letter_of(const Variant& variant, int16_t allele) {
    return code_of(allele == 0 ? variant.ref[0] : variant.alts[static_cast<size_t>(allele) - 1][0]);
}

// The contexts of a letter at a position of the reference.
std::array<int, kStrands> contexts_of(const ScoredRegion& region, int64_t position, uint8_t letter) {
    uint8_t near[2 * kContextReach + 1];
    const std::string& reference = region.haplotypes.front().sequence;
    for (int64_t i = -kContextReach; i <= kContextReach; ++i) {
        const int64_t at = position + i - region.region.haplotype_start;
        const bool is_known = at >= 0 && at < static_cast<int64_t>(reference.size());
        near[i + kContextReach] = is_known ? code_of(reference[static_cast<size_t>(at)]) : uint8_t{0};
    }
    near[kContextReach] = letter;
    return contexts_at(near + kContextReach);
}

std::vector<LetterError> letter_errors(const ScoredRegion& region) {
    std::map<std::vector<int16_t>, size_t> number;
    for (size_t h = 0; h < region.haplotypes.size(); ++h) number.emplace(region.haplotypes[h].alleles, h);
    std::vector<LetterError> errors;
    for (const auto& [alleles, h] : number)
        for (size_t site = 0; site < alleles.size(); ++site) {
            const Variant& variant = region.region.variants[site];
            if (!is_snv(variant) || alleles[site] < 0) continue;
            const auto contexts = contexts_of(region, variant.pos, letter_of(variant, alleles[site]));
            std::vector<int16_t> others = alleles;
            for (others[site] = 0; others[site] <= static_cast<int16_t>(variant.alts.size()); ++others[site]) {
                const auto other = number.find(others);
                if (other == number.end() || other->second == h) continue;
                errors.push_back({h, other->second, variant.pos, letter_of(variant, others[site]), contexts});
            }
        }
    return errors;
}

int kind_of_read(const ScoredRegion& region, int64_t read) {
    const int64_t members = region.members.empty() ? 1 : region.members[read];
    return static_cast<int>(std::min<int64_t>(members, kKinds)) - 1;
}

bool is_reverse(const ScoredRegion& region, int64_t read) { return (region.flag[read] & kReverseFlag) != 0; }

bool is_over(const ScoredRegion& region, int64_t read, int64_t position) {
    return region.start[read] <= position && position < region.end[read];
}

int bin_of(const ScoredRegion& region, int64_t read, int64_t position) {
    const int64_t start = region.start[read], end = region.end[read];
    return cycle_bin(is_reverse(region, read) ? end - 1 - position : position - start, end - start);
}

// Whether errors explain reads of one haplotype that fit the other, of all reads that fit none of the others better.
// The other one was found by qualities, so that each base counts as one of the best quality.
bool are_errors(const ScoredRegion& region, const ErrorRates& rates, int32_t sample,
                const std::vector<MixedHaplotype>& present, const LetterError& error) {
    std::array<uint32_t, kCells> depth{}, seen{};
    for (int64_t read = 0; read < region.reads(); ++read) {
        if (region.sample[read] != sample || region.set_aside[read] || !is_over(region, read, error.position)) continue;
        const double* own = region.log10.data() + read * static_cast<int64_t>(region.haplotypes.size());
        const double ahead = own[error.fits] - own[error.of], best = std::max(own[error.fits], own[error.of]);
        const bool is_of_another = std::any_of(present.begin(), present.end(), [&](const MixedHaplotype& one) {
            return one.number != error.of && one.number != error.fits && own[one.number] > best - kLeastAhead;
        });
        if (is_of_another || std::abs(ahead) < kLeastAhead) continue;
        const auto cell = static_cast<size_t>(cell_of(is_reverse(region, read), bin_of(region, read, error.position),
                                                      kCopiesClass - 1 + kind_of_read(region, read)));
        ++depth[cell];
        seen[cell] += ahead > 0;
    }
    const ExpectedErrors expected = expected_errors(depth, error.contexts, error.letter, rates);
    return artefact_of(depth, seen, expected, rates.spread) != Artefact::kNone;
}

}  // namespace

void leave_out_errors(const ScoredRegion& region, const ErrorRates& rates, int32_t sample,
                      std::vector<MixedHaplotype>& present) {
    const std::vector<LetterError> errors = letter_errors(region);
    std::vector<MixedHaplotype> kept;
    for (const MixedHaplotype& one : present) {
        const bool is_error = std::any_of(errors.begin(), errors.end(), [&](const LetterError& error) {
            return error.fits == one.number &&
                   std::any_of(kept.begin(), kept.end(),
                               [&](const MixedHaplotype& other) { return other.number == error.of; }) &&
                   are_errors(region, rates, sample, present, error);
        });
        if (!is_error) kept.push_back(one);
    }
    present = std::move(kept);
}

std::vector<double> scores_with_errors(const ScoredRegion& region, const ErrorRates& rates) {
    std::vector<double> scores = region.log10;
    const std::vector<LetterError> errors = letter_errors(region);
    std::vector<double> more(region.haplotypes.size());
    for (int64_t read = 0; read < region.reads(); ++read) {
        const int kind = kind_of_read(region, read), strand = is_reverse(region, read);
        const double* own = region.log10.data() + read * static_cast<int64_t>(more.size());
        std::fill(more.begin(), more.end(), 0.0);
        for (const LetterError& error : errors) {
            const double ahead = own[error.fits] - own[error.of];
            if (!is_over(region, read, error.position) || !(ahead > kLeastAhead)) continue;
            const int bin = bin_of(region, read, error.position);
            const double rate =
                std::min(kMostErrors, rates.beyond(strand, error.contexts[strand], error.letter, bin, kind));
            more[error.of] += rate * std::pow(10.0, std::min(ahead, 300.0));
        }
        for (size_t h = 0; h < more.size(); ++h)
            if (more[h] > 0) scores[static_cast<size_t>(read) * more.size() + h] += std::log10(1 + more[h]);
    }
    return scores;
}

}  // namespace pairhmm
