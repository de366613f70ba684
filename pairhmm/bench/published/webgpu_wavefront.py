"""The published WebGPU design and its optimisations, one added at a time, on a WebGPU device."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairhmm.backends.webgpu import setup as webgpu_setup
from pairhmm.backends.webgpu.commands import wait
from pairhmm.backends.webgpu.declarations import Field, Record, constants, places
from pairhmm.backends.webgpu.kernels import read
from pairhmm.backends.webgpu.setup import Adapter
from pairhmm.backends.webgpu.templates import assemble
from pairhmm.models.batch import PairBatch

__all__ = ["LADDER", "LogPair", "Run", "Rung", "Wavefront", "log_pair", "source"]

WIDTH = 256
"""Invocations of a workgroup."""

LOG_ZERO = -1e30
"""Stands for the logarithm of zero. WGSL has no literal for infinity, and its compilers may assume there is none."""

LETTERS = 5
"""Letters of a haplotype: A C G T N."""

TABLES = {"EMISSIONS": 4 * LETTERS, "INSERTION": 4, "TRANSITIONS": 7}
"""Number of float32 entries of eps_M [read letter][haplotype letter], eps_I [read letter], and mm im dm mi ii md dd."""

TABLE_ENTRIES = sum(TABLES.values())

STRIDE = 256
"""Bytes between the uniform blocks of diagonals. Every device accepts dynamic offsets with this alignment."""

DIAGONAL = Record(
    "Diagonal",
    Field("index", "u32", "of the cells (i, j) with i + j = index"),
    Field("rows", "u32", "of the pair"),
    Field("columns", "u32", ""),
    Field("start_match", "f32", "logarithm of M[0,0],"),
    Field("start_deletion", "f32", "of D[0,0],"),
    Field("deletion", "f32", "and of D[0,j]"),
)
"""The uniform block of a diagonal."""

KINDS = ("read-only-storage", "read-only-storage", "uniform", "read-only-storage", "storage", "storage")
"""Buffer types of the bindings of shaders/published/wavefront.wgsl."""


@dataclass(frozen=True, slots=True)
class Rung:
    """How diagonals are given to the device.

    Attributes
    ----------
    name : str
    waits : bool
        The host submits each diagonal alone and waits for it; otherwise all diagonals are one command buffer.
    offsets : bool
        All diagonals share a bind group with a dynamic uniform offset; otherwise each has its own.
    cached : bool
        Workgroups keep the tables of emissions and transitions in their own memory.
    """

    name: str
    waits: bool
    offsets: bool
    cached: bool

    def round_trips(self, diagonals: int) -> int:
        """How often the host waits for the device."""
        return diagonals if self.waits else 1

    def bind_groups(self, diagonals: int) -> int:
        return 1 if self.offsets else diagonals

    @property
    def storage_reads(self) -> float:
        """32-bit words that a cell inside the matrix reads from storage buffers.

        A cell reads a letter, four probabilities and seven states. From the tables it reads four emissions, four
        insertions and seven transitions; with `cached`, only its share of what its workgroup reads.
        """
        return 12 + (TABLE_ENTRIES / WIDTH if self.cached else 15)


LADDER = (
    Rung("baseline", waits=True, offsets=False, cached=False),
    Rung("+ single command buffer", waits=False, offsets=False, cached=False),
    Rung("+ dynamic offsets", waits=False, offsets=True, cached=False),
    Rung("+ workgroup cache", waits=False, offsets=True, cached=True),
)
"""The published optimisations, each added to those before it."""


@dataclass(frozen=True, slots=True)
class LogPair:
    """A pair as wavefront.wgsl takes it.

    Attributes
    ----------
    probabilities : float32[m, 4]
    letters : uint32[n]
        Codes 0..4.
    tables : float32[TABLE_ENTRIES]
        eps_M, eps_I, and natural logarithms of the transitions mm im dm mi ii md dd.
    starts : (float, float, float)
        Natural logarithms of M[0,0], D[0,0] and D[0,j].
    """

    probabilities: NDArray[np.float32]
    letters: NDArray[np.uint32]
    tables: NDArray[np.float32]
    starts: tuple[float, float, float]


class Run(NamedTuple):
    """A score (log10), and seconds from host arrays to it."""

    score: float
    seconds: float


def source(cached: bool) -> str:
    """WGSL of wavefront.wgsl, with the tables in workgroup memory or without."""
    at = places(TABLES)
    numbers = {
        "W": WIDTH,
        "LOG_ZERO": LOG_ZERO,
        "LETTERS": LETTERS,
        "INSERTION": at["INSERTION"],
        "TRANSITIONS": at["TRANSITIONS"],
        "ENTRIES": TABLE_ENTRIES,
    }
    declarations = {DIAGONAL.name: DIAGONAL.declaration} | constants(numbers)
    return assemble("published/wavefront.wgsl", read, declarations, {"CACHED": int(cached)})


def log_pair(batch: PairBatch) -> LogPair:
    """The one pair of a batch of profiles."""
    profiles = batch.profiles
    assert profiles is not None
    columns = len(batch.haplotypes)
    tables = np.concatenate([profiles.match.reshape(-1), profiles.insertion, _log(profiles.transitions)])
    first, corner, deletion = _log(np.array([batch.start.match, batch.start.deletion / columns, 1 / columns]))
    return LogPair(
        np.ascontiguousarray(profiles.at_bases, dtype=np.float32),
        batch.haplotypes.astype(np.uint32),
        tables.astype(np.float32),
        (float(first), float(corner), float(deletion)),
    )


def _log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logarithms, LOG_ZERO for zeros."""
    logarithms = np.full(values.shape, LOG_ZERO)
    np.log(values, out=logarithms, where=values > 0)
    return logarithms


class Wavefront:
    """Scores pairs on a WebGPU device, with one dispatch for each anti-diagonal.

    Parameters
    ----------
    adapter : Adapter

    Attributes
    ----------
    device : GPUDevice
    """

    def __init__(self, adapter: Adapter) -> None:
        self.device = webgpu_setup.request_device(adapter)
        self._layouts = {offsets: self._layout(offsets) for offsets in (False, True)}
        self._pipelines = {rung: self._pipeline(rung) for rung in LADDER}

    def score(self, pair: LogPair, rung: Rung) -> Run:
        """Score a pair. Making its buffers is not timed. The last row is summed on the host in float64."""
        m, n = len(pair.probabilities), len(pair.letters)
        diagonals = _diagonals(pair)
        sizes = (pair.letters.nbytes, pair.probabilities.nbytes, diagonals.nbytes, pair.tables.nbytes)
        buffers = [
            self.device.create_buffer(size=size, usage="UNIFORM|COPY_DST" if kind == "uniform" else "STORAGE|COPY_DST")
            for size, kind in zip(sizes, KINDS, strict=False)
        ]
        buffers.append(self.device.create_buffer(size=4 * 9 * (m + 1), usage="STORAGE"))
        buffers.append(self.device.create_buffer(size=4 * (n + 1), usage="STORAGE|COPY_SRC"))
        workgroups = [-(-_cells(diagonal, m, n) // WIDTH) for diagonal in range(m + n + 1)]
        begin = time.perf_counter()
        for buffer, values in zip(buffers, (pair.letters, pair.probabilities, diagonals, pair.tables), strict=False):
            self.device.queue.write_buffer(buffer, 0, values)
        if rung.waits:
            for diagonal, count in enumerate(workgroups):
                self._submit(rung, buffers, {diagonal: count})
                wait(self.device, buffers[-1])
        else:
            self._submit(rung, buffers, dict(enumerate(workgroups)))
        last = np.frombuffer(self.device.queue.read_buffer(buffers[-1]), dtype=np.float32)[1:]
        score = _log10_of_sum(last.astype(np.float64))
        seconds = time.perf_counter() - begin
        for buffer in buffers:
            buffer.destroy()
        return Run(score, seconds)

    def _submit(self, rung: Rung, buffers: Sequence[Any], workgroups: dict[int, int]) -> None:
        """Submit dispatches, workgroups by diagonal, as one command buffer."""
        shared = self._bind_group(rung, buffers, 0) if rung.offsets else None
        encoder = self.device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(self._pipelines[rung])
        for diagonal, count in workgroups.items():
            at = diagonal * STRIDE
            if shared is not None:
                compute.set_bind_group(0, shared, [at])
            else:
                compute.set_bind_group(0, self._bind_group(rung, buffers, at))
            compute.dispatch_workgroups(count)
        compute.end()
        self.device.queue.submit([encoder.finish()])

    def _bind_group(self, rung: Rung, buffers: Sequence[Any], uniform_at: int) -> Any:
        entries = []
        for binding, (buffer, kind) in enumerate(zip(buffers, KINDS, strict=True)):
            offset, size = (uniform_at, DIAGONAL.dtype.itemsize) if kind == "uniform" else (0, buffer.size)
            entries.append({"binding": binding, "resource": {"buffer": buffer, "offset": offset, "size": size}})
        return self.device.create_bind_group(layout=self._layouts[rung.offsets], entries=entries)

    def _layout(self, offsets: bool) -> Any:
        entries = [
            {
                "binding": binding,
                "visibility": "COMPUTE",
                "buffer": {"type": kind, "has_dynamic_offset": offsets and kind == "uniform"},
            }
            for binding, kind in enumerate(KINDS)
        ]
        return self.device.create_bind_group_layout(entries=entries)

    def _pipeline(self, rung: Rung) -> Any:
        return self.device.create_compute_pipeline(
            layout=self.device.create_pipeline_layout(bind_group_layouts=[self._layouts[rung.offsets]]),
            compute={
                "module": self.device.create_shader_module(code=source(rung.cached)),
                "entry_point": "wavefront",
            },
        )


def _diagonals(pair: LogPair) -> NDArray[np.uint8]:
    """uint8[m + n + 1, STRIDE]: the uniform block of each diagonal."""
    m, n = len(pair.probabilities), len(pair.letters)
    values = np.empty(m + n + 1, dtype=DIAGONAL.dtype)
    values["index"], values["rows"], values["columns"] = np.arange(m + n + 1), m, n
    values["start_match"], values["start_deletion"], values["deletion"] = pair.starts
    blocks = np.zeros((m + n + 1, STRIDE), dtype=np.uint8)
    blocks[:, : DIAGONAL.dtype.itemsize] = values.view(np.uint8).reshape(m + n + 1, -1)
    return blocks


def _cells(diagonal: int, m: int, n: int) -> int:
    """Cells of an anti-diagonal of (m + 1) x (n + 1)."""
    return min(m, diagonal) - max(0, diagonal - n) + 1


def _log10_of_sum(logarithms: NDArray[np.float64]) -> float:
    """log10 of the sum of numbers, given their natural logarithms."""
    highest = float(logarithms.max())
    if highest <= LOG_ZERO / 2:
        return -math.inf
    return (highest + math.log(np.exp(logarithms - highest).sum())) / math.log(10)
