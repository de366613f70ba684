// Python bindings of warp/: signals in, costs and places out.
#include "warp/warp.hpp"

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/levels.hpp"

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
            interruptible([&] {
                pairhmm::warp_pairs(LEVEL_NAMED(warp, level), pairs, {anywhere, band}, threads,
                                    {costs.data(), starts.data(), ends.data()}, signal_raised);
            });
        },
        "The cheapest warping of each pair, into `costs`, `starts` and `ends`. A band of -1 is none.");
}
