"""The brute-force scan on a WebGPU device, with which `pairhmm bench scan` compares our scanner."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.commands import grid, make_pipeline, record
from pairhmm.backends.webgpu.declarations import Field, Record, constants
from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.setup import Adapter, translated
from pairhmm.backends.webgpu.templates import assemble
from pairhmm.scanning.batch import Patterns, Samples
from pairhmm.scanning.webgpu_kernels import PARAMS, SUM_TILE, SUMMED
from pairhmm.scanning.webgpu_kernels import source as source_of_scan

__all__ = ["WebgpuBrute", "source"]

SUBMITTED = 1 << 32
"""Approximate number of letters times patterns of a submission."""

BRUTE = Record(
    "Brute",
    Field("patterns", "u32", ""),
    Field("first_segment", "u32", "of this dispatch"),
    Field("summed", "u32", "whether `within` and `before` are there"),
)
"""The uniform block of a dispatch of the brute force."""

KINDS = {"uniform": "UNIFORM|COPY_DST", "storage": "STORAGE|COPY_DST|COPY_SRC"}


def source() -> str:
    """WGSL of scan_ablation.wgsl."""
    declarations = {BRUTE.name: BRUTE.declaration} | constants({"SUMMED": SUMMED, "SUM_TILE": SUM_TILE})
    return assemble("published/scan_ablation.wgsl", read, declarations, {})


class WebgpuBrute:
    """Compares every pattern at every position.

    Parameters
    ----------
    adapter : Adapter
    patterns : Patterns
    """

    def __init__(self, adapter: Adapter, patterns: Patterns) -> None:
        self._label, self._count = f"webgpu ({adapter.name})", len(patterns)
        self._device = webgpu_setup.request_device(adapter)
        texts = {"brute_force": source()} | {entry: source_of_scan(entry, 9) for entry in ("sum", "carry")}
        self._pipelines = {entry: make_pipeline(self._device, text, entry) for entry, text in texts.items()}
        self._patterns = [self._put(values) for values in (patterns.letters, patterns.offset.astype(np.uint32))]

    def best(self, samples: Samples, *, flattened: bool, summed: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """As `pairhmm.bench.published.scan_cuda.CudaBrute.best`."""
        segments = len(samples)
        cuts = [0, segments] if flattened else range(segments + 1)
        found = np.empty((segments, self._count, 2), dtype=np.uint32)
        with translated(self._label):
            runs = [self._run(samples, first, end, summed) for first, end in pairwise(cuts)]
            for best, first, end in zip(runs, cuts[:-1], cuts[1:], strict=True):
                words = self._device.queue.read_buffer(best, 0, 8 * (end - first) * self._count)
                found[first:end] = np.frombuffer(words, dtype=np.uint32).reshape(end - first, self._count, 2)
                best.destroy()
        start = found[..., 1].astype(np.int64) - 1
        return np.where(start >= 0, found[..., 0].astype(np.int64), -1), start

    def _run(self, samples: Samples, first: int, end: int, summed: bool) -> Any:
        """Submit the search of some segments. Returns the buffer of their results."""
        part = samples.take(first, end)
        assert part.qualities is not None
        blocks = len(part.letters) // SUM_TILE + 1
        letters = self._put(part.letters)
        qualities = self._put(part.qualities, SUM_TILE * blocks)
        sums = [self._put(np.empty(0, np.uint8), size * blocks if summed else 16) for size in (1024, 8, 4)]
        best = self._put(np.empty(0, np.uint8), 8 * (end - first) * self._count)
        if summed:
            params = np.zeros(1, dtype=PARAMS.dtype)
            params["sum_tiles"] = blocks
            given = self._put(params, kind="uniform")
            within, before, tile_sums = sums
            self._submit("sum", {0: given, 1: qualities, 2: within, 3: tile_sums}, grid(blocks))
            self._submit("carry", {0: given, 3: tile_sums, 4: before}, (1, 1))
        arrays = [letters, qualities, self._put(part.offset.astype(np.uint32)), *self._patterns, *sums[:2], best]
        at_once = max(1, SUBMITTED // (self._count * max(1, len(part.letters) // (end - first))))
        for segment in range(0, end - first, at_once):
            brute = BRUTE.values({"patterns": self._count, "first_segment": segment, "summed": int(summed)})
            bound = dict(enumerate([self._put(brute, kind="uniform"), *arrays], start=1))
            self._submit("brute_force", bound, (self._count, min(at_once, end - first - segment)))
        return best

    def _submit(self, entry: str, bound: dict[int, Any], workgroups: tuple[int, int]) -> None:
        encoder = self._device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        record(self._device, compute, self._pipelines[entry], bound, workgroups)
        compute.end()
        self._device.queue.submit([encoder.finish()])

    def _put(self, values: NDArray[Any], room: int = 0, kind: str = "storage") -> Any:
        """Copy an array to the device, where it has room for at least `room` bytes."""
        size = -(-max(room, values.nbytes, 16) // 16) * 16
        buffer = self._device.create_buffer(size=size, usage=KINDS[kind])
        if values.nbytes:
            padded = np.zeros(-(-values.nbytes // 4) * 4, dtype=np.uint8)
            padded[: values.nbytes] = values.view(np.uint8)
            self._device.queue.write_buffer(buffer, 0, padded)
        return buffer
