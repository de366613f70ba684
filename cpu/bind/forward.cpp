// Python bindings of forward/: arrays in, scores out.
#include "bind/arrays.hpp"
#include "bind/checks.hpp"
#include "bind/levels.hpp"
#include "calling/letters.hpp"
#include "forward/dispatch.hpp"
#include "graph/graph.hpp"
#include "pdhmm/pdhmm.hpp"

namespace {

const pairhmm::GraphLevel& graph_level(const std::string& name) { return LEVEL_NAMED(graph, name); }
const pairhmm::PdLevel& pd_level(const std::string& name) { return LEVEL_NAMED(pd, name); }

int64_t reads_of(const pairhmm::Batch& batch) { return batch.group_read[batch.groups]; }
int64_t bases_of(const pairhmm::Batch& batch) { return batch.read_offset[reads_of(batch)]; }

// Letters with flags are 8 more in lower case.
int64_t letters_below(bool have_flags) { return pairhmm::kCodeOfN + 1 + (have_flags ? 8 : 0); }

void check_rows(const pairhmm::Batch& batch) {
    checks::require(batch.base != nullptr || (batch.rows != nullptr && batch.flags == nullptr), "batch",
                    "its reads have neither qualities nor rows, or rows beside flags");
}

pairhmm::PdHaplotypes partially_determined(const Array<uint8_t>& letters, const Array<uint8_t>& flags,
                                           const Array<int64_t>& offset) {
    checks::has(flags, checks::size_of(letters), "flags");
    checks::lie_below(letters, letters_below(true), "letters");
    return {checks::parts_of(offset, checks::size_of(letters), "offset"), offset.data(), letters.data(), flags.data()};
}

}  // namespace

void bind_forward(nb::module_& module) {
    module.def(
        "levels",
        [] {
            std::vector<std::tuple<std::string, bool>> found;
            for (const auto& known : pairhmm::levels()) {
                if (known.level != nullptr) found.emplace_back(known.name, known.runs);
            }
            return found;
        },
        "The levels of this build, slowest first: (name, whether this machine runs it).");

    nb::class_<pairhmm::Batch>(module, "Batch")
        .def(
            "__init__",
            [](pairhmm::Batch* self, Array<int64_t> group_read, Array<int64_t> group_hap, Array<int64_t> group_pair,
               Array<int64_t> read_offset, Array<int64_t> hap_offset, Array<uint8_t> hap,
               std::optional<Array<uint8_t>> flags, double start_match, double start_deletion) {
                const checks::Groups groups(group_read, group_hap, group_pair);
                checks::require(checks::size_of(read_offset) > groups.reads, "read_offset", "one a read, and one more");
                checks::parts_of(read_offset, read_offset.data()[groups.reads], "read_offset");
                checks::has(hap_offset, groups.haplotypes + 1, "hap_offset");
                checks::parts_of(hap_offset, checks::size_of(hap), "hap_offset");
                checks::lie_below(hap, letters_below(flags.has_value()), "hap");
                if (flags) checks::has(*flags, checks::size_of(hap), "flags");
                new (self) pairhmm::Batch{};
                self->groups = groups.count;
                self->group_read = group_read.data();
                self->group_hap = group_hap.data();
                self->group_pair = group_pair.data();
                self->read_offset = read_offset.data();
                self->hap_offset = hap_offset.data();
                self->hap = hap.data();
                self->flags = flags ? flags->data() : nullptr;
                self->start_match = start_match;
                self->start_deletion = start_deletion;
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
            nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>(), nb::keep_alive<1, 8>(), "group_read"_a, "group_hap"_a,
            "group_pair"_a, "read_offset"_a, "hap_offset"_a, "hap"_a, "flags"_a.none(), "start_match"_a,
            "start_deletion"_a)
        .def(
            "set_qualities",
            [](pairhmm::Batch& self, Array<uint8_t> base, Array<uint8_t> base_quality, Array<uint8_t> insertion_quality,
               Array<uint8_t> deletion_quality, Array<uint8_t> gap_quality, Array<double> error) {
                for (const auto* values : {&base, &base_quality, &insertion_quality, &deletion_quality, &gap_quality})
                    checks::has(*values, bases_of(self), "qualities");
                checks::lie_below(base, letters_below(self.flags != nullptr), "base");
                checks::has(error, 256, "error");
                self.base = base.data();
                self.base_quality = base_quality.data();
                self.insertion_quality = insertion_quality.data();
                self.deletion_quality = deletion_quality.data();
                self.gap_quality = gap_quality.data();
                self.gatk.error = error.data();
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
            nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>())
        .def(
            "set_rows",
            [](pairhmm::Batch& self, Array<double> rows) {
                checks::has(rows, bases_of(self) * pairhmm::kRowSize, "rows");
                self.rows = rows.data();
            },
            nb::keep_alive<1, 2>())
        .def(
            "set_profiles",
            [](pairhmm::Batch& self, Array<double> rows, Array<uint16_t> kinds) {
                checks::has(kinds, bases_of(self), "kinds");
                checks::lie_below(kinds, checks::size_of(rows) / pairhmm::kRowSize, "kinds");
                self.rows = rows.data();
                self.kinds = kinds.data();
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());

    module.def(
        "forward",
        [](const std::string& level, const pairhmm::Batch& batch, Array<uint8_t> skip_read, int threads,
           Output<double> scores) {
            check_rows(batch);
            checks::has(skip_read, reads_of(batch), "skip_read");
            checks::has(scores, batch.group_pair[batch.groups], "scores");
            interruptible([&] {
                if (batch.flags != nullptr) {
                    pairhmm::pd_batch(pd_level(level), batch, skip_read.data(), threads, scores.data(), signal_raised);
                    return;
                }
                pairhmm::forward_batch(forward_level(level), batch, skip_read.data(), threads, scores.data(),
                                       signal_raised);
            });
        },
        "float32 scores (log10) into `scores`; NaN where float32 does not hold the sum.");

    module.def(
        "forward_pairs",
        [](const std::string& level, const pairhmm::Batch& batch, Array<int64_t> read, Array<int64_t> hap, int threads,
           Output<double> scores) {
            const int64_t pairs = checks::size_of(read);
            check_rows(batch);
            checks::lie_below(read, reads_of(batch), "read");
            checks::lie_below(hap, batch.group_hap[batch.groups], "hap");
            checks::has(hap, pairs, "hap");
            checks::has(scores, pairs, "scores");
            interruptible([&] {
                if (batch.flags != nullptr) {
                    pairhmm::pd_pairs(pd_level(level), batch, pairs, read.data(), hap.data(), threads, scores.data(),
                                      signal_raised);
                    return;
                }
                pairhmm::forward_pairs(forward_level(level), batch, pairs, read.data(), hap.data(), threads,
                                       scores.data(), signal_raised);
            });
        },
        "float64 scores (log10) of single pairs, of any length and range.");

    module.def(
        "graph_scores",
        [](const std::string& level, const pairhmm::Batch& batch, Array<int64_t> site, Array<int64_t> allele,
           Array<uint8_t> letter, Array<double> weight, Array<double> factor, int threads, Output<double> scores) {
            checks::require(batch.base != nullptr, "batch", "its reads have no qualities");
            const int64_t alleles = checks::parts_of(allele, checks::size_of(letter), "allele");
            const int64_t sites = checks::parts_of(site, alleles, "site"), passes = checks::size_of(factor);
            checks::lie_below(letter, pairhmm::kCodeOfN + 1, "letter");
            checks::has(weight, passes * alleles, "weight");
            checks::has(scores, reads_of(batch), "scores");
            const pairhmm::SiteGraph graph{sites,         alleles,       passes,        site.data(),
                                           allele.data(), letter.data(), weight.data(), factor.data()};
            interruptible([&] {
                pairhmm::graph_scores(graph_level(level), graph, batch, threads, scores.data(), signal_raised);
            });
        },
        "float64 scores (log10) of a batch's reads, summed over all paths of a graph of haplotypes.");

    module.def(
        "pd_device_columns",
        [](pairhmm::ThreadPool& pool, Array<uint8_t> letters, Array<uint8_t> flags, Array<int64_t> offset,
           Output<uint16_t> columns) {
            const pairhmm::PdHaplotypes of = partially_determined(letters, flags, offset);
            checks::has(columns, checks::size_of(letters), "columns");
            nb::gil_scoped_release release;
            pairhmm::pd_device_columns(of, pool, columns.data());
        },
        "pool"_a, "letters"_a, "flags"_a, "offset"_a, "columns"_a,
        "The letters of partially determined haplotypes as WebGPU takes them, into `columns`.");

    module.def(
        "pd_device_places",
        [](pairhmm::ThreadPool& pool, Array<uint8_t> letters, Array<uint8_t> flags, Array<int64_t> offset,
           Array<int64_t> group_haplotype, int64_t run, Output<uint8_t> columns, Output<uint32_t> places) {
            const pairhmm::PdHaplotypes of = partially_determined(letters, flags, offset);
            const int64_t groups = checks::parts_of(group_haplotype, of.haplotypes, "group_haplotype");
            checks::has(columns, checks::size_of(letters), "columns");
            checks::has(places, 2 * of.haplotypes, "places");
            nb::gil_scoped_release release;
            return pairhmm::pd_device_places(of, groups, group_haplotype.data(), run, pool, columns.data(),
                                             reinterpret_cast<pairhmm::PdPlace*>(places.data()));
        },
        "pool"_a, "letters"_a, "flags"_a, "offset"_a, "group_haplotype"_a, "run"_a, "columns"_a, "places"_a,
        "The letters of partially determined haplotypes as CUDA takes them, into `columns`, and each group's haplotypes "
        "with what they share, into `places`. Returns the most states that are kept at once.");

    module.def(
        "computed_cells",
        [](const pairhmm::Batch& batch, int64_t longest) {
            return (batch.flags != nullptr ? pairhmm::pd_computed_cells : pairhmm::computed_cells)(batch, longest);
        },
        "Cells that `forward` computes for reads of up to `longest` bases; longer ones have whole matrices.");
}
