// A block of records for a scan as a tuple of Python.
#pragma once

#include "bind/arrays.hpp"
#include "formats/sample_block.hpp"

namespace pairhmm {

using SampleTuple = TupleOf<Owned<uint8_t>, std::optional<Owned<uint8_t>>, Owned<int64_t>, nb::bytes, Owned<int64_t>,
                            int64_t, int64_t, int64_t, bool>;

inline SampleTuple to_python(SampleBlock&& block) {
    nb::object qualities = nb::none();
    if (block.has_qualities) qualities = nb::cast(to_array(std::move(block.qualities)));
    return nb::make_tuple(to_array(std::move(block.letters)), qualities, to_array(std::move(block.offset)),
                          to_bytes(block.names), to_array(std::move(block.name_end)), block.first_record,
                          block.first_position, block.carried, block.unfinished);
}

}  // namespace pairhmm
