// Python bindings of calling/joining.hpp: arrays in, arrays out.
#include "calling/joining.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <limits>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_joining(nb::module_& module) {
    module.def(
        "join_reads",
        [](const pairhmm::Reads& reads, Array<int64_t> read, Array<int64_t> first, Array<int64_t> last,
           Array<int64_t> offset, Array<int64_t> fragment, Array<int64_t> family, Array<uint8_t> end,
           Array<int64_t> order,
           bool join_mates) -> TupleOf<Owned<int64_t>, Owned<int64_t>, Owned<int64_t>, Owned<int64_t>, Owned<int64_t>,
                                       Owned<uint8_t>, TupleOf<int64_t, int64_t, int64_t, int64_t>> {
            const int64_t count = checks::size_of(read);
            checks::lie_below(read, reads.count, "read");
            checks::has(first, count, "first");
            checks::has(last, count, "last");
            checks::has(fragment, count, "fragment");
            checks::has(family, count, "family");
            checks::has(end, count, "end");
            checks::lie_below(end, 8, "end");
            checks::has(order, count, "order");
            checks::lie_below(order, count, "order");
            checks::has_parts(offset, count, std::numeric_limits<int64_t>::max(), "offset");
            for (int64_t i = 0; i < count; ++i) {
                const int64_t one = read.data()[i], bases = reads.base_offset[one + 1] - reads.base_offset[one];
                checks::require(0 <= first.data()[i] && first.data()[i] <= last.data()[i] && last.data()[i] <= bases,
                                "first, last", "a slice beyond its read");
            }
            const pairhmm::CutReads cut{count,         read.data(),     first.data(),  last.data(),
                                        offset.data(), fragment.data(), family.data(), end.data()};
            pairhmm::JoinedReads joined;
            {
                nb::gil_scoped_release release;
                joined = pairhmm::join_reads(reads, cut, order.data(), join_mates);
            }
            return nb::make_tuple(to_array(std::move(joined.member_offset)), to_array(std::move(joined.member)),
                                  to_array(std::move(joined.column_offset)), to_array(std::move(joined.source_offset)),
                                  to_array(std::move(joined.source)), to_array(std::move(joined.ends)),
                                  nb::make_tuple(joined.differing_copies, joined.distant_copies, joined.differing_mates,
                                                 joined.distant_mates));
        },
        "reads"_a, "read"_a, "first"_a, "last"_a, "offset"_a, "fragment"_a, "family"_a, "end"_a, "order"_a,
        "join_mates"_a,
        "Put cut reads together: (member_offset, member, column_offset, source_offset, source, ends, reads that stay "
        "apart).");

    module.def(
        "join_rows",
        [](Array<int64_t> source_offset, Array<int64_t> source, Array<double> probability, Output<double> joined) {
            const int64_t columns = checks::parts_of(source_offset, checks::size_of(source), "source_offset");
            checks::lie_below(source, checks::size_of(probability) / 4, "source");
            checks::has(joined, 4 * columns, "joined");
            nb::gil_scoped_release release;
            pairhmm::join_rows(columns, source_offset.data(), source.data(), probability.data(), joined.data());
        },
        "source_offset"_a, "source"_a, "probability"_a, "joined"_a,
        "The product of the rows (four numbers each) of each column, normalised, written in place.");

    module.def(
        "join_kinds",
        [](Array<int64_t> source_offset, Array<int64_t> source, Array<double> probability, Array<uint16_t> kind,
           Output<uint16_t> joined_kind) {
            const int64_t columns = checks::parts_of(source_offset, checks::size_of(source), "source_offset");
            checks::lie_below(source, checks::size_of(kind), "source");
            checks::lie_below(kind, checks::size_of(probability) / 4, "kind");
            checks::has(joined_kind, columns, "joined_kind");
            std::vector<double> rows;
            {
                nb::gil_scoped_release release;
                rows = pairhmm::join_kinds(columns, source_offset.data(), source.data(),
                                           static_cast<int64_t>(probability.shape(0)) / 4, probability.data(),
                                           kind.data(), joined_kind.data());
            }
            return to_array(std::move(rows));
        },
        "source_offset"_a, "source"_a, "probability"_a, "kind"_a, "joined_kind"_a,
        "The same for distinct rows: the rows given and the joined ones. The row of each column is written in place. No "
        "row at all if there are too many for a kind.");
}
