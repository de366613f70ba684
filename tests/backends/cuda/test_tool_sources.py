"""CUDA sources of the aligner and of the scan compile for every architecture, without a warning.

The aligner's are of some kinds, of all with PAIRHMM_TEST_ALL_SHAPES=1, as every night.
"""

import os

import pytest

from pairhmm.align.cuda_kernels import kernels
from pairhmm.backends.cuda.sources import OPTIONS
from pairhmm.scan import cuda as scan_cuda

KINDS = [
    (form, free, halves, traced)
    for form in ("edit", "linear", "affine")
    for free in (False, True)
    for halves in (True, False)
    for traced in (False, True)
]


def few(found):
    """The lowest, one whose group is a part of a warp, the tallest of one strip, and that of many strips."""
    of_part = [kernel for kernel in found if kernel.lanes < 8]
    return {found[0], of_part[-1], found[-2], found[-1]}


def test_the_aligner_compiles(nvrtc, architecture):
    kinds = KINDS if os.environ.get("PAIRHMM_TEST_ALL_SHAPES") else KINDS[::5]
    chosen = {kernel for kind in kinds for kernel in few(kernels(*kind))}
    texts = {kernel.source(): kernel for kernel in chosen}
    traces = [kernel.trace_source() for kernel in chosen if kernel.traced]
    jobs = [nvrtc.Job(architecture, text, tuple(OPTIONS)) for text in [*texts, *traces]]
    results = nvrtc.compile_all(jobs)
    wrong = [result.log for result in results if not result.compiles or result.warnings]
    assert not wrong, wrong[0]
    for kernel, result in zip(texts.values(), results, strict=False):
        assert set(result.kernels) == {kernel.name}
        usage = result.kernels[kernel.name]
        if architecture == "sm_90" and kernel.halves and not kernel.free and not kernel.traced and not kernel.strips:
            assert not usage.stack and not usage.spills, f"{kernel} takes {usage}"


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_are_in_order(kind):
    """A pair goes to the first that has its rows."""
    heights = [kernel.rows for kernel in kernels(*kind)[:-1]]
    assert heights == sorted(set(heights))


def test_the_scan_compiles(nvrtc, architecture):
    sources = [scan_cuda.source(9), scan_cuda.source(10)]
    results = nvrtc.compile_all([nvrtc.Job(architecture, text, tuple(OPTIONS)) for text in sources])
    for result in results:
        assert result.compiles and not result.warnings, result.log
        assert not [usage for usage in result.kernels.values() if usage.stack or usage.spills]
    assert set(results[0].kernels) == {f"scan_{name}" for name in scan_cuda.KERNELS}
