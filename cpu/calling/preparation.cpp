#include "calling/preparation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "calling/joining.hpp"
#include "calling/letters.hpp"
#include "calling/phred.hpp"
#include "calling/repeats.hpp"
#include "forward/batch.hpp"

namespace pairhmm {

namespace {

// A store of a byte may change anything that the compiler cannot see: loops over bytes have their pointers and ends in
// variables of their own, and then become vectors.

constexpr int kTransitions = 7;
// Steps in which repeats are told apart that are longer than an STR model knows (calling/repeats.hpp).
constexpr int kLongSteps = 11;
constexpr size_t kMostKinds = size_t{std::numeric_limits<uint16_t>::max()} + 1;

// A letter is as likely as the likeliest one from this share of its probability on. Products of rows are rounded.
constexpr double kAsLikely = 1 - 1e-9;

// Own indel qualities, which are at least `lowest`, and `fallback` where a read has none.
void take_own(const uint8_t* own, int64_t bases, uint8_t lowest, uint8_t fallback, uint8_t* quality) {
    for (int64_t i = 0; i < bases; ++i) quality[i] = own[i] == kNoIndelQuality ? fallback : std::max(own[i], lowest);
}

// The quality of the repeat at each base, at most the read's own: kNoIndelQuality is above all of them.
void take_by_kind(const std::vector<uint8_t>& by_kind, const std::vector<uint8_t>& kind, const uint8_t* own,
                  uint8_t lowest, std::vector<uint8_t>& quality) {
    const auto quality_of = [table = by_kind.data()](uint8_t one) { return table[one]; };
    quality.resize(kind.size());
    std::transform(kind.begin(), kind.end(), quality.begin(), quality_of);
    if (own == nullptr) return;
    std::transform(quality.begin(), quality.end(), own, quality.begin(),
                   [=](uint8_t most, uint8_t one) { return std::min(most, std::max(one, lowest)); });
}

// The qualities of a table, and of repeats with more copies in steps: each `rise` higher than the one before, but no
// higher than where nothing repeats.
std::vector<uint8_t> with_steps(const std::vector<uint8_t>& by_kind, int most_copies, int steps, int rise) {
    std::vector<uint8_t> longer;
    for (auto row = by_kind.begin(); row != by_kind.end(); row += most_copies) {
        longer.insert(longer.end(), row, row + most_copies);
        const int last = row[most_copies - 1], highest = std::max<int>(last, *row);
        for (int step = 1; step <= steps; ++step)
            longer.push_back(static_cast<uint8_t>(std::min(last + step * rise, highest)));
    }
    return longer;
}

void prepare_indel_qualities(const QualityOptions& options, const CutBases& cut, PreparedReads& prepared) {
    const int64_t bases = cut.bases();
    const uint8_t* own_insertion = cut.indel_quality;
    const uint8_t* own_deletion = own_insertion == nullptr ? nullptr : own_insertion + bases;
    prepared.gap_quality.assign(bases, options.gap);
    if (!options.insertion_by_kind.empty()) {
        // The more places a gap has in a repeat, the rarer it is at each of them in an STR model.
        const int steps = options.gap_by_kind.empty() ? 0 : kLongSteps;
        std::vector<uint8_t> kind(bases);
        classify_repeats(cut.reads, cut.offset, prepared.base.data(), options.most_copies, steps, options.longest_unit,
                         kind.data());
        const auto take = [&](const std::vector<uint8_t>& by_kind, int rise, const uint8_t* own, uint8_t lowest,
                              std::vector<uint8_t>& quality) {
            take_by_kind(with_steps(by_kind, options.most_copies, steps, rise), kind, own, lowest, quality);
        };
        take(options.insertion_by_kind, 1, own_insertion, options.lowest, prepared.insertion_quality);
        take(options.deletion_by_kind, 1, own_deletion, options.lowest, prepared.deletion_quality);
        if (!options.gap_by_kind.empty()) take(options.gap_by_kind, 0, nullptr, 0, prepared.gap_quality);
        return;
    }
    prepared.insertion_quality.assign(bases, options.insertion);
    prepared.deletion_quality.assign(bases, options.deletion);
    if (own_insertion != nullptr) {
        take_own(own_insertion, bases, options.lowest, options.insertion, prepared.insertion_quality.data());
        take_own(own_deletion, bases, options.lowest, options.deletion, prepared.deletion_quality.data());
    }
    if (!options.most_by_copies.empty())
        cap_indel_qualities(cut.reads, cut.offset, prepared.base.data(), options.most_by_copies.data(),
                            options.most_copies, options.longest_unit, prepared.insertion_quality.data(),
                            prepared.deletion_quality.data());
}

int64_t count_tagged(const CutBases& cut) {
    int64_t tagged = 0;
    for (int64_t read = 0; read < cut.reads; ++read) {
        const uint8_t* first = cut.indel_quality + cut.offset[read];
        tagged += first[0] != kNoIndelQuality || first[cut.bases()] != kNoIndelQuality;
    }
    return tagged;
}

void prepare_qualities(const QualityOptions& options, const CutBases& cut, PreparedReads& prepared) {
    // Every ambiguous letter is N.
    prepared.base.resize(cut.bases());
    std::transform(cut.base, cut.base + cut.bases(), prepared.base.begin(),
                   [](uint8_t letter) { return std::min(letter, kCodeOfN); });
    prepare_indel_qualities(options, cut, prepared);
    if (cut.indel_quality != nullptr) prepared.tagged = count_tagged(cut);
}

// The code of a row's likeliest letter. Where two are as likely, it is N.
uint8_t likeliest_letter(const double* row) {
    const double* best = std::max_element(row, row + 4);
    const double least = kAsLikely * *best;
    const auto likeliest = std::count_if(row, row + 4, [=](double probability) { return probability >= least; });
    return likeliest > 1 ? kCodeOfN : static_cast<uint8_t>(best - row);
}

// The rows of the columns of joined reads.
void join_profiles(const ProfileColumns& joined, ProfileRows& rows) {
    const int64_t columns = joined.columns();
    std::vector<uint16_t> kinds(columns);
    std::vector<double> distinct =
        join_kinds(columns, joined.source_offset, joined.source, static_cast<int64_t>(rows.probabilities.size()) / 4,
                   rows.probabilities.data(), rows.kinds.data(), kinds.data());
    if (distinct.empty()) {
        distinct.resize(4 * columns);
        join_rows(columns, joined.source_offset, joined.source, rows.probabilities.data(), rows.kinds.data(),
                  distinct.data());
        kinds.clear();
        rows.are_distinct = false;
    }
    rows.probabilities = std::move(distinct);
    rows.kinds = std::move(kinds);
}

void append_row(const double* values, int size, std::vector<double>& rows) {
    rows.insert(rows.end(), values, values + size);
}

// Each pair of a row and a number of copies once, in their order. Whether a kind has a number for each.
bool pair_rows_with_copies(const std::vector<uint8_t>& copies, const double* by_copies, int most_copies,
                           ProfileRows& rows) {
    const auto pair_at = [&](size_t i) { return rows.kinds[i] * static_cast<size_t>(most_copies) + copies[i]; };
    std::vector<uint8_t> is_used(rows.probabilities.size() / 4 * most_copies);
    for (size_t i = 0; i < copies.size(); ++i) is_used[pair_at(i)] = 1;
    if (static_cast<size_t>(std::count(is_used.begin(), is_used.end(), 1)) > kMostKinds) return false;
    ProfileRows paired;
    paired.are_distinct = true;
    std::vector<uint16_t> number(is_used.size());
    for (size_t pair = 0; pair < is_used.size(); ++pair) {
        if (!is_used[pair]) continue;
        number[pair] = static_cast<uint16_t>(paired.probabilities.size() / 4);
        append_row(&rows.probabilities[pair / most_copies * 4], 4, paired.probabilities);
        append_row(by_copies + pair % most_copies * kTransitions, kTransitions, paired.transitions);
    }
    for (size_t i = 0; i < copies.size(); ++i) paired.kinds.push_back(number[pair_at(i)]);
    rows = std::move(paired);
    return true;
}

void prepare_profiles(const ReadModel& model, const CutBases& cut, const ProfileColumns* columns,
                      PreparedReads& prepared) {
    const ProfileParameters& profile = model.profile;
    ProfileRows& rows = prepared.profiles;
    rows.probabilities = profile.calls;
    rows.are_distinct = true;
    rows.kinds.resize(cut.bases());
    std::transform(cut.base, cut.base + cut.bases(), prepared.base_quality.begin(), rows.kinds.begin(),
                   [](uint8_t letter, uint8_t quality) { return static_cast<uint16_t>(letter * kPhreds + quality); });
    if (columns != nullptr) {
        join_profiles(*columns, rows);
        prepared.read_offset.assign(columns->offset, columns->offset + columns->profiles + 1);
    }
    if (profile.transitions.size() == kTransitions) {
        rows.transitions = profile.transitions;
    } else {
        add_repeats(static_cast<int64_t>(prepared.read_offset.size()) - 1, prepared.read_offset.data(),
                    profile.transitions.data(), model.options.most_copies, model.options.longest_unit, rows);
    }
}

// Standard deviations below the mean of its score that a read may have by its qualities.
constexpr double kDeviations = 3;

// The mean and the variance of a base's score.
struct BaseScore {
    double mean, variance;
};

// Those of each quality, of reads with a mapping quality.
std::vector<BaseScore> expected_by_quality(const QualityOptions& options, uint8_t mapq) {
    std::vector<uint8_t> own(256), prepared(256);
    std::iota(own.begin(), own.end(), uint8_t{0});
    const int64_t offset[] = {0, 256};
    prepare_base_qualities(options, {1, offset, nullptr, own.data(), &mapq, nullptr}, prepared.data());
    std::vector<BaseScore> expected;
    for (size_t i = 0; i < own.size(); ++i) {
        const double error = scores_of(own[i]).error;
        const double right = scores_of(prepared[i]).right, wrong = scores_of(prepared[i]).wrong;
        expected.push_back({right + error * (wrong - right), error * (1 - error) * (wrong - right) * (wrong - right)});
    }
    return expected;
}

}  // namespace

void prepare_base_qualities(const QualityOptions& options, const CutBases& cut, uint8_t* prepared) {
    const uint8_t threshold = static_cast<uint8_t>(std::max(0, options.threshold)), lowest = options.lowest;
    for (int64_t read = 0; read < cut.reads; ++read) {
        const uint8_t most = options.cap_by_mapping_quality ? cut.mapq[read] : uint8_t{255};
        const int64_t first = cut.offset[read], end = cut.offset[read + 1];
        std::transform(cut.quality + first, cut.quality + end, prepared + first, [=](uint8_t quality) {
            const uint8_t capped = std::min(quality, most);
            return capped < threshold ? lowest : capped;
        });
    }
}

std::vector<double> least_scores(const QualityOptions& options, int64_t reads, const int64_t* offset,
                                 const uint8_t* quality, const uint8_t* mapq) {
    std::array<std::vector<BaseScore>, 256> of_mapq;  // by quality
    std::vector<double> least;
    for (int64_t read = 0; read < reads; ++read) {
        std::vector<BaseScore>& of_quality = of_mapq[mapq[read]];
        if (of_quality.empty()) of_quality = expected_by_quality(options, mapq[read]);
        BaseScore sum{};
        for (int64_t base = offset[read]; base < offset[read + 1]; ++base) {
            sum.mean += of_quality[quality[base]].mean;
            sum.variance += of_quality[quality[base]].variance;
        }
        least.push_back(sum.mean - kDeviations * std::sqrt(sum.variance));
    }
    return least;
}

PreparedReads prepare_reads(const ReadModel& model, const CutBases& cut, const ProfileColumns* columns) {
    PreparedReads prepared;
    prepared.bases = cut.bases();
    prepared.read_offset.assign(cut.offset, cut.offset + cut.reads + 1);
    prepared.base_quality.resize(cut.bases());
    prepare_base_qualities(model.options, cut, prepared.base_quality.data());
    if (model.options.threshold >= 0)
        prepared.lowered = std::count(prepared.base_quality.begin(), prepared.base_quality.end(), model.options.lowest);
    if (model.is_profile()) {
        prepare_profiles(model, cut, columns, prepared);
    } else {
        prepare_qualities(model.options, cut, prepared);
    }
    return prepared;
}

void add_repeats(int64_t reads, const int64_t* offset, const double* by_copies, int most_copies, int longest_unit,
                 ProfileRows& rows) {
    std::vector<uint8_t> letters(rows.probabilities.size() / 4);
    for (size_t row = 0; row < letters.size(); ++row) letters[row] = likeliest_letter(&rows.probabilities[4 * row]);
    const size_t bases = static_cast<size_t>(offset[reads]);
    std::vector<uint8_t> letter(bases), copies(bases);  // `copies`: less one
    for (size_t i = 0; i < bases; ++i) letter[i] = letters[rows.are_distinct ? rows.kinds[i] : i];
    classify_repeats(reads, offset, letter.data(), most_copies, 0, longest_unit, copies.data());
    for (uint8_t& kind : copies) kind = static_cast<uint8_t>(kind % most_copies);
    if (rows.are_distinct && pair_rows_with_copies(copies, by_copies, most_copies, rows)) return;
    rows.transitions.clear();
    for (const uint8_t at : copies) append_row(by_copies + at * kTransitions, kTransitions, rows.transitions);
    if (!rows.are_distinct) return;
    std::vector<double> at_bases;
    at_bases.reserve(4 * bases);
    for (const uint16_t kind : rows.kinds) append_row(&rows.probabilities[4 * size_t{kind}], 4, at_bases);
    rows.probabilities = std::move(at_bases);
    rows.are_distinct = false;
    rows.kinds.clear();
}

std::vector<double> row_parameters(const ProfileParameters& model, const ProfileRows& rows) {
    const size_t count = rows.probabilities.size() / 4;
    const size_t step = rows.transitions.size() == kTransitions ? 0 : kTransitions;
    std::vector<double> parameters(count * kRowSize);
    for (size_t row = 0; row < count; ++row) {
        const double* probability = &rows.probabilities[4 * row];
        double* to = &parameters[row * kRowSize];
        double inserted = 0;
        for (int letter = 0; letter < 4; ++letter) {
            for (int beside = 0; beside < 5; ++beside)
                to[kEmission + beside] += model.match[5 * letter + beside] * probability[letter];
            inserted += model.insertion[letter] * probability[letter];
        }
        std::copy_n(&rows.transitions[row * step], kTransitions, to + kMM);
        to[kMI] *= inserted;
        to[kII] *= inserted;
    }
    return parameters;
}

}  // namespace pairhmm
