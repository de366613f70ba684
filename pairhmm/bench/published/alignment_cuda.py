"""Alignment and time warping with a pair a thread, as the published study has them, on a CUDA device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.cuda import sources
from pairhmm.backends.cuda.setup import starting, translated

__all__ = ["PublishedPairs", "source"]

THREADS = 128
"""Threads of a block."""

WORD_BYTES = 4
"""Bytes of a number of a row."""

SLOW = 1.0
"""Seconds of kernels beside which a first run's preparations do not count."""

MEMORY_SHARE = 2
"""Divisor of the free memory: what rows may take. More pairs are computed in several launches."""


def source() -> str:
    """Text of `cuda/published/alignment.cu`."""
    return sources.source({}, "published/alignment.cu")


class PublishedPairs:
    """The published kernels, on one device.

    Parameters
    ----------
    device : int
    """

    def __init__(self, device: int) -> None:
        with starting(device):
            import cupy

            self._cupy, self._label = cupy, f"cuda:{device}"
            self._device = cupy.cuda.Device(device)
            with self._device:
                self._stream = cupy.cuda.Stream(non_blocking=True)
                self._kernels = {
                    name: sources.compiled(cupy, source(), f"published_{name}") for name in ("alignment", "warping")
                }

    def run(
        self,
        name: str,
        queries: NDArray[np.int16],
        targets: NDArray[np.int16],
        pairs: int,
        repetitions: int,
        mismatch: int = 0,
        gap: int = 0,
    ) -> tuple[list[float], NDArray[np.int32]]:
        """Seconds of the kernels in each repetition, and the cost of each pair.

        A repetition before them is not counted. If it takes more than `SLOW` seconds, it is the only one, and counts.

        Parameters
        ----------
        name : {"alignment", "warping"}
        queries, targets : ndarray, shapes (distinct, rows) and (distinct, columns), int16
            Sequences or signals, which pairs take in turn.
        pairs : int
        repetitions : int
        mismatch, gap : int
            Costs of an alignment.
        """
        (distinct, rows), columns = queries.shape, targets.shape[1]
        with translated(self._label), self._device, self._stream:
            held = [self._put(queries), self._put(targets), self._cupy.cuda.alloc(WORD_BYTES * pairs)]
            room = self._device.mem_info[0] // MEMORY_SHARE // (WORD_BYTES * columns)
            most = max(THREADS, min(pairs, room))
            row = self._cupy.cuda.alloc(WORD_BYTES * most * columns)
            seconds = []
            for _ in range(repetitions + 1):
                begin, end = self._cupy.cuda.Event(), self._cupy.cuda.Event()
                begin.record(self._stream)
                for first in range(0, pairs, most):
                    count = min(most, pairs - first)
                    sizes = (np.int32(n) for n in (rows, columns, count, first, distinct, mismatch, gap))
                    places = held[0].ptr, held[1].ptr, row.ptr, held[2].ptr + WORD_BYTES * first
                    self._kernels[name]((-(-count // THREADS),), (THREADS,), (*places, *sizes))
                end.record(self._stream)
                end.synchronize()
                seconds.append(self._cupy.cuda.get_elapsed_time(begin, end) / 1000)
                if seconds[0] > SLOW:
                    break
            costs = np.empty(pairs, dtype=np.int32)
            held[2].copy_to_host_async(costs.ctypes.data, costs.nbytes, self._stream)
            self._stream.synchronize()
        return seconds[1:] or seconds, costs

    def _put(self, values: NDArray[np.int16]) -> Any:
        values = np.ascontiguousarray(values)
        there = self._cupy.cuda.alloc(values.nbytes)
        there.copy_from_host_async(values.ctypes.data, values.nbytes, self._stream)
        self._stream.synchronize()
        return there
