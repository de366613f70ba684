// Python bindings of warp/: signals in, costs and places out.
#include "warp/warp.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/interrupts.hpp"

namespace nb = nanobind;

namespace {

const pairhmm::WarpLevel& find_warp_level(const std::string& name) {
#if defined(__x86_64__)
    if (name == "avx512") return *pairhmm::warp_level_avx512();
    if (name == "avx2") return *pairhmm::warp_level_avx2();
    if (name == "x86-64-v2") return *pairhmm::warp_level_x86_64_v2();
#elif defined(__aarch64__)
    if (name == "neon") return *pairhmm::warp_level_neon();
#endif
    throw std::invalid_argument("no such SIMD level in this build: " + name);
}

}  // namespace

void bind_warp(nb::module_& module) {
    module.def(
        "warp",
        [](const std::string& level, Array<int16_t> query_levels, Array<int64_t> query_offset,
           Array<int16_t> target_levels, Array<int64_t> target_offset, Array<int32_t> query, Array<int32_t> target,
           bool anywhere, int64_t band, int threads, Output<int64_t> costs, Output<int32_t> starts,
           Output<int32_t> ends) {
            const int64_t count = checks::size_of(query);
            checks::lie_below(query, checks::parts_of(query_offset, checks::size_of(query_levels), "query_offset"),
                              "query");
            checks::lie_below(target, checks::parts_of(target_offset, checks::size_of(target_levels), "target_offset"),
                              "target");
            checks::has(target, count, "target");
            checks::has(costs, count, "costs");
            checks::has(starts, count, "starts");
            checks::has(ends, count, "ends");
            const pairhmm::SignalPairs pairs{{query_levels.data(), query_offset.data()},
                                             {target_levels.data(), target_offset.data()},
                                             count,
                                             query.data(),
                                             target.data()};
            {
                nb::gil_scoped_release release;
                pairhmm::warp_pairs(find_warp_level(level), pairs, {anywhere, band}, threads,
                                    {costs.data(), starts.data(), ends.data()}, signal_raised);
            }
            raise_pending();
        },
        "The cheapest warping of each pair, into `costs`, `starts` and `ends`. A band of -1 is none.");
}
