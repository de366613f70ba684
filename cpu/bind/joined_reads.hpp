// Joined reads as Python has them.
#pragma once

#include "bind/arrays.hpp"
#include "calling/joining.hpp"

// The fields of `JoinedReads` in pairhmm/calling/mates.py, in their order.
using JoinedTuple =
    TupleOf<Owned<int64_t>, Owned<int64_t>, Owned<int64_t>, Owned<int64_t>, Owned<int64_t>, Owned<uint8_t>,
            Owned<int64_t>, Owned<int64_t>, TupleOf<int64_t, int64_t, int64_t, int64_t>>;

inline JoinedTuple to_python(pairhmm::JoinedReads&& joined) {
    return nb::make_tuple(
        to_array(std::move(joined.member_offset)), to_array(std::move(joined.member)),
        to_array(std::move(joined.column_offset)), to_array(std::move(joined.source_offset)),
        to_array(std::move(joined.source)), to_array(std::move(joined.ends)), to_array(std::move(joined.fragment)),
        to_array(std::move(joined.copies)),
        nb::make_tuple(joined.differing_copies, joined.distant_copies, joined.differing_mates, joined.distant_mates));
}
