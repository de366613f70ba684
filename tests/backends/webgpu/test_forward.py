"""The webgpu backend against the oracle: the cases of the CUDA tests, with shuffles and with workgroup memory."""

import numpy as np

from tests.conftest import load_helper

CUDA_ALONE = {
    "test_gap_qualities",
    "test_long_pairs_of_rare_gaps",
    "test_a_call_that_does_not_fit_is_sent_once",
    "test_full_device",
    "test_long_pairs_in_parts",
}
"""Cases of tests/backends/cuda/test_forward.py that are about float64, or about a device that is emulated."""


def _cases():
    module = load_helper("backends/cuda/test_forward", "cuda_forward")
    shared = {name: case for name, case in vars(module).items() if name.startswith("test_") and name not in CUDA_ALONE}
    return {**shared, "backend_of_halves": module.backend_of_halves, "halves": module.halves}


globals().update(_cases())


def test_partially_determined_haplotypes(backend, any_pairs):
    rng = np.random.default_rng(1)
    pairs = [any_pairs.random_pair(rng, 600) for _ in range(20)]
    any_pairs.check(backend, any_pairs.with_flags(pairs), pairs)
