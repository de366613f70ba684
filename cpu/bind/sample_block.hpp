// A block of records for a scan as a tuple of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <utility>

#include "bind/arrays.hpp"
#include "formats/sample_block.hpp"

namespace pairhmm {

using SampleTuple = TupleOf<Owned<uint8_t>, std::optional<Owned<uint8_t>>, Owned<int64_t>, nanobind::bytes,
                            Owned<int64_t>, int64_t, int64_t, int64_t, bool>;

inline SampleTuple to_python(SampleBlock&& block) {
    nanobind::object qualities = nanobind::none();
    if (block.has_qualities) qualities = nanobind::cast(to_array(std::move(block.qualities)));
    return nanobind::make_tuple(to_array(std::move(block.letters)), qualities, to_array(std::move(block.offset)),
                                nanobind::bytes(block.names.data(), block.names.size()),
                                to_array(std::move(block.name_end)), block.first_record, block.first_position,
                                block.carried, block.unfinished);
}

}  // namespace pairhmm
