// Genotyped sites as Python passes them on.
#pragma once

#include <vector>

#include "calling/sites.hpp"

// `native.Sites`. Bindings of a std::vector would take a list.
struct Sites {
    std::vector<pairhmm::Site> items;
};
