// The Python module `pairhmm._cpu`. The files of bind/ hold no arithmetic: arrays go in, arrays come out.
#include "bind/python.hpp"
#include "calling/letters.hpp"
#include "formats/phred.hpp"
#include "forward/batch.hpp"
#include "scan/scanner.hpp"
#include "scan/tiles.hpp"
#include "threads/std_threads.hpp"

void bind_align(nb::module_& module);
void bind_aligned_reads(nb::module_& module);
void bind_alignments(nb::module_& module);
void bind_bam_stream(nb::module_& module);
void bind_candidates(nb::module_& module);
void bind_compare(nb::module_& module);
void bind_copier(nb::module_& module);
void bind_device_scores(nb::module_& module);
void bind_forward(nb::module_& module);
void bind_genotypes(nb::module_& module);
void bind_records(nb::module_& module);
void bind_pair_tasks(nb::module_& module);
void bind_place(nb::module_& module);
void bind_posterior(nb::module_& module);
void bind_preparation(nb::module_& module);
void bind_region_sources(nb::module_& module);
void bind_region_stream(nb::module_& module);
void bind_samples(nb::module_& module);
void bind_scan(nb::module_& module);
void bind_scored_region(nb::module_& module);
void bind_sketch(nb::module_& module);
void bind_str_counts(nb::module_& module);
void bind_text(nb::module_& module);
void bind_packing(nb::module_& module);
void bind_tree_streams(nb::module_& module);
void bind_warp(nb::module_& module);

NB_MODULE(_cpu, module) {
    module.doc() = "The compiled part of pairhmm.";
    // An interrupted program may end while one of its threads waits for a pipe and still holds its objects.
    nb::set_leak_warnings(false);

    // Constants that Python defines as well, since it also works without this module. tests/cpu/test_constants.py
    // compares them.
    module.attr("ANY") = pairhmm::kAny;
    module.attr("CODE_OF_N") = pairhmm::kCodeOfN;
    module.attr("LEAST_SUM") = pairhmm::kLowestSum;
    module.attr("PHRED_OFFSET") = pairhmm::kPhredOffset;
    module.attr("ROW_SIZE") = pairhmm::kRowSize;
    module.attr("HIT_WORDS") = sizeof(pairhmm::Hit) / sizeof(int64_t);
    module.attr("RUN_WORDS") = sizeof(pairhmm::TileRun) / sizeof(int64_t);

    module.def("threads_refused", &pairhmm::threads_refused,
               "Threads that could not be started in this process so far.");

    bind_align(module);
    bind_alignments(module);
    bind_bam_stream(module);
    bind_candidates(module);
    bind_aligned_reads(module);
    bind_compare(module);
    bind_copier(module);
    bind_device_scores(module);
    bind_forward(module);
    bind_scored_region(module);
    bind_genotypes(module);
    bind_records(module);
    bind_pair_tasks(module);
    bind_place(module);
    bind_posterior(module);
    bind_preparation(module);
    bind_region_sources(module);
    bind_region_stream(module);
    bind_samples(module);
    bind_scan(module);
    bind_sketch(module);
    bind_str_counts(module);
    bind_text(module);
    bind_packing(module);
    bind_tree_streams(module);
    bind_warp(module);
}
