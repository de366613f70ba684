// Python bindings of calling/joining.hpp: arrays in, arrays out.
#include "calling/joining.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <string_view>
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
           Array<int64_t> region_read, nb::bytes names, Array<int64_t> name_end, Array<int32_t> sample,
           Array<uint16_t> flag, const std::optional<std::vector<std::string>>& molecules, bool join_mates)
            -> TupleOf<Owned<int64_t>, Owned<int64_t>, Owned<int64_t>, Owned<int64_t>, Owned<int64_t>, Owned<uint8_t>,
                       Owned<int64_t>, Owned<int64_t>, TupleOf<int64_t, int64_t, int64_t, int64_t>> {
            const int64_t count = checks::size_of(read);
            checks::lie_below(read, reads.count, "read");
            checks::has(first, count, "first");
            checks::has(last, count, "last");
            const int64_t regions = checks::parts_of(region_read, count, "region_read");
            checks::require(region_read.data()[regions] == count, "region_read", "not those of all reads");
            checks::has(name_end, count, "name_end");
            checks::has_ends(name_end, static_cast<int64_t>(names.size()), "name_end");
            checks::has(sample, count, "sample");
            checks::has(flag, count, "flag");
            checks::require(!molecules || checks::size_of(read) == static_cast<int64_t>(molecules->size()), "molecules",
                            "one a read");
            for (int64_t i = 0; i < count; ++i) {
                const int64_t one = read.data()[i], bases = reads.base_offset[one + 1] - reads.base_offset[one];
                checks::require(0 <= first.data()[i] && first.data()[i] <= last.data()[i] && last.data()[i] <= bases,
                                "first, last", "a slice beyond its read");
            }
            std::vector<std::string_view> name;
            for (int64_t i = 0, begin = 0; i < count; begin = name_end.data()[i++])
                name.emplace_back(names.c_str() + begin, name_end.data()[i] - begin);
            std::vector<std::string_view> molecule;
            if (molecules) molecule.assign(molecules->begin(), molecules->end());
            const pairhmm::CutReads cut{
                count,         read.data(),        first.data(), last.data(),
                regions,       region_read.data(), name.data(),  molecules ? molecule.data() : nullptr,
                sample.data(), flag.data()};
            pairhmm::JoinedReads joined;
            {
                nb::gil_scoped_release release;
                joined = pairhmm::join_reads(reads, cut, join_mates);
            }
            return nb::make_tuple(to_array(std::move(joined.member_offset)), to_array(std::move(joined.member)),
                                  to_array(std::move(joined.column_offset)), to_array(std::move(joined.source_offset)),
                                  to_array(std::move(joined.source)), to_array(std::move(joined.ends)),
                                  to_array(std::move(joined.fragment)), to_array(std::move(joined.copies)),
                                  nb::make_tuple(joined.differing_copies, joined.distant_copies, joined.differing_mates,
                                                 joined.distant_mates));
        },
        "reads"_a, "read"_a, "first"_a, "last"_a, "region_read"_a, "names"_a, "name_end"_a, "sample"_a, "flag"_a,
        "molecules"_a.none(), "join_mates"_a,
        "Put cut reads together: (member_offset, member, column_offset, source_offset, source, ends, fragment, copies, "
        "reads that stay apart).");
}
