// Python bindings of calling/str_counts.hpp and calling/str_rates.hpp.
#include "calling/str_counts.hpp"

#include "bind/checks.hpp"
#include "bind/reference.hpp"
#include "calling/str_rates.hpp"

namespace {

using pairhmm::StrCounter;
using pairhmm::StrRates;
using pairhmm::StrSites;

using SiteFields = std::tuple<int, int, int, int, int>;
using Table = std::vector<double>;

std::vector<std::pair<SiteFields, int64_t>> fields_of(const StrSites& sites) {
    std::vector<std::pair<SiteFields, int64_t>> fields;
    for (const auto& [one, count] : sites)
        fields.push_back({{one.unit, one.copies, one.depth, one.fewer, one.more}, count});
    return fields;
}

StrSites sites_of(const std::vector<std::pair<SiteFields, int64_t>>& fields, int units, int most_copies) {
    StrSites sites;
    for (const auto& [site, count] : fields) {
        const auto& [unit, copies, depth, fewer, more] = site;
        if (unit < 1 || unit > units || copies < 1 || copies > most_copies)
            throw std::invalid_argument("unit or copies out of range");
        sites[{unit, copies, depth, fewer, more}] += count;
    }
    return sites;
}

}  // namespace

void bind_str_counts(nb::module_& module) {
    nb::class_<StrCounter>(module, "StrCounter", "Counts the reads over tandem repeats that gained or lost units.")
        .def(nb::init<std::vector<int>, int>(), "least_copies"_a, "most_copies"_a)
        .def(
            "add",
            [](StrCounter& counter, const std::string& chrom, const pairhmm::AlignedReads& reads,
               PythonReference& reference) {
                nb::gil_scoped_release release;
                counter.add(chrom, reads, reference);
            },
            "chrom"_a, "reads"_a, "reference"_a, "Takes reads of one contig, in order of start.")
        .def(
            "sites", [](const StrCounter& counter) { return fields_of(counter.sites()); },
            "Unit, copies, depth, reads with fewer units and with more; and how many repeats show this.");
    module.def(
        "estimate_str_rates",
        [](const std::vector<std::pair<SiteFields, int64_t>>& sites, const std::vector<int>& least_copies,
           int most_copies) {
            const StrSites given = sites_of(sites, static_cast<int>(least_copies.size()), most_copies);
            StrRates found = unlocked([&] { return pairhmm::estimate_rates(given, least_copies, most_copies); });
            return std::tuple(std::move(found.gain), std::move(found.loss), std::move(found.repeats),
                              std::move(found.reads), std::move(found.changes));
        },
        "sites"_a, "least_copies"_a, "most_copies"_a,
        "Rates at which reads gain and lose units; repeats, reads and changes behind them: [units * copies] each.");
    module.def(
        "seen_slips",
        [](const pairhmm::SlipRates& rates, const std::vector<std::pair<SiteFields, int64_t>>& sites) {
            const int units = static_cast<int>(rates.gain.size()) / rates.most_copies;
            return pairhmm::seen_slips(rates, sites_of(sites, units, rates.most_copies));
        },
        "rates"_a, "sites"_a, "The rates at which the reads of repeats slip, where these are expected.");
    module.def(
        "stutter_excess",
        [](const std::vector<std::pair<SiteFields, int64_t>>& sites, const Table& gain, const Table& loss,
           int most_copies) {
            const int units = static_cast<int>(gain.size()) / most_copies;
            return pairhmm::stutter_excess(sites_of(sites, units, most_copies), {most_copies, gain, loss, {}, {}, {}});
        },
        "sites"_a, "gain"_a, "loss"_a, "most_copies"_a,
        "How many times as often reads over runs of one base have changed as at these rates.");
}
