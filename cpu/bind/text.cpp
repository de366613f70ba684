// Python bindings of formats/groups.hpp and formats/table_lines.hpp: arrays in, arrays and bytes out.
#include <stdexcept>

#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "formats/groups.hpp"
#include "formats/table_lines.hpp"

namespace {

using Columns = nb::ndarray<uint8_t, nb::shape<5, -1>, nb::c_contig, nb::device::cpu>;

ListOf<nb::bytes> list_of_bytes(const std::vector<std::string>& parts) {
    nb::list result;
    for (const auto& part : parts) result.append(to_bytes(part));
    return result;
}

}  // namespace

void bind_text(nb::module_& module) {
    module.def(
        "alike_lines",
        [](nb::bytes text, int fields, int place, int64_t before, int64_t at) -> TupleOf<int64_t, int64_t> {
            const auto size = static_cast<int64_t>(text.size());
            if (before < 0 || before > size || at < 0 || at > size)
                throw std::invalid_argument("a place beyond the text");
            const auto found = pairhmm::alike_lines({text.c_str(), size, fields, place}, before, at);
            return nb::make_tuple(found.end, found.lines);
        },
        "text"_a, "fields"_a, "place"_a, "before"_a, "at"_a,
        "Where the lines from `at` on end that are like the one at `before`, and how many they are.");

    using pairhmm::GroupsText;
    nb::class_<GroupsText>(module, "GroupsText", "The whole `.in` groups at the beginning of a text.")
        .def(
            "__init__",
            [](GroupsText* self, Array<uint8_t> text, bool is_end) {
                nb::gil_scoped_release release;
                new (self) GroupsText({text.data(), text.data() + text.shape(0)}, is_end);
            },
            "text"_a, "is_end"_a, nb::keep_alive<1, 2>())
        .def_prop_ro("groups", &GroupsText::groups)
        .def_prop_ro("reads", &GroupsText::reads)
        .def_prop_ro("haplotypes", &GroupsText::haplotypes)
        .def_prop_ro("bases", &GroupsText::bases)
        .def_prop_ro("letters", &GroupsText::letters)
        .def_prop_ro("end", &GroupsText::end)
        .def_prop_ro("lines", &GroupsText::lines)
        .def_prop_ro("is_broken", &GroupsText::is_broken)
        .def(
            "unpack",
            [](const GroupsText& text, Array<uint8_t> codes, int threads, Output<int64_t> group_read,
               Output<int64_t> group_haplotype, Output<int64_t> read_offset, Output<int64_t> haplotype_offset,
               Output<uint8_t> haplotypes, Columns columns) {
                checks::has(codes, 256, "codes");
                checks::has(group_read, text.groups() + 1, "group_read");
                checks::has(group_haplotype, text.groups() + 1, "group_haplotype");
                checks::has(read_offset, text.reads() + 1, "read_offset");
                checks::has(haplotype_offset, text.haplotypes() + 1, "haplotype_offset");
                checks::has(haplotypes, text.letters(), "haplotypes");
                checks::require(static_cast<int64_t>(columns.shape(1)) == text.bases(), "columns", "one a base");
                nb::gil_scoped_release release;
                return text.unpack(codes.data(), threads,
                                   {group_read.data(), group_haplotype.data(), read_offset.data(),
                                    haplotype_offset.data(), haplotypes.data(), columns.data()});
            },
            "codes"_a, "threads"_a, "group_read"_a, "group_haplotype"_a, "read_offset"_a, "haplotype_offset"_a,
            "haplotypes"_a, "columns"_a,
            "Fill a PairBatch's arrays; False where a letter has no code or a quality is outside Phred+33.");

    module.def(
        "score_lines",
        [](int64_t first_group, Array<int64_t> group_read, Array<int64_t> group_haplotype, Array<int64_t> group_pair,
           const pairhmm::Names& read_names, const pairhmm::Names& haplotype_names, Array<double> log10,
           Array<uint8_t> precision, const std::vector<std::string>& precision_names, int64_t first, int64_t end,
           int threads) {
            const checks::Groups groups(group_read, group_haplotype, group_pair);
            checks::require(0 <= first && first <= end && end <= groups.pairs, "first, end", "pairs beyond the last");
            checks::has(log10, groups.pairs, "log10");
            checks::has(precision, groups.pairs, "precision");
            checks::lie_below(precision, static_cast<int64_t>(precision_names.size()), "precision");
            for (const auto& [names, count] :
                 {std::pair(&read_names, groups.reads), std::pair(&haplotype_names, groups.haplotypes)})
                checks::require(!*names || static_cast<int64_t>((*names)->size()) >= count,
                                "read_names, haplotype_names", "one for each, or none");
            const pairhmm::ScoreTable table{
                groups.count, first_group,     group_read.data(), group_haplotype.data(), group_pair.data(),
                read_names,   haplotype_names, log10.data(),      precision.data(),       precision_names};
            return list_of_bytes(unlocked([&] { return pairhmm::score_lines(table, first, end, threads); }));
        },
        "first_group"_a, "group_read"_a, "group_haplotype"_a, "group_pair"_a, "read_names"_a.none(),
        "haplotype_names"_a.none(), "log10"_a, "precision"_a, "precision_names"_a, "first"_a, "end"_a, "threads"_a,
        "Lines of the score table for the pairs [first, end), in parts; things without names are numbered.");

    module.def(
        "distance_lines",
        [](nb::bytes samples, Array<int64_t> sample_end, nb::bytes others, Array<int64_t> other_end,
           Array<int32_t> sample, Array<int32_t> other, Array<uint16_t> equal, nb::bytes heads, Array<int64_t> head_end,
           Array<double> containment, Array<double> ani, int threads) {
            const int64_t pairs = checks::size_of(sample);
            checks::has_ends(sample_end, static_cast<int64_t>(samples.size()), "sample_end");
            checks::has_ends(other_end, static_cast<int64_t>(others.size()), "other_end");
            checks::has_ends(head_end, static_cast<int64_t>(heads.size()), "head_end");
            checks::lie_below(sample, checks::size_of(sample_end), "sample");
            checks::has(other, pairs, "other");
            checks::lie_below(other, checks::size_of(other_end), "other");
            checks::has(equal, pairs, "equal");
            checks::lie_below(equal, checks::size_of(head_end), "equal");
            checks::has(containment, pairs, "containment");
            checks::has(ani, pairs, "ani");
            const pairhmm::DistanceTable table{pairs,
                                               {samples.c_str(), sample_end.data()},
                                               {others.c_str(), other_end.data()},
                                               sample.data(),
                                               other.data(),
                                               equal.data(),
                                               {heads.c_str(), head_end.data()},
                                               containment.data(),
                                               ani.data()};
            return list_of_bytes(unlocked([&] { return pairhmm::distance_lines(table, threads); }));
        },
        "samples"_a, "sample_end"_a, "others"_a, "other_end"_a, "sample"_a, "other"_a, "equal"_a, "heads"_a,
        "head_end"_a, "containment"_a, "ani"_a, "threads"_a, "Lines of the table of distances, in parts.");
}
