// The scored regions of a batch, as Python holds them.
#pragma once

#include "bind/python.hpp"
#include "calling/scored_region.hpp"

// They are freed without the interpreter's lock, which takes as long as to make them.
struct ScoredRegions {
    std::vector<pairhmm::ScoredRegion> regions;

    explicit ScoredRegions(std::vector<pairhmm::ScoredRegion>&& given) : regions(std::move(given)) {}
    ScoredRegions(ScoredRegions&&) = default;
    ~ScoredRegions() {
        if (regions.empty()) return;
        nb::gil_scoped_release release;
        regions.clear();
    }
};
