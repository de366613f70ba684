"""Times map, reduce and scan of 32-bit integers on a WebGPU device, beside a published compiler to WebGPU."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.declarations import Field, Record, constants
from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.setup import Adapter
from pairhmm.backends.webgpu.templates import assemble

__all__ = ["PRIMITIVES", "PUBLISHED_SECONDS", "SIZES", "PrimitiveSpeed", "Primitives", "expected", "measure", "source"]

WIDTH, EACH = 256, 16
"""Invocations of a workgroup, and integers that each takes."""

TILE = WIDTH * EACH

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
"""Integers, as published."""

PUBLISHED_SECONDS = 5.5e-3
"""Of each of the three, whatever its size, on a GTX 1660 Ti."""

COUNT = Record("Count", Field("count", "u32", "integers"))

PRIMITIVES = {
    "map": ("map_tiles",),
    "reduce": ("reduce_tiles",),
    "scan": ("sum_tiles", "scan_sums", "scan_tiles"),
}
"""Entry points of each, in their order. `scan_sums` has one workgroup, the others one for each tile."""

KINDS = ("uniform", "read-only-storage", "storage", "storage", "storage")
"""Buffer types of the bindings of shaders/primitives/primitives.wgsl."""


@dataclass(frozen=True, slots=True)
class PrimitiveSpeed:
    """Seconds of each repetition, from a host array to the host's result."""

    name: str
    size: int
    seconds: list[float]


class _Buffers(NamedTuple):
    bound: list[Any]
    staging: Any


def source() -> str:
    """WGSL of primitives.wgsl."""
    numbers = {"W": WIDTH, "EACH": EACH, "TILE": TILE}
    return assemble("primitives/primitives.wgsl", read, {COUNT.name: COUNT.declaration} | constants(numbers), {})


def expected(name: str, values: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The result on the host: 3 v + 1 of each, the sum, or the sums up to each."""
    if name == "map":
        return np.uint32(3) * values + np.uint32(1)
    sums = np.cumsum(values, dtype=np.uint32)
    return sums if name == "scan" else sums[-1:]


class Primitives:
    """The three on a WebGPU device.

    Parameters
    ----------
    adapter : Adapter
    """

    def __init__(self, adapter: Adapter) -> None:
        self._device = webgpu_setup.request_device(adapter)
        entries = [
            {"binding": binding, "visibility": "COMPUTE", "buffer": {"type": kind}}
            for binding, kind in enumerate(KINDS)
        ]
        self._layout = self._device.create_bind_group_layout(entries=entries)
        layout = self._device.create_pipeline_layout(bind_group_layouts=[self._layout])
        module = self._device.create_shader_module(code=source())
        self._pipelines = {
            entry: self._device.create_compute_pipeline(layout=layout, compute={"module": module, "entry_point": entry})
            for entries_of in PRIMITIVES.values()
            for entry in entries_of
        }

    def seconds(
        self, name: str, values: NDArray[np.uint32], repetitions: int
    ) -> tuple[list[float], NDArray[np.uint32]]:
        """Seconds of each repetition, after one that is not counted, and the result. Making buffers is not timed."""
        size = values.nbytes if name != "reduce" else 4
        buffers = self._buffers(len(values), size)
        group = self._device.create_bind_group(
            layout=self._layout,
            entries=[
                {"binding": binding, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
                for binding, buffer in enumerate(buffers.bound)
            ],
        )
        seconds = []
        for _ in range(repetitions + 1):
            begin = time.perf_counter()
            result = self._run(name, values, group, buffers, size)
            seconds.append(time.perf_counter() - begin)
        for buffer in (*buffers.bound, buffers.staging):
            buffer.destroy()
        return seconds[1:], result

    def _buffers(self, count: int, result: int) -> _Buffers:
        tiles = -(-count // TILE)
        sizes = (16, 4 * count, 4 * count, 4 * tiles, 4)
        usages = ("UNIFORM|COPY_DST", "STORAGE|COPY_DST", "STORAGE|COPY_SRC", "STORAGE", "STORAGE|COPY_SRC|COPY_DST")
        bound = [self._device.create_buffer(size=size, usage=usage) for size, usage in zip(sizes, usages, strict=True)]
        self._device.queue.write_buffer(bound[0], 0, np.array([count, 0, 0, 0], dtype=np.uint32))
        return _Buffers(bound, self._device.create_buffer(size=result, usage="MAP_READ|COPY_DST"))

    def _run(
        self, name: str, values: NDArray[np.uint32], group: Any, buffers: _Buffers, size: int
    ) -> NDArray[np.uint32]:
        self._device.queue.write_buffer(buffers.bound[1], 0, values)
        encoder = self._device.create_command_encoder()
        encoder.clear_buffer(buffers.bound[4], 0, 4)
        compute = encoder.begin_compute_pass()
        compute.set_bind_group(0, group)
        for entry in PRIMITIVES[name]:
            compute.set_pipeline(self._pipelines[entry])
            compute.dispatch_workgroups(1 if entry == "scan_sums" else -(-len(values) // TILE))
        compute.end()
        encoder.copy_buffer_to_buffer(buffers.bound[4 if name == "reduce" else 2], 0, buffers.staging, 0, size)
        self._device.queue.submit([encoder.finish()])
        buffers.staging.map_async("READ_NOSYNC", 0, size).sync_wait()
        result = np.frombuffer(buffers.staging.read_mapped(0, size), dtype=np.uint32).copy()
        buffers.staging.unmap()
        return result


def measure(
    adapter: Adapter, sizes: Sequence[int] = SIZES, repetitions: int = 20, seed: int = 1
) -> Iterator[PrimitiveSpeed]:
    """Time each primitive on random integers, and compare its results with the host's.

    Raises
    ------
    ValueError
        If a result is not the host's.
    """
    device = Primitives(adapter)
    rng = np.random.default_rng(seed)
    for size in sizes:
        values = rng.integers(1 << 32, size=size, dtype=np.uint32)
        for name in PRIMITIVES:
            seconds, result = device.seconds(name, values, repetitions)
            if not np.array_equal(result, expected(name, values)):
                raise ValueError(f"{name} of {size} integers is wrong on {adapter.name}")
            yield PrimitiveSpeed(name, size, seconds)
