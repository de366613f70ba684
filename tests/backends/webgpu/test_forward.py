"""The webgpu backend against the oracle: the cases of the CUDA tests, with shuffles and with workgroup memory."""

from __future__ import annotations

import importlib.util
from pathlib import Path

SHARED = (
    "test_all_lane_counts",
    "test_quality_bytes_are_rows",
    "test_profiles",
    "test_profiles_with_repeats",
    "test_insertions_that_a_kind_does_not_open",
    "test_profiles_from_probabilities",
    "test_kinds_are_their_rows",
    "test_kinds_that_are_never_inserted_or_emitted",
    "test_kinds_send_two_bytes_a_base",
    "test_smallest",
    "test_only_n",
    "test_base_qualities",
    "test_all_base_qualities_at_once",
    "test_rounding_does_not_add_up",
    "test_noise_needs_scaling",
    "test_a_chimera",
    "test_rows_that_cannot_be_folded",
    "test_any_rows",
    "test_skipped_reads",
    "test_short_haplotype_beside_a_long_one",
    "test_empty",
    "test_scores_do_not_depend_on_company",
    "test_compiled_gap_quality_gives_the_same_bits",
    "test_long_pairs",
    "backend_of_halves",
    "halves",
    "test_halves_of_any_length",
    "test_halves_of_paths_that_cross_the_cut",
    "test_halves_are_as_good_as_the_whole",
    "test_the_last_row_ends_within_a_lane",
    "test_long_insertions_of_any_cost",
    "test_insertions_that_the_rescuing_lanes_do_not_hold",
    "test_long_profiles",
    "test_through_the_engine",
    "test_two_devices",
    "test_budget",
    "test_kernel_seconds",
)
"""Cases of tests/backends/cuda/test_forward.py, and fixtures of theirs."""


def _cases():
    path = Path(__file__).parents[1] / "cuda" / "test_forward.py"
    spec = importlib.util.spec_from_file_location("pairhmm_tests_cuda_forward", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: getattr(module, name) for name in SHARED}


globals().update(_cases())
