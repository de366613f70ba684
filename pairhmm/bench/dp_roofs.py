"""The roofs of a CUDA device, measured: what no kernel exceeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pairhmm.backends.cuda import sources
from pairhmm.backends.cuda.setup import starting, translated

__all__ = ["Roofs", "measure_roofs", "source"]

THREADS = 512
VECTOR = 16
"""Bytes of a vector."""

DRAM_BYTES, L2_BYTES = 4 << 30, 24 << 20
"""Bytes that are copied in device memory, and read from the L2."""

LEAST_DRAM_BYTES = 64 << 20
SHARED_READS, STEPS = 16, 64
"""Reads, and multiply-adds, of a thread and round: as `cuda/bench/roofs.cu` has them."""

ROUNDS = 2000


@dataclass(frozen=True, slots=True)
class Roofs:
    """Bytes a second of each memory, read and written, and instructions a second, each of one thread."""

    dram: float
    l2: float
    shared: float
    issue: float


def source() -> str:
    """Text of `cuda/bench/roofs.cu`."""
    return sources.source({}, "bench/roofs.cu")


def measure_roofs(device: int, repetitions: int = 3) -> Roofs:
    """Measure the roofs; the best repetition counts.

    Raises
    ------
    BackendUnavailable
        Without CUDA.
    """
    with starting(device):
        import cupy

        gpu = cupy.cuda.Device(device)
    with translated(f"cuda:{device}"), gpu:
        kernels = {
            name: sources.compiled(cupy, source(), f"roof_{name}") for name in ("read", "copy", "shared", "issue")
        }
        stream = cupy.cuda.Stream(non_blocking=True)
        multiprocessors = gpu.attributes["MultiProcessorCount"]
        blocks = 4 * multiprocessors
        size = max(LEAST_DRAM_BYTES, min(DRAM_BYTES, gpu.mem_info[0] // 4)) // VECTOR * VECTOR
        values, copies = cupy.cuda.alloc(size), cupy.cuda.alloc(size)
        results = cupy.cuda.alloc(4 * THREADS * blocks)
        for memory in (values, copies):
            memory.memset_async(1, size, stream)

        def best(name: str, *arguments: object) -> float:
            seconds = []
            for _ in range(repetitions + 1):
                begin, end = cupy.cuda.Event(), cupy.cuda.Event()
                begin.record(stream)
                kernels[name]((blocks,), (THREADS,), arguments)
                end.record(stream)
                end.synchronize()
                seconds.append(cupy.cuda.get_elapsed_time(begin, end) / 1000)
            return float(min(seconds[1:]))

        with stream:
            return _roofs(best, values.ptr, copies.ptr, results.ptr, size, blocks * THREADS)


def _roofs(best: Callable[..., float], values: int, copies: int, results: int, size: int, threads: int) -> Roofs:
    reads = 64
    l2 = best("read", values, results, np.uint32(L2_BYTES // VECTOR), np.int32(reads))
    dram = best("copy", values, copies, np.uint32(size // VECTOR))
    shared = best("shared", results, np.uint32(1), np.int32(ROUNDS))
    issue = best("issue", results, np.float32(0.999), np.int32(ROUNDS))
    return Roofs(
        dram=2 * size / dram,
        l2=reads * L2_BYTES / l2,
        shared=threads * ROUNDS * SHARED_READS * VECTOR / shared,
        issue=threads * ROUNDS * STEPS / issue,
    )
