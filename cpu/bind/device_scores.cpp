// Python bindings of packing/device_scores.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "packing/device_scores.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_device_scores(nb::module_& module) {
    module.def(
        "device_scores",
        [](Array<int64_t> group_read, Array<int64_t> group_haplotype, Array<int64_t> group_pair, Array<uint32_t> sums,
           Array<double> kept_log10, Array<uint32_t> kept_added, int coarse_bits, double fine_unit,
           std::tuple<int32_t, uint8_t, uint8_t, uint8_t> codes, pairhmm::Team& team, Output<double> log10,
           Output<uint8_t> precision) {
            const checks::Groups groups(group_read, group_haplotype, group_pair);
            checks::has(sums, 2 * groups.pairs, "sums");
            checks::require(kept_log10.size() == 0 || checks::size_of(kept_log10) >= groups.reads, "kept_log10",
                            "one a read, or none");
            checks::has(kept_added, 2 * groups.reads, "kept_added");
            checks::has(log10, groups.pairs, "log10");
            checks::has(precision, groups.pairs, "precision");
            nb::gil_scoped_release release;
            const auto [started_at, fast, scaled, unscored] = codes;
            return pairhmm::device_scores(
                {groups.count, group_read.data(), group_haplotype.data(), group_pair.data(), sums.data()},
                {kept_log10.size() ? kept_log10.data() : nullptr, kept_added.data(), coarse_bits, fine_unit},
                {started_at, fast, scaled, unscored}, team, log10.data(), precision.data());
        },
        "group_read"_a, "group_haplotype"_a, "group_pair"_a, "sums"_a, "kept_log10"_a, "kept_added"_a, "coarse_bits"_a,
        "fine_unit"_a, "codes"_a, "team"_a, "log10"_a, "precision"_a,
        "log10 and precision of each pair, from a float32 (its bits, 0 for none) and its exponent of 2, and for each read "
        "from what that is relative to: log10 (nothing where it is 0), and coarse and fine units; codes (started_at, fast, "
        "scaled, unscored). "
        "Returns whether no pair is unscored.");
}
