// Texts of Python's `Names` (pairhmm/sequences/arrays.py): end to end, and where each ends.
#pragma once

#include "bind/arrays.hpp"
#include "bind/checks.hpp"

struct Texts {
    const char* text = nullptr;
    const int64_t* end = nullptr;

    Texts(nb::handle given, int64_t count, const char* name) {
        if (given.is_none()) return;
        const auto bytes = nb::cast<nb::bytes>(given.attr("text"));
        const auto ends = nb::cast<Array<int64_t>>(given.attr("end"));
        checks::has(ends, count, name);
        checks::has_ends(ends, static_cast<int64_t>(bytes.size()), name);
        text = bytes.c_str();
        end = ends.data();
    }
};
