#include "wasm/run_options.hpp"

#include <cmath>
#include <map>
#include <variant>

namespace pairhmm {

namespace {

using Values = std::vector<double>;

template <class Number>
void assign(Number& to, const Values& values) {
    to = static_cast<Number>(values[0]);
}

void assign(bool& to, const Values& values) { to = values[0] != 0; }

// Below 0: none.
void assign(int& to, const Values& values) { to = std::isnan(values[0]) ? -1 : static_cast<int>(values[0]); }

void assign(std::optional<double>& to, const Values& values) {
    to = std::isnan(values[0]) ? std::nullopt : std::optional<double>(values[0]);
}

template <class Number>
void assign(std::vector<Number>& to, const Values& values) {
    to.assign(values.begin(), values.end());
}

using Field = std::variant<int*, int64_t*, uint8_t*, double*, bool*, std::optional<double>*, std::vector<int>*,
                           std::vector<uint8_t>*, std::vector<double>*>;

}  // namespace

bool RunOptions::set(const std::string& name, const Values& values) {
    QualityOptions& qualities = model.options;
    const std::map<std::string, Field> fields{
        {"minBaseQuality", &thresholds.min_base_quality},
        {"minSnvCount", &thresholds.min_snv_count},
        {"minIndelCount", &thresholds.min_indel_count},
        {"minSnvFraction", &thresholds.min_snv_fraction},
        {"minIndelFraction", &thresholds.min_indel_fraction},
        {"assembly", &assembles},
        {"joinDistance", &joining.join_distance},
        {"maxSpan", &joining.max_span},
        {"maxAlleles", &joining.max_alleles},
        {"flank", &joining.flank},
        {"minFlank", &joining.min_flank},
        {"pad", &joining.pad},
        {"window", &joining.window},
        {"maxHaplotypes", &stream.max_haplotypes},
        {"maxDepth", &stream.max_depth},
        {"maxCells", &stream.max_cells},
        {"errorRate", &stream.error_rate},
        {"capByMappingQuality", &qualities.cap_by_mapping_quality},
        {"baseQualityThreshold", &qualities.threshold},
        {"lowestUsableBaseQuality", &qualities.lowest},
        {"insertionQuality", &qualities.insertion},
        {"deletionQuality", &qualities.deletion},
        {"gapQuality", &qualities.gap},
        {"mostRepeats", &qualities.most_copies},
        {"longestRepeatUnit", &qualities.longest_unit},
        {"mostByCopies", &qualities.most_by_copies},
        {"insertionByKind", &qualities.insertion_by_kind},
        {"deletionByKind", &qualities.deletion_by_kind},
        {"gapByKind", &qualities.gap_by_kind},
        {"calls", &model.profile.calls},
        {"match", &model.profile.match},
        {"insertion", &model.profile.insertion},
        {"transitions", &model.profile.transitions},
        {"scoreFloor", &score_floor},
        {"ploidy", &ploidy},
        {"snvPrior", &snv_prior},
        {"indelPrior", &indel_prior},
        {"contamination", &contamination},
        {"mixture", &stream.of_mixture},
        {"mnv", &joins_snvs},
        {"gvcf", &records.gvcf},
        {"gqBands", &gq_bands},
        {"minQual", &records.min_quality},
        {"insertionWithoutPcr", &gaps_without_pcr.insertion},
        {"deletionWithoutPcr", &gaps_without_pcr.deletion},
        {"gapWithoutPcr", &gaps_without_pcr.gap},
        {"leastCopies", &least_copies},
        {"slipSpread", &slip_spread},
        {"seesSlips", &sees_slips},
        {"isListed", &is_listed},
        {"isLimited", &is_limited},
    };
    const auto field = fields.find(name);
    if (field == fields.end()) return false;
    std::visit([&](auto* to) { assign(*to, values); }, field->second);
    return true;
}

SlipRates RunOptions::slips() const {
    const QualityOptions& own = model.options;
    if (own.gap_by_kind.empty())
        return slip_rates(gaps_without_pcr, GapQualities{own.insertion, own.deletion, own.gap, own.most_by_copies},
                          least_copies, slip_spread);
    return slip_rates({own.insertion_by_kind, own.deletion_by_kind, own.gap_by_kind}, std::nullopt, least_copies,
                      slip_spread);
}

}  // namespace pairhmm
