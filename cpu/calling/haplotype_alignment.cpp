#include "calling/haplotype_alignment.hpp"

#include <algorithm>
#include <atomic>

#include "align/level.hpp"

namespace pairhmm {

namespace {

// GATK's NEW_SW_PARAMETERS, which align haplotypes to the reference (pairhmm/align/scoring.py).
constexpr AlignScoring kScoring{200, -150, -260, -11, Ends::kGlobal};
// Where so many letters are missing, some of them are like what stands beside them by chance. There, one gap and an SNV
// or another gap are likelier than two gaps with a few such letters in between.
constexpr int64_t kManyMissing = 50;
constexpr AlignScoring kScoringOfMissing{200, -150, -600, -11, Ends::kGlobal};

// Every level gives the same alignment. These are short, so that any level will do.
const AlignLevel& plain_level() {
#if defined(__x86_64__)
    return *align_level_x86_64_v2();
#elif defined(__aarch64__)
    return *align_level_neon();
#else
    return *align_level_wasm();
#endif
}

}  // namespace

HaplotypeAlignment align_haplotype(Stretch query, Stretch target) {
    const auto take = [](void* context, int, const Alignment& alignment) {
        static_cast<HaplotypeAlignment*>(context)->cigar.assign(alignment.cigar,
                                                                alignment.cigar + alignment.operations);
    };
    HaplotypeAlignment found;
    const AlignmentSink sink{take, &found};
    const SequencePair pair{query.letter, target.letter, static_cast<int32_t>(query.length),
                            static_cast<int32_t>(target.length)};
    bool is_known = false;
    const std::atomic<bool> stop{false};
    const bool lacks_many = target.length - query.length >= kManyMissing;
    plain_level().single32(
        {&pair, 1, lacks_many ? kScoringOfMissing : kScoring, &is_known, &found.score, &sink, &stop});
    return found;
}

int32_t score_of_itself(Stretch sequence) { return kScoring.match * static_cast<int32_t>(sequence.length); }

bool has_intact(const HaplotypeAlignment& alignment, Stretch query, Stretch target, int64_t first, int64_t end) {
    int64_t place = 0, letter = 0;  // in the target, and in the query
    for (const uint32_t packed : alignment.cigar) {
        const int64_t length = packed >> 4;
        const uint32_t operation = packed & 15;
        const int64_t begin = std::max(place, first), behind = std::min(place + length, end);
        if (operation == kInserted) {
            if (first < place && place < end) return false;
            letter += length;
            continue;
        }
        if (operation == kMatched) {
            if (begin < behind &&
                !std::equal(target.letter + begin, target.letter + behind, query.letter + letter + begin - place))
                return false;
            letter += length;
        } else if (begin < behind) {
            return false;
        }
        place += length;
    }
    return true;
}

}  // namespace pairhmm
