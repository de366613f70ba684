#include "calling/run_slips.hpp"

#include <algorithm>
#include <cmath>

#include "calling/phred.hpp"
#include "calling/repeats.hpp"

namespace pairhmm {

namespace {

// Alleles of a repeat are so many times as likely with each further copy, from so many copies of a unit of 1, 2, and
// more bases on, up to the highest prior. Each further unit that changes is rarer.
constexpr double kPriorGrowth = 3, kHighestPrior = 0.05, kFurtherPrior = 0.5;
constexpr int kPriorCopies[] = {6, 4, 4};

// Rates of a run are tried at so many standard deviations above the library's, from the first on; the first stands for
// lower rates, too, and the last for higher ones.
constexpr int kFirstStep = -2, kLastStep = 4;
constexpr double kHighestRate = 0.6;  // of both together
// Rates that gap qualities stand for are no higher than this one (HIGHEST_RATE in pairhmm/models/str_parameters.py).
constexpr double kHighestOfGaps = 0.4;
// Runs of lower rates show no slip in several reads of a site, and combinations of steps with lower priors change
// nothing.
constexpr double kLeastRate = 1e-3, kLeastPrior = 1e-5;
// A further unit is gained or lost with this probability.
constexpr double kFurtherUnit = 0.15;

// Letters that one of two alleles of a record has, and where, if nothing else differs between them.
struct Change {
    size_t at = 0;
    std::string letters;
};

Change change_between(const std::string& ref, const std::string& alt) {
    const std::string &shorter = ref.size() < alt.size() ? ref : alt, &longer = ref.size() < alt.size() ? alt : ref;
    const auto same = std::mismatch(shorter.begin(), shorter.end(), longer.begin()).first - shorter.begin();
    const size_t added = longer.size() - shorter.size(), at = static_cast<size_t>(same);
    if (longer.compare(at + added, std::string::npos, shorter, at) != 0) return {};
    return {at, longer.substr(at, added)};
}

int period(const std::string& letters) {
    const int size = static_cast<int>(letters.size());
    for (int unit = 1; unit <= std::min(kLongestUnit, size); ++unit)
        if (size % unit == 0 && std::equal(letters.begin() + unit, letters.end(), letters.begin())) return unit;
    return 0;
}

// Bases of the repeat of a unit around a position.
int64_t repeat_length(const std::string& reference, int64_t at, int unit) {
    int64_t first = at, last = at + unit;
    while (first > 0 && reference[first - 1] == reference[first - 1 + unit]) --first;
    while (last < static_cast<int64_t>(reference.size()) && reference[last] == reference[last - unit]) ++last;
    return last - first;
}

// The probability of a step of a rate.
double prior_of(int step) {
    const auto above = [](double deviations) { return std::erfc(deviations / std::sqrt(2.0)) / 2; };
    return (step == kFirstStep ? 1 : above(step - 0.5)) - (step == kLastStep ? 0 : above(step + 0.5));
}

// By how much a step's rate is higher than the one that likelihoods of reads have.
double rate_beyond(double rate, double known, double spread, int step) {
    return std::max(0.0, rate * std::pow(10.0, spread * step) - known);
}

// The probability that a read of one allele shows another one, beyond what its likelihoods have.
std::vector<double> slip_matrix(const RunAlleles& run, const SlipRates& rates, int gain_step, int loss_step) {
    const size_t alleles = run.change.size();
    std::vector<double> matrix(alleles * alleles, 0.0);
    for (size_t from = 0; from < alleles; ++from) {
        matrix[from * alleles + from] = 1;
        if (!run.is_of_units[from]) continue;
        const size_t place = rates.place(run.unit, run.copies_of(from));
        double gain = rate_beyond(rates.gain[place], rates.known_gain[place], rates.spread[place], gain_step);
        double loss = rate_beyond(rates.loss[place], rates.known_loss[place], rates.spread[place], loss_step);
        const double less = kHighestRate / std::max(gain + loss, kHighestRate);
        gain *= less, loss *= less;
        for (size_t to = 0; to < alleles; ++to) {
            const int change = run.change[to] - run.change[from];
            if (!run.is_of_units[to] || change == 0) continue;
            const double further = std::pow(kFurtherUnit, std::abs(change) - 1) * (1 - kFurtherUnit);
            matrix[from * alleles + to] = (change > 0 ? gain : loss) * further;
        }
        matrix[from * alleles + from] -= gain + loss;
    }
    return matrix;
}

}  // namespace

double ways_of_gap(int unit, int copies, double continued) {
    return gap_places(unit, copies) * std::pow(continued, unit - 1) * (1 - continued);
}

SlipRates slip_rates(const GapTables& tables, const std::optional<GapQualities>& everywhere,
                     const std::vector<int>& least_copies, double spread) {
    const size_t count = tables.gap.size();
    SlipRates rates{static_cast<int>(count) / kLongestUnit, {}, {}, std::vector<double>(count, spread), {}, {}};
    for (auto* of_gaps : {&rates.gain, &rates.loss, &rates.known_gain, &rates.known_loss}) of_gaps->resize(count);
    const auto add = [&](const std::vector<uint8_t>& opening, uint8_t GapQualities::* other, int unit, int copies,
                         double& rate, double& known) {
        const int clamped = std::clamp(copies, 1, rates.most_copies);
        const auto of_gaps = [&](uint8_t open, uint8_t gap) {
            return std::min(kHighestOfGaps, ways_of_gap(unit, clamped, error_of(gap)) * error_of(open));
        };
        rate = known = of_gaps(opening[rates.place(unit, copies)], tables.gap[rates.place(unit, copies)]);
        if (!everywhere) return;
        const std::vector<uint8_t>& most = everywhere->most_by_copies;
        const uint8_t open = (*everywhere).*other;
        known = of_gaps(most.empty() ? open : std::min(open, most[static_cast<size_t>(clamped)]), everywhere->gap);
        rate = std::max(rate, of_gaps(open, everywhere->gap));
    };
    for (int unit = 1; unit <= kLongestUnit; ++unit) {
        for (int copies = least_copies[unit - 1]; copies <= rates.most_copies; ++copies) {
            const size_t at = rates.place(unit, copies);
            add(tables.insertion, &GapQualities::insertion, unit, copies + 1, rates.gain[at], rates.known_gain[at]);
            add(tables.deletion, &GapQualities::deletion, unit, copies - 1, rates.loss[at], rates.known_loss[at]);
        }
    }
    return rates;
}

RunAlleles run_alleles(const Variant& variant, const std::string& reference, int64_t start) {
    RunAlleles run;
    run.change.assign(variant.alts.size() + 1, 0);
    run.is_of_units.assign(variant.alts.size() + 1, false);
    for (size_t i = 0; i < variant.alts.size(); ++i) {
        const std::string& alt = variant.alts[i];
        const Change change = change_between(variant.ref, alt);
        const int unit = period(change.letters);
        const int64_t at = variant.pos - start + static_cast<int64_t>(change.at);
        if (unit == 0 || at < 0 || at + unit > static_cast<int64_t>(reference.size())) continue;
        if (reference.compare(at, unit, change.letters, 0, unit) != 0 || (run.unit != 0 && run.unit != unit)) continue;
        run.unit = unit;
        run.copies = static_cast<int>(repeat_length(reference, at, unit)) / unit;
        run.change[i + 1] = (static_cast<int>(alt.size()) - static_cast<int>(variant.ref.size())) / unit;
        run.is_of_units[0] = run.is_of_units[i + 1] = true;
    }
    return run;
}

std::vector<double> run_priors(const RunAlleles& run, double prior) {
    std::vector<double> priors(run.change.size() - 1, prior);
    if (run.unit == 0) return priors;
    const int steps = std::max(0, run.copies - kPriorCopies[std::min(run.unit, 3) - 1]);
    const double raised = std::min(kHighestPrior, prior * std::pow(kPriorGrowth, steps));
    for (size_t i = 0; i < priors.size(); ++i)
        if (run.is_of_units[i + 1])
            priors[i] = std::max(prior, raised * std::pow(kFurtherPrior, std::abs(run.change[i + 1]) - 1));
    return priors;
}

std::vector<SiteReads::Slips> run_slips(const RunAlleles& run, const SlipRates& rates) {
    if (run.unit == 0 || rates.gain.empty()) return {};
    const size_t place = rates.place(run.unit, run.copies);
    if (rates.gain[place] + rates.loss[place] < kLeastRate) return {};
    std::vector<SiteReads::Slips> slips;
    for (int gain = kFirstStep; gain <= kLastStep; ++gain) {
        for (int loss = kFirstStep; loss <= kLastStep; ++loss) {
            const double prior = prior_of(gain) * prior_of(loss);
            if (prior > kLeastPrior) slips.push_back({std::log10(prior), slip_matrix(run, rates, gain, loss)});
        }
    }
    return slips;
}

}  // namespace pairhmm
