// A block of records for a scan as a tuple of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>

#include "bind/arrays.hpp"
#include "formats/sample_block.hpp"

namespace pairhmm {

inline nanobind::tuple to_python(SampleBlock&& block) {
    nanobind::object qualities = nanobind::none();
    if (block.has_qualities) qualities = nanobind::cast(to_array(std::move(block.qualities)));
    return nanobind::make_tuple(to_array(std::move(block.letters)), qualities, to_array(std::move(block.offset)),
                                nanobind::bytes(block.names.data(), block.names.size()),
                                to_array(std::move(block.name_end)), block.first_record, block.first_position,
                                block.carried, block.unfinished);
}

}  // namespace pairhmm
