"""The brute-force scan on a CUDA device, with which `pairhmm bench scan` compares our scanner."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cuda import sources
from pairhmm.backends.cuda.setup import translated
from pairhmm.scanning.batch import Patterns, Samples
from pairhmm.scanning.cuda import CONSTANTS, SUM_TILE, THREADS

__all__ = ["CudaBrute", "source"]


def source() -> str:
    """Text of `cuda/published/scan.cu`, preceded by the prefix sums of `cuda/scan/`."""
    return sources.source(CONSTANTS, "scan/letters.cuh", "scan/sums.cu", "published/scan.cu")


class CudaBrute:
    """Compares every pattern at every position.

    Parameters
    ----------
    device : int
    patterns : Patterns
    """

    def __init__(self, device: int, patterns: Patterns) -> None:
        import cupy

        self._cupy, self._label, self._count = cupy, f"cuda:{device}", len(patterns)
        self._device = cupy.cuda.Device(device)
        with self._device:
            kernels = (sources.compiled(cupy, source(), f"scan_{name}") for name in ("brute", "sums", "carry"))
            self._brute, self._sums, self._carry = kernels
            self._stream = cupy.cuda.Stream(non_blocking=True)
            self._patterns = [self._put(values) for values in (patterns.letters, patterns.offset.astype(np.uint32))]

    def best(self, samples: Samples, *, flattened: bool, summed: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """int64[segments, patterns], twice: the best match's sum, -1 without one, and where it starts in the segment.

        Parameters
        ----------
        samples : Samples
            With qualities.
        flattened : bool
            Search all segments as one array with offsets, in one launch. Otherwise each segment has its own arrays and
            launch.
        summed : bool
            Take sums of qualities from prefix sums.
        """
        segments = len(samples)
        cuts = [0, segments] if flattened else range(segments + 1)
        with translated(self._label), self._device, self._stream:
            # `runs` keeps the arrays alive that kernels use until the end.
            runs = [self._run(samples, first, end, summed) for first, end in pairwise(cuts)]
            found = np.empty((segments, self._count), dtype=np.uint64)
            for (best, *_), (first, end) in zip(runs, pairwise(cuts), strict=True):
                best.copy_to_host_async(found[first:].ctypes.data, found[first:end].nbytes, self._stream)
            self._stream.synchronize()
        return (found >> 32).astype(np.int64) - 1, (~found & np.uint64(0xFFFFFFFF)).astype(np.int64)

    def _run(self, samples: Samples, first: int, end: int, summed: bool) -> list[Any]:
        """Start the search of some segments. Returns the results, then all else that must stay alive."""
        part = samples.take(first, end)
        assert part.qualities is not None
        blocks = len(part.letters) // SUM_TILE + 1
        letters = self._put(part.letters)
        qualities = self._put(part.qualities, SUM_TILE * blocks)
        places = self._put(part.offset.astype(np.uint32))
        sums = []
        if summed:
            within, all_sums, before = (self._cupy.cuda.alloc(n * blocks) for n in (4 * THREADS, 4, 8))
            self._sums((blocks,), (THREADS,), (qualities.ptr, within.ptr, all_sums.ptr))
            self._carry((1,), (THREADS,), (all_sums.ptr, np.uint32(blocks), before.ptr))
            sums = [within, before, all_sums]
        best = self._cupy.cuda.alloc(8 * (end - first) * self._count)
        best.memset_async(0, 8 * (end - first) * self._count, self._stream)
        arrays = (array.ptr for array in (letters, qualities, places, *self._patterns))
        at_sums = [array.ptr for array in sums[:2]] or [0, 0]
        arguments = (*arrays, np.uint32(self._count), *at_sums, best.ptr)
        self._brute(((end - first) * self._count,), (THREADS,), arguments)
        return [best, letters, qualities, places, *sums]

    def _put(self, values: NDArray[Any], room: int = 0) -> Any:
        """Copy an array to the device, where it has room for at least `room` bytes."""
        there = self._cupy.cuda.alloc(max(room, values.nbytes, 1))
        there.copy_from_host_async(values.ctypes.data, values.nbytes, self._stream)
        return there
