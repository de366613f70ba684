// Scored regions, and what they are made of, from Python's objects.
#pragma once

#include <nanobind/nanobind.h>

#include "calling/regions.hpp"

// A `Variant` of pairhmm/variants/variant.py, and a tuple of its fields.
pairhmm::Variant variant_of(nanobind::handle variant);
nanobind::tuple variant_fields(const pairhmm::Variant& variant);

// A `Region` of pairhmm/variants/regions.py.
pairhmm::Region region_of(nanobind::handle region);
