"""The scan's CUDA sources compile for every architecture, without a warning or a spill."""

from __future__ import annotations

from pairhmm.backends.cuda import sources as cuda_sources
from pairhmm.scan import cuda


def test_compiles(nvrtc, architecture):
    sources = [cuda.source(9), cuda.source(10)]
    results = nvrtc.compile_all([nvrtc.Job(architecture, text, tuple(cuda_sources.OPTIONS)) for text in sources])
    for result in results:
        assert result.compiles and not result.warnings, result.log
        assert not [usage for usage in result.kernels.values() if usage.stack or usage.spills]
    assert set(results[0].kernels) == {f"scan_{name}" for name in cuda.KERNELS}
